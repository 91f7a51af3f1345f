import ArborModel
@testable import ArborStore
import TestSupport
import Testing

@Suite struct SweptObjectsTests {
  private func deletions(_ entity: UInt16, _ sequences: [UInt64]) -> [ChangeSet.RecordChange] {
    sequences.map { .delete(ObjectNumber(entity: entity, sequence: $0), from: 1) }
  }

  @Test("Swept objects are found by number, and no others")
  func holdsWhatWasInsertedAndNothingElse() {
    var random = SeededRandom()
    var swept = SweptObjects()
    #expect(swept.isEmpty && !swept.contains(0))
    var expected: Set<UInt64> = []
    for entity in [UInt16(3), 4, .max] {
      let sequences = Set((0..<90).map { _ in UInt64.random(in: 100..<900, using: &random) })
      let changes = deletions(entity, sequences.sorted())
      let isIn = swept.insert(deletionsOf: changes[...], count: changes.count)
      #expect(isIn)
      expected.formUnion(changes.map(\.number.rawValue))
    }
    for entity in [UInt16(0), 2, 3, 4, 5, .max] {
      for sequence in UInt64(0)..<1000 {
        let number = ObjectNumber(entity: entity, sequence: sequence).rawValue
        #expect(swept.contains(number) == expected.contains(number), "seed \(random.seed)")
      }
    }
    #expect(!swept.contains(.max))
    swept.removeAll()
    #expect(swept.isEmpty)
  }

  @Test("Numbers that are far apart are rejected, so that memory is proportional to the objects")
  func refusesWhatLiesFarApart() {
    var swept = SweptObjects()
    let changes = deletions(1, [1, 2, ObjectNumber.maximumSequence])
    let isIn = swept.insert(deletionsOf: changes[...], count: 3)
    #expect(!isIn && swept.isEmpty)
    let areIn = swept.insert(deletionsOf: changes[..<2], count: 2)
    #expect(areIn && !swept.isEmpty)
  }
}
