import ArborModel
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct ArrangementTests {
  @Test("Behaves like an array, at sizes where chunks are split and removed")
  func doesWhatAnArrayDoes() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let all = (0..<1500).map { _ in context.insert(Skill.self) as ManagedObject }
      var random = SeededRandom()
      for start in [0, 1, 256, 1200] {
        var plain = Array(all[..<start])
        var arrangement = Arrangement(plain)
        for round in 0..<3000 {
          let grows = round % 1500 < 1000
          if Bool.random(using: &random) == grows || plain.isEmpty {
            let object = all[Int.random(in: 0..<all.count, using: &random)]
            let index = Int.random(in: 0...plain.count, using: &random)
            plain.insert(object, at: index)
            arrangement.insert(object, at: index)
          } else {
            let index = Int.random(in: 0..<plain.count, using: &random)
            #expect(arrangement.remove(at: index) === plain.remove(at: index))
          }
          #expect(arrangement.count == plain.count)
          if let index = plain.indices.randomElement(using: &random) {
            #expect(arrangement[index] === plain[index], "seed \(random.seed)")
          }
        }
        #expect(arrangement.objects == plain, "seed \(random.seed)")
      }
    }
  }

  @Test("The length of a prefix is found across chunks")
  func findsTheEndOfAPrefix() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let all = (0..<1000).map { _ in context.insert(Skill.self) as ManagedObject }
      for count in [0, 1, 255, 256, 257, 512, 1000] {
        let arrangement = Arrangement(Array(all[..<count]))
        for border in Set([0, 1, 255, 256, 257, 511, count]) where border <= count {
          let prefix = Set(all[..<border])
          #expect(arrangement.countOfPrefix { prefix.contains($0) } == border)
        }
      }
    }
  }
}
