import ArborModel
import Testing

@Suite struct KeyPathBinderTests {
  let world: PredicateWorld

  init() throws { world = try PredicateWorld() }

  private func describe(_ keyPath: String, of entity: EntitySchema) throws -> String {
    let path = try KeyPathBinder.bind(keyPath, to: entity, in: world.schema)
    let leaf =
      switch path.leaf {
      case .attribute(let attribute): attribute.name
      case .toOne(let relationship): "→" + relationship.name
      case .object: "SELF"
      case .entityName: "entity name"
      }
    return (path.hops.map(\.name) + [leaf]).joined(separator: " ")
  }

  @Test(
    "Key paths are bound through relationships",
    arguments: [
      ("name", "name"), ("company", "→company"), ("company.title", "company title"),
      ("boss.company.head", "boss company →head"), ("objectID", "SELF"),
      ("company.objectID", "→company"), ("boss.company.objectID", "boss →company"),
      ("entity.name", "entity name"), ("boss.entity.name", "boss entity name"),
    ])
  func followsNames(_ keyPath: String, _ expected: String) throws {
    #expect(try describe(keyPath, of: world.person) == expected)
    #expect(try describe(keyPath, of: world.worker) == expected)
  }

  @Test(
    "The error describes the name at which a path cannot be followed",
    arguments: [
      ("nmae", "Did you mean \"name\"?"),
      ("company.tile", "Company has no property \"tile\". Did you mean \"title\"?"),
      ("qqqqqqqq", "It has short, medium, long"), ("company.staff", "Company.staff is a to-many"),
      ("name.length", "Person.name is an attribute"), ("objectID.x", "no property \"objectID\""),
      ("entity.nam", "no property \"entity\""), ("~Company.head", "no property"),
    ])
  func saysWhereItEnds(_ keyPath: String, _ words: String) {
    let error = #expect(throws: ArborError.self) {
      try KeyPathBinder.bind(keyPath, to: world.person, in: world.schema)
    }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.keyPath == keyPath)
  }
}
