internal import ArborModel

/// Object numbers, ascending and different, among which all rows of a conjunction are.
struct FoundNumbers {
  let numbers: [UInt64]
  /// How they were found, for the explanation.
  let source: NumberSource
  /// The conjuncts that hold for all of them.
  let served: Set<Int>
  /// Whether all of them are stored for certain.
  let areStored: Bool

  init(_ numbers: [UInt64], _ source: NumberSource, served: Set<Int>, areStored: Bool = true) {
    self.numbers = numbers
    self.source = source
    self.served = served
    self.areStored = areStored
  }

  init(_ numbers: [UInt64], _ way: AccessCandidate) {
    self.init(
      numbers, NumberSource(.way(way), rows: numbers.count), served: Set(way.served),
      areStored: way.namesStoredObjects)
  }
}

/// Where the numbers of a list are from.
struct NumberSource {
  indirect enum Kind {
    case way(AccessCandidate)
    case union([NumberSource])
    case intersection([NumberSource])
    /// Those whose members the related objects are.
    case owners(RelatedRows)
    /// The predicate asks of related objects what none fulfils.
    case unrelated(RelatedRows)
  }

  let kind: Kind
  let rows: Int

  init(_ kind: Kind, rows: Int) {
    self.kind = kind
    self.rows = rows
  }
}

/// The objects of a relationship's destination that fulfil a condition on them.
final class RelatedRows {
  let condition: RelatedCondition
  /// What found them, for the explanation.
  let executor: QueryExecutor
  let plan: AccessPlan
  let numbers: [UInt64]

  init(
    _ condition: RelatedCondition, executor: QueryExecutor, plan: AccessPlan, numbers: [UInt64]
  ) {
    self.condition = condition
    self.executor = executor
    self.plan = plan
    self.numbers = numbers
  }
}

/// Lists of numbers in ascending order.
enum SortedNumbers {
  /// Sorts numbers and leaves each once.
  static func sortUnique(_ numbers: inout [UInt64]) {
    var isSorted = true
    for place in numbers.indices.dropFirst() where numbers[place - 1] >= numbers[place] {
      isSorted = false
      break
    }
    guard !isSorted else { return }
    numbers.sort()
    var end = 1
    for place in numbers.indices.dropFirst() where numbers[place] != numbers[end - 1] {
      numbers[end] = numbers[place]
      end += 1
    }
    numbers.removeLast(numbers.count - end)
  }

  /// The numbers that are in both lists.
  static func intersection(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
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
