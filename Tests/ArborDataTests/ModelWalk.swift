import ArborData
import Foundation
import TestSupport
import Testing

/// A model that changes at random in ways that a migration supports.
struct ModelWalk {
  /// A change of the model, and its effect on objects.
  struct Change {
    let words: String
    /// The code of a migration step; `nil` if none is needed.
    var code: (@Sendable (MigrationManager) throws -> Void)?
    /// Whether a migration that skips this version has the same result. A temporary default, for
    /// example, would be skipped.
    var isLasting = true
    let apply: (inout PlainObjects) -> Void

    /// Returns the step between two models, if one is needed.
    func steps(from former: ManagedObjectModel, to model: ManagedObjectModel) -> [MigrationStep] {
      code.map { [MigrationStep(from: former, to: model, $0)] } ?? []
    }
  }

  /// The model, with renaming identifiers for the last change.
  var model: ManagedObjectModel
  var random: SeededRandom
  var lastID: Int64 = 0

  /// The last number used in a name if names are unique; `nil` if they are reused.
  private var lastName: Int?

  /// - Parameter reusesNames: Whether a new part may have the name of a removed one. In a migration
  ///   over several versions, it would be mistaken for the removed one.
  init(_ random: SeededRandom, reusesNames: Bool = true) {
    self.random = random
    if !reusesNames { lastName = 1 }
    model = ManagedObjectModel(entities: [Self.entity("E0"), Self.entity("E1")])
  }

  static func entity(_ name: String) -> EntityDescription {
    EntityDescription(
      name: name,
      attributes: [
        AttributeDescription(name: "id", type: .integer64),
        AttributeDescription(name: "a0", type: .string, isOptional: true),
      ])
  }

  // MARK: Models

  /// Removes all renaming identifiers, because a new part with a former name would be mistaken for
  /// the renamed one.
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
      let entity = concreteEntities.randomElement(using: &random) ?? 0
      let change: Change? =
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: addAttribute(entity)
        case 2: removeAttribute(entity)
        case 3: renameAttribute(entity)
        case 4: convertAttribute(entity)
        case 5: turnMandatory(entity)
        case 6: addEntity()
        case 7: removeEntity(entity)
        case 8: renameEntity(entity)
        case 9: addRelationship(entity)
        case 10: removeRelationship(entity)
        case 11: widenRelationship(entity)
        case 12: narrowRelationship(entity)
        case 13: measureAttribute(entity)
        case 14: splitAttribute(entity)
        case 15: unlinkRelationship(entity)
        case 16: changeRules(entity)
        case 17: changeDeclaration(entity)
        case 18: addUnstored(entity)
        default: changeParent(entity)
        }
      if let change { return change }
    }
  }

  mutating func freeName(_ prefix: String, _ taken: [String]) -> String? {
    if let last = lastName {
      lastName = last + 1
      return "\(prefix)\(last + 1)"
    }
    return (0..<7).map { "\(prefix)\($0)" }.filter { !taken.contains($0) }.randomElement(
      using: &random)
  }

  /// The indexes of entities that have objects of their own.
  private var concreteEntities: [Int] {
    model.entities.indices.filter { !model.entities[$0].isAbstract }
  }

  /// Returns the stored attributes of an entity, followed by the inherited ones.
  func attributes(of entity: EntityDescription) -> [AttributeDescription] {
    let inherited = entity.parent.flatMap { model.entity(named: $0) }?.attributes ?? []
    return (entity.attributes + inherited).filter(\.isPlain)
  }

  mutating func freeProperty(_ entity: Int) -> String? {
    let description = model.entities[entity]
    let inherited = description.parent.flatMap { model.entity(named: $0) }?.attributes ?? []
    return freeName(
      "a",
      (description.attributes + inherited).map(\.name) + description.relationships.map(\.name))
  }

  /// Returns the index of a random stored attribute of an entity other than `id`.
  mutating func attribute(
    _ entity: Int, where isMeant: (AttributeDescription) -> Bool = { _ in true }
  ) -> Int? {
    let attributes = model.entities[entity].attributes
    return attributes.indices.dropFirst()
      .filter { attributes[$0].isPlain && isMeant(attributes[$0]) }.randomElement(using: &random)
  }

  private mutating func anyAttribute(_ entity: Int) -> Int? {
    model.entities[entity].attributes.indices.dropFirst().randomElement(using: &random)
  }

  private mutating func addAttribute(_ entity: Int) -> Change? {
    guard let name = freeProperty(entity) else { return nil }
    let types: [AttributeType] = [
      .integer16, .integer32, .boolean, .string, .date, .uuid, .float, .decimal, .binary,
    ]
    guard let type = types.randomElement(using: &random) else { return nil }
    let value: PropertyValue = Bool.random(using: &random) ? value(type) : .null
    model.entities[entity].attributes.append(
      AttributeDescription(
        name: name, type: type, isOptional: value.isNull || Bool.random(using: &random),
        defaultValue: value, isIndexed: type != .binary && Bool.random(using: &random)))
    let owner = model.entities[entity].name
    return Change(words: "\(owner).\(name) added") { $0.change(owner) { $0[name] = value } }
  }

  private mutating func removeAttribute(_ entity: Int) -> Change? {
    guard let index = anyAttribute(entity) else { return nil }
    let name = model.entities[entity].attributes.remove(at: index).name
    let owner = model.entities[entity].name
    return Change(words: "\(owner).\(name) removed") { $0.change(owner) { $0[name] = nil } }
  }

  private mutating func renameAttribute(_ entity: Int) -> Change? {
    guard let index = anyAttribute(entity), let name = freeProperty(entity) else { return nil }
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
    let convert: (PropertyValue) -> PropertyValue
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
    model.entities[entity].attributes[index].minimum = .null
    model.entities[entity].attributes[index].maximum = .null
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
    return Change(words: "\(owner).\(name) mandatory", isLasting: false) {
      $0.change(owner) { if $0[name] == .null { $0[name] = value } }
    }
  }

  private mutating func addEntity() -> Change? {
    guard let name = freeName("E", model.entities.map(\.name)) else { return nil }
    model.entities.append(Self.entity(name))
    return Change(words: "\(name) added") { _ in }
  }

  private mutating func removeEntity(_ entity: Int) -> Change? {
    guard concreteEntities.count > 1 else { return nil }
    // A store that shares no entity with the last version would be refused as another program's.
    if lastName != nil, entity == 0 { return nil }
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
    let other = concreteEntities.randomElement(using: &random) ?? 0
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

  mutating func dropRelationship(_ entity: Int, _ index: Int) {
    let relationship = model.entities[entity].relationships.remove(at: index)
    guard let inverse = relationship.inverse,
      let other = model.entities.firstIndex(where: { $0.name == relationship.destination })
    else { return }
    model.entities[other].relationships.removeAll { $0.name == inverse }
  }

  static func keepKnownLinks(_ plain: inout PlainObjects, _ model: ManagedObjectModel) {
    for entity in model.entities {
      let names = Set(entity.relationships.map(\.name))
      plain.changeLinks(entity.name) { $0 = $0.filter { names.contains($0.key) } }
    }
  }
}

extension AttributeDescription {
  /// Whether the attribute is stored and not derived.
  var isPlain: Bool { !isTransient && derivation == nil }
}
