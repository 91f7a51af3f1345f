import ArborModel
import TestSupport
import Testing

import ArborObjects

private class Part: ManagedObject {
  override class var entityDescription: EntityDescription { described }
  private static let described = EntityDescription(
    name: "Part", className: "Part",
    attributes: [
      AttributeDescription("code", Int64.self, default: 0),
      AttributeDescription("size", Int64.self, default: 0),
    ],
    uniquenessConstraints: [["code"], ["size", "code"]])
  var code: Int64 {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
}

private final class Screw: Part {
  override class var entityDescription: EntityDescription { described }
  private static let described = EntityDescription(
    name: "Screw", className: "Screw", parent: "Part")
}

@Suite struct UniqueValuesTests {
  private func use(_ body: (PersistentStore) throws -> Void) throws {
    let classes: [ManagedObject.Type] = [Part.self, Screw.self]
    try ObjectStore.use(ManagedObjectModel(for: classes), classes: classes, body)
  }

  @Test("Lookups of random values find the same objects as a filter", arguments: 0..<12)
  func theObjectsWithTheValuesAreFound(round: UInt64) throws {
    var random = SeededRandom(seed: 8800 + round)
    try use { store throws in
      let writer = store.makeContext()
      let present = (0..<200).compactMap { number -> Int64? in
        Int.random(in: 0..<3, using: &random) > 0 ? Int64(number * 3 - 150) : nil
      }
      for number in present.shuffled(using: &random) {
        let isScrew = number.isMultiple(of: 2)
        let part = isScrew ? writer.insert(Screw.self) : writer.insert(Part.self)
        part.code = number
      }
      try writer.commit()
      let context = store.makeContext()
      for name in ["Part", "Screw"] {
        let entity = try #require(store.schema.entity(named: name))
        let code = try #require(entity.attributes.first { $0.name == "code" }).slot
        for share in [0, 1, 10, 100] {
          let wanted = (-400..<800).map { Int64($0) }
            .filter { _ in Int.random(in: 0..<100, using: &random) < share }
          let found = try #require(
            try context.session.objects(of: entity, withUnique: wanted, atSlot: code) as? [Part])
          let expected = wanted.filter {
            present.contains($0) && (name == "Part" || $0.isMultiple(of: 2))
          }
          #expect(found.map(\.code) == expected)
          #expect(found.allSatisfy { !$0.isFault })
        }
      }
    }
  }

  @Test("The lookup returns `nil` in cases that require a fetch")
  func otherwiseAFetchFindsThem() throws {
    try use { store throws in
      let context = store.makeContext()
      let session = context.session
      let entity = try #require(store.schema.entity(named: "Part"))
      let code = try #require(entity.attributes.first { $0.name == "code" }).slot
      #expect(try session.objects(of: entity, withUnique: [1, 2], atSlot: code)?.isEmpty == true)
      let size = try #require(entity.attributes.first { $0.name == "size" }).slot
      #expect(try session.objects(of: entity, withUnique: [1], atSlot: size) == nil)
      // Pending objects are not in any index.
      context.insert(Part.self).code = 1
      #expect(try session.objects(of: entity, withUnique: [1], atSlot: code) == nil)
      context.rollback()
      session.watchQueries { _, _ in }
      #expect(try session.objects(of: entity, withUnique: [1], atSlot: code) == nil)
    }
  }
}
