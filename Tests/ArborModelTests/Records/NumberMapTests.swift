import TestLength
import ArborModel
import Testing

/// The number map, compared with a dictionary.
@Suite struct NumberMapTests {
  @Test("The map agrees with a dictionary", arguments: [1, 3, 16, 64, 4096] as [UInt64])
  func isADictionary(span: UInt64) {
    var random = SplitMix(seed: 40 + span)
    let map = NumberMap()
    var model: [ObjectNumber: UInt] = [:]
    for step in 0..<6000 {
      // Consecutive numbers, and numbers that share their low bits like the first objects of
      // several entities.
      let number = ObjectNumber(
        entity: UInt16.random(in: 0...3, using: &random),
        sequence: UInt64.random(in: 1...span, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        #expect(map.set(number, UInt(step)) == model.updateValue(UInt(step), forKey: number))
      case 5..<8: #expect(map.remove(number) == model.removeValue(forKey: number))
      case 8: #expect(map[number] == model[number])
      default: #expect(map.contains(number) == (model[number] != nil))
      }
      #expect(map.count == model.count)
      if step % 1500 == 1499 {
        check(map, model)
        if step == 2999 {
          map.removeAll()
          model.removeAll()
          check(map, model)
        }
        if step == 4499 { map.reserveCapacity(50_000) }
      }
    }
    check(map, model)
  }

  @Test("A large map that was emptied can be filled again")
  func givesMemoryBack() {
    let map = NumberMap()
    var model: [ObjectNumber: UInt] = [:]
    for count in [5000, 1, 1, 70, 1, 0] {
      map.removeAll()
      model.removeAll()
      check(map, model)
      for sequence in 0..<UInt64(count) {
        let number = ObjectNumber(entity: 1, sequence: sequence + 1)
        map.set(number, UInt(sequence))
        model[number] = UInt(sequence)
      }
      check(map, model)
    }
  }

  private func check(_ map: NumberMap, _ model: [ObjectNumber: UInt]) {
    var found: [ObjectNumber: UInt] = [:]
    map.forEach { number, word in
      #expect(found.updateValue(word, forKey: number) == nil)
    }
    #expect(found == model)
    map.forEachAddress { number, word in
      #expect(found.removeValue(forKey: number) == word)
    }
    #expect(found.isEmpty)
    for (number, word) in model { #expect(map[number] == word) }
  }

  @Test("Removing an entry from a cluster keeps the others reachable")
  func removingFromOneRunKeepsTheOthers() {
    // A full table, emptied in every rotation, so that the shifts wrap around its end.
    for first in 0..<12 as Range<UInt64> {
      let map = NumberMap(minimumCapacity: 8)
      let numbers = (1...12 as ClosedRange<UInt64>).map { ObjectNumber(entity: 1, sequence: $0) }
      for number in numbers { map.set(number, UInt(number.sequence)) }
      for step in 0..<12 as Range<UInt64> {
        let gone = numbers[Int((first + step * 5) % 12)]
        #expect(map.remove(gone) == UInt(gone.sequence))
        #expect(map.remove(gone) == nil)
        let rest = numbers.filter { map.contains($0) }
        #expect(rest.count == 11 - Int(step))
        for number in rest { #expect(map[number] == UInt(number.sequence)) }
      }
    }
  }

  @Test("The map grows as needed")
  func growsToAnySize() {
    let map = NumberMap(minimumCapacity: 0)
    for sequence in 1...20_000 as ClosedRange<UInt64> {
      map.set(ObjectNumber(entity: 9, sequence: sequence), UInt(sequence))
    }
    #expect(map.count == 20_000)
    #expect((1...20_000).allSatisfy { map[ObjectNumber(entity: 9, sequence: $0)] == UInt($0) })
    #expect(map[ObjectNumber(entity: 9, sequence: 20_001)] == nil)
  }
}
