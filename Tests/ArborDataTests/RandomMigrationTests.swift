import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Stores whose models change at random, beside plain objects that change with them.
@Suite struct RandomMigrationTests {
  @Test(arguments: 0..<TestLength.of(3, long: 100))
  func dataGoesFromModelToModel(round: Int) throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    let random = given.map { SeededRandom(seed: $0) } ?? SeededRandom()
    var walk = ModelWalk(random)
    let store = try EvolvingStore(walk.model, PlainObjects())
    for version in 0..<10 {
      try store.change { context, plain in try walk.edit(context, &plain) }
      let change = walk.step()
      do {
        try store.evolve(to: walk.model, dropping: .everythingRemoved, change.apply)
        walk.forgetRenames()
        try store.evolve(to: walk.model)
      } catch {
        Issue.record("seed \(random.seed), version \(version), \(change.words): \(error)")
        throw error
      }
    }
    try store.change { context, plain in try walk.edit(context, &plain) }
  }
}

/// A model that changes at random, in ways that opening follows.
struct ModelWalk {
  /// A change, and what it does to objects.
  struct Change {
    let words: String
    let apply: (inout PlainObjects) -> Void
  }

  private(set) var model: ManagedObjectModel
  private var random: SeededRandom
  private var lastID: Int64 = 0

  init(_ random: SeededRandom) {
    self.random = random
    model = ManagedObjectModel(entities: [Self.entity("E0"), Self.entity("E1")])
  }

  private static func entity(_ name: String) -> EntityDescription {
    EntityDescription(
      name: name,
      attributes: [
        AttributeDescription(name: "id", type: .integer64),
        AttributeDescription(name: "a0", type: .string, isOptional: true),
      ])
  }

  // MARK: Models

  /// Takes the marks of renames away: a new thing of a former name would be taken for the old one.
  mutating func forgetRenames() {
    for entity in model.entities.indices {
      model.entities[entity].renamingIdentifier = nil
      for index in model.entities[entity].attributes.indices {
        model.entities[entity].attributes[index].renamingIdentifier = nil
      }
      for index in model.entities[entity].relationships.indices {
        model.entities[entity].relationships[index].renamingIdentifier = nil
      }
    }
  }

  mutating func step() -> Change {
    while true {
      let entity = model.entities.indices.randomElement(using: &random) ?? 0
      let change: Change? =
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1: addAttribute(entity)
        case 2: removeAttribute(entity)
        case 3: renameAttribute(entity)
        case 4: convertAttribute(entity)
        case 5: turnMandatory(entity)
        case 6: addEntity()
        case 7: removeEntity(entity)
        case 8: renameEntity(entity)
        case 9: addRelationship(entity)
        default: removeRelationship(entity)
        }
      if let change { return change }
    }
  }

  private mutating func freeName(_ prefix: String, _ taken: [String]) -> String? {
    (0..<7).map { "\(prefix)\($0)" }.filter { !taken.contains($0) }.randomElement(using: &random)
  }

  private mutating func freeProperty(_ entity: Int) -> String? {
    let description = model.entities[entity]
    return freeName(
      "a", description.attributes.map(\.name) + description.relationships.map(\.name))
  }

  private mutating func attribute(_ entity: Int) -> Int? {
    model.entities[entity].attributes.indices.dropFirst().randomElement(using: &random)
  }

  private mutating func addAttribute(_ entity: Int) -> Change? {
    guard let name = freeProperty(entity) else { return nil }
    let types: [AttributeType] = [
      .integer16, .integer32, .boolean, .string, .date, .uuid, .float, .decimal, .binary,
    ]
    guard let type = types.randomElement(using: &random) else { return nil }
    let value: Value = Bool.random(using: &random) ? value(type) : .null
    model.entities[entity].attributes.append(
      AttributeDescription(
        name: name, type: type, isOptional: value.isNull || Bool.random(using: &random),
        defaultValue: value, isIndexed: type != .binary && Bool.random(using: &random)))
    let owner = model.entities[entity].name
    return Change(words: "\(owner).\(name) added") { $0.change(owner) { $0[name] = value } }
  }

  private mutating func removeAttribute(_ entity: Int) -> Change? {
    guard let index = attribute(entity) else { return nil }
    let name = model.entities[entity].attributes.remove(at: index).name
    let owner = model.entities[entity].name
    return Change(words: "\(owner).\(name) removed") { $0.change(owner) { $0[name] = nil } }
  }

  private mutating func renameAttribute(_ entity: Int) -> Change? {
    guard let index = attribute(entity), let name = freeProperty(entity) else { return nil }
    let former = model.entities[entity].attributes[index].name
    model.entities[entity].attributes[index].name = name
    model.entities[entity].attributes[index].renamingIdentifier = former
    let owner = model.entities[entity].name
    return Change(words: "\(owner).\(former) renamed to \(name)") {
      $0.change(owner) { $0[name] = $0.removeValue(forKey: former) }
    }
  }

  private mutating func convertAttribute(_ entity: Int) -> Change? {
    guard let index = attribute(entity) else { return nil }
    let attribute = model.entities[entity].attributes[index]
    let type: AttributeType
    let convert: (Value) -> Value
    switch attribute.type {
    case .integer16: (type, convert) = (.integer32, { $0 })
    case .integer32: (type, convert) = (.integer64, { $0 })
    case .integer64:
      (type, convert) = (
        .decimal, { if case .integer(let n) = $0 { .decimal(Decimal(n)) } else { $0 } }
      )
    case .boolean:
      (type, convert) = (
        .integer16, { if case .boolean(let flag) = $0 { flag ? 1 : 0 } else { $0 } }
      )
    case .uuid:
      (type, convert) = (
        .string, { if case .uuid(let uuid) = $0 { .string(uuid.uuidString) } else { $0 } }
      )
    case .date:
      (type, convert) = (
        .double,
        {
          if case .date(let date) = $0 { .double(date.timeIntervalSinceReferenceDate) } else { $0 }
        }
      )
    case .float: (type, convert) = (.double, { $0 })
    default: return nil
    }
    model.entities[entity].attributes[index].type = type
    model.entities[entity].attributes[index].defaultValue = convert(attribute.defaultValue)
    let (owner, name) = (model.entities[entity].name, attribute.name)
    return Change(words: "\(owner).\(name) converted to \(type)") {
      $0.change(owner) { $0[name] = $0[name].map(convert) }
    }
  }

  private mutating func turnMandatory(_ entity: Int) -> Change? {
    guard let index = attribute(entity) else { return nil }
    let attribute = model.entities[entity].attributes[index]
    let (owner, name) = (model.entities[entity].name, attribute.name)
    guard attribute.isOptional else {
      model.entities[entity].attributes[index].isOptional = true
      return Change(words: "\(owner).\(name) optional") { _ in }
    }
    let value = value(attribute.type)
    model.entities[entity].attributes[index].isOptional = false
    model.entities[entity].attributes[index].defaultValue = value
    return Change(words: "\(owner).\(name) mandatory") {
      $0.change(owner) { if $0[name] == .null { $0[name] = value } }
    }
  }

  private mutating func addEntity() -> Change? {
    guard let name = freeName("E", model.entities.map(\.name)) else { return nil }
    model.entities.append(Self.entity(name))
    return Change(words: "\(name) added") { _ in }
  }

  private mutating func removeEntity(_ entity: Int) -> Change? {
    guard model.entities.count > 1 else { return nil }
    let name = model.entities[entity].name
    while let index = model.entities[entity].relationships.indices.first {
      dropRelationship(entity, index)
    }
    for other in model.entities.indices where other != entity {
      model.entities[other].relationships.removeAll { $0.destination == name }
    }
    let before = model
    model.entities.removeAll { $0.name == name }
    return Change(words: "\(name) removed") { plain in
      plain.values[name] = nil
      plain.links[name] = nil
      Self.keepKnownLinks(&plain, before)
    }
  }

  private mutating func renameEntity(_ entity: Int) -> Change? {
    guard let name = freeName("E", model.entities.map(\.name)) else { return nil }
    let former = model.entities[entity].name
    model.entities[entity].name = name
    model.entities[entity].renamingIdentifier = former
    for other in model.entities.indices {
      for index in model.entities[other].relationships.indices
      where model.entities[other].relationships[index].destination == former {
        model.entities[other].relationships[index].destination = name
      }
    }
    return Change(words: "\(former) renamed to \(name)") { $0.rename(former, to: name) }
  }

  private mutating func addRelationship(_ entity: Int) -> Change? {
    let other = model.entities.indices.randomElement(using: &random) ?? 0
    guard other != entity, let name = freeProperty(entity) else { return nil }
    let isToMany = Bool.random(using: &random)
    var relationship = RelationshipDescription(
      name: name, destination: model.entities[other].name, isToMany: isToMany,
      isOrdered: isToMany && Bool.random(using: &random))
    if Bool.random(using: &random), let back = freeProperty(other) {
      relationship.inverse = back
      model.entities[other].relationships.append(
        RelationshipDescription(
          name: back, destination: model.entities[entity].name, inverse: name, isToMany: true))
    }
    model.entities[entity].relationships.append(relationship)
    return Change(words: "\(model.entities[entity].name).\(name) added") { _ in }
  }

  private mutating func removeRelationship(_ entity: Int) -> Change? {
    guard
      let index = model.entities[entity].relationships.indices.randomElement(using: &random)
    else { return nil }
    let words = "\(model.entities[entity].name).\(model.entities[entity].relationships[index].name)"
    dropRelationship(entity, index)
    let after = model
    return Change(words: "\(words) removed") { Self.keepKnownLinks(&$0, after) }
  }

  private mutating func dropRelationship(_ entity: Int, _ index: Int) {
    let relationship = model.entities[entity].relationships.remove(at: index)
    guard let inverse = relationship.inverse,
      let other = model.entities.firstIndex(where: { $0.name == relationship.destination })
    else { return }
    model.entities[other].relationships.removeAll { $0.name == inverse }
  }

  private static func keepKnownLinks(_ plain: inout PlainObjects, _ model: ManagedObjectModel) {
    for entity in model.entities {
      let names = Set(entity.relationships.map(\.name))
      plain.changeLinks(entity.name) { $0 = $0.filter { names.contains($0.key) } }
    }
  }

  // MARK: Objects

  private mutating func value(_ type: AttributeType) -> Value {
    let number = Int64.random(in: -99...99, using: &random)
    return switch type {
    case .integer16, .integer32, .integer64: .integer(number)
    case .boolean: .boolean(number > 0)
    case .string: .string("text \(number)")
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) / 4))
    case .uuid: .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, UInt8(number + 99))))
    case .float, .double: .double(Double(number) / 4)
    case .decimal: .decimal(Decimal(number) / 4)
    case .binary: .binary(Data([1, 2, UInt8(number + 99)]))
    default: .null
    }
  }

  /// Inserts objects, and changes values and links of some.
  mutating func edit(_ context: ManagedObjectContext, _ plain: inout PlainObjects) throws {
    for entity in model.entities {
      for _ in 0..<3 {
        lastID += 1
        let object = try context.insert(entity.name)
        for attribute in entity.attributes {
          let value: Value =
            attribute.name == "id"
            ? .integer(lastID)
            : attribute.isOptional && Int.random(in: 0..<4, using: &random) == 0
              ? .null : value(attribute.type)
          object[attribute.name] = value
          plain.values[entity.name, default: [:]][lastID, default: [:]][attribute.name] = value
        }
      }
      let objects = try context.fetch(
        FetchRequest<ManagedObject>(entity: entity.name, sortKeys: ["id"]))
      guard let object = objects.randomElement(using: &random) else { continue }
      let id: Int64 = object["id"]
      for attribute in entity.attributes.dropFirst() where Bool.random(using: &random) {
        let value = value(attribute.type)
        object[attribute.name] = value
        plain.values[entity.name]?[id]?[attribute.name] = value
      }
    }
    try link(context, &plain)
  }

  private mutating func link(_ context: ManagedObjectContext, _ plain: inout PlainObjects) throws {
    for entity in model.entities {
      let owners = try context.fetch(
        FetchRequest<ManagedObject>(entity: entity.name, sortKeys: ["id"]))
      for relationship in entity.relationships {
        let targets = try context.fetch(
          FetchRequest<ManagedObject>(entity: relationship.destination, sortKeys: ["id"]))
        guard let owner = owners.randomElement(using: &random) else { continue }
        let members = targets.shuffled(using: &random).prefix(relationship.isToMany ? 3 : 1)
        if relationship.isToMany {
          owner[relationship.name] = Array(members)
        } else {
          owner[relationship.name] = members.first
        }
      }
    }
    // Both ends, as the context has them.
    for entity in model.entities {
      for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity.name)) {
        let id: Int64 = object["id"]
        for relationship in entity.relationships {
          let ids: [Int64] =
            relationship.isToMany
            ? (object[relationship.name] as [ManagedObject]).map { $0["id"] }
            : (object[relationship.name] as ManagedObject?).map { [$0["id"]] } ?? []
          plain.links[entity.name, default: [:]][id, default: [:]][relationship.name] =
            relationship.isOrdered ? ids : ids.sorted()
        }
      }
    }
  }
}
