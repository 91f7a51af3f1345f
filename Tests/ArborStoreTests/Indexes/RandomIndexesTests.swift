import ArborModel
import ArborStore
import TestSupport
import Testing

/// Indexes of every kind, which must match the objects however objects and indexes change.
@Suite("Random indexes") struct RandomIndexesTests {
  @Test("Indexes match the objects after random changes of objects and indexes", arguments: 0..<12)
  func indexesHoldWhatTheObjectsSay(round: Int) throws {
    let random = SeededRandom()
    var world = IndexWorld(random)
    let folder = try TemporaryFolder()
    let path = folder.path("notes.arbor")
    for _ in 0..<4 {
      let model = try world.model()
      let store = try StoreEngine.open(StoreOpening(.file(path), model: model))
      defer { store.close() }
      #expect(try world.differences(store) == [], "as built, seed \(random.seed)")
      for _ in 0..<12 {
        try world.change(store)
        #expect(try world.differences(store) == [], "seed \(random.seed)")
      }
      let report = try store.check()
      #expect(report.isSound, "\(report), seed \(random.seed)")
    }
  }

  @Test(
    "An index built over existing data is identical to one maintained from the start",
    arguments: 0..<6)
  func aBuiltIndexIsTheOneThatGrew(round: Int) throws {
    let random = SeededRandom()
    var world = IndexWorld(random)
    let final = try world.model()
    let folder = try TemporaryFolder()
    var other = world
    let grown = try StoreEngine.open(StoreOpening(.file(folder.path("a")), model: final))
    for _ in 0..<20 { try other.change(grown) }
    let expected = try indexDump(grown)
    grown.close()

    var plain = final
    for index in plain.entities.indices {
      plain.entities[index].fetchIndexes = []
      for attribute in plain.entities[index].attributes.indices {
        plain.entities[index].attributes[attribute].isIndexed = false
      }
    }
    let path = folder.path("b")
    let early = try StoreEngine.open(StoreOpening(.file(path), model: plain))
    for _ in 0..<20 { try world.change(early) }
    early.close()
    let built = try StoreEngine.open(StoreOpening(.file(path), model: final))
    defer { built.close() }
    #expect(try indexDump(built) == expected, "seed \(random.seed)")
    let report = try built.check()
    #expect(report.isSound, "\(report), seed \(random.seed)")
  }
}
