/// Operations on lists of ascending, distinct numbers.
package enum SortedNumbers {
  /// Sorts numbers and removes duplicates.
  ///
  /// - Complexity: Linear if the numbers are dense, as those of one entity's objects usually are.
  ///   Otherwise that of a comparison sort.
  package static func sortUnique(_ numbers: inout [UInt64]) {
    guard var greatest = numbers.first else { return }
    var (least, last) = (greatest, greatest)
    var isSorted = true
    for number in numbers.dropFirst() {
      isSorted = isSorted && last < number
      last = number
      least = min(least, number)
      greatest = max(greatest, number)
    }
    guard !isSorted else { return }
    let wordCount = (greatest - least) / 64 + 1
    if wordCount <= numbers.count {
      markAndRead(&numbers, from: least, Int(wordCount))
    } else {
      numbers.sort()
      dropRepeated(&numbers)
    }
  }

  /// Sorts with a bitmap: sets a bit for every number, then reads the bits in order.
  private static func markAndRead(_ numbers: inout [UInt64], from least: UInt64, _ wordCount: Int) {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount) { words in
      words.initialize(repeating: 0)
      for number in numbers {
        let bit = number - least
        words[Int(bit / 64)] |= 1 << (bit % 64)
      }
      var end = 0
      for index in words.indices {
        var word = words[index]
        while word != 0 {
          numbers[end] = least + UInt64(index * 64 + word.trailingZeroBitCount)
          end += 1
          word &= word - 1
        }
      }
      numbers.removeLast(numbers.count - end)
    }
  }

  private static func dropRepeated(_ numbers: inout [UInt64]) {
    var end = 1
    for index in numbers.indices.dropFirst() where numbers[index] != numbers[end - 1] {
      numbers[end] = numbers[index]
      end += 1
    }
    numbers.removeLast(numbers.count - end)
  }

  /// Returns the numbers that are in both lists.
  package static func intersection(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
    var result: [UInt64] = []
    var (i, j) = (0, 0)
    while i < left.count, j < right.count {
      if left[i] == right[j] {
        result.append(left[i])
        i += 1
        j += 1
      } else if left[i] < right[j] {
        i += 1
      } else {
        j += 1
      }
    }
    return result
  }
}
