import ArborModel
import Testing

/// A model that covers all kinds of properties, and helpers to change it.
enum EvolutionFixture {
  typealias Change = @Sendable (inout ManagedObjectModel) -> Void

  static let model = ManagedObjectModel(
    entities: [
      EntityDescription(
        name: "Person",
        attributes: [
          AttributeDescription(name: "name", type: .string),
          AttributeDescription(name: "age", type: .integer16, isOptional: true),
          AttributeDescription(name: "note", type: .string, isOptional: true),
          AttributeDescription(name: "photo", type: .binary, isOptional: true),
          AttributeDescription(name: "archive", type: .transformable("Old"), isOptional: true),
          AttributeDescription(name: "home", type: .composite("Address"), isOptional: true),
        ],
        relationships: [
          RelationshipDescription(name: "employer", destination: "Company", inverse: "staff"),
          RelationshipDescription(
            name: "friends", destination: "Person", inverse: "friends", isToMany: true),
          RelationshipDescription(
            name: "tags", destination: "Tag", isToMany: true, isOrdered: true),
        ]),
      EntityDescription(
        name: "Employee", parent: "Person",
        attributes: [AttributeDescription(name: "salary", type: .integer32)]),
      EntityDescription(
        name: "Company", attributes: [AttributeDescription(name: "title", type: .string)],
        relationships: [
          RelationshipDescription(
            name: "staff", destination: "Person", inverse: "employer", isToMany: true)
        ]),
      EntityDescription(
        name: "Tag", attributes: [AttributeDescription(name: "label", type: .string)]),
    ],
    composites: [
      CompositeDescription(
        name: "Address",
        attributes: [AttributeDescription(name: "zip", type: .integer32, isOptional: true)])
    ])

  static func changed(_ change: Change) -> ManagedObjectModel {
    var model = model
    change(&model)
    return model
  }
}

extension ManagedObjectModel {
  subscript(entity name: String) -> EntityDescription {
    get { entities.first { $0.name == name } ?? EntityDescription(name: name) }
    set {
      guard let index = entities.firstIndex(where: { $0.name == name }) else {
        return entities.append(newValue)
      }
      entities[index] = newValue
    }
  }
}

extension EntityDescription {
  subscript(attribute name: String) -> AttributeDescription {
    get {
      attributes.first { $0.name == name } ?? AttributeDescription(name: name, type: .undefined)
    }
    set {
      guard let index = attributes.firstIndex(where: { $0.name == name }) else {
        return attributes.append(newValue)
      }
      attributes[index] = newValue
    }
  }

  subscript(relationship name: String) -> RelationshipDescription {
    get {
      relationships.first { $0.name == name }
        ?? RelationshipDescription(name: name, destination: "")
    }
    set {
      guard let index = relationships.firstIndex(where: { $0.name == name }) else {
        return relationships.append(newValue)
      }
      relationships[index] = newValue
    }
  }

  mutating func add(_ attribute: AttributeDescription) { attributes.append(attribute) }
  mutating func add(_ relationship: RelationshipDescription) { relationships.append(relationship) }
  mutating func removeAttribute(_ name: String) { attributes.removeAll { $0.name == name } }
  mutating func removeRelationship(_ name: String) { relationships.removeAll { $0.name == name } }
}

/// A change of the fixture's model, and the expected difference.
struct EvolutionRow: CustomTestStringConvertible, Sendable {
  var testDescription: String
  let make: EvolutionFixture.Change
  let kinds: [ModelDifference.Kind]
  let words: [String]
  let classification: ModelDifference.Classification
  let losses: [String]
  let rules: [ModelDifference.Rule]

  init(
    _ description: String, _ kinds: [ModelDifference.Kind], _ words: [String],
    _ classification: ModelDifference.Classification = .lightweight, losses: [String] = [],
    rules: [ModelDifference.Rule] = [], _ make: @escaping EvolutionFixture.Change
  ) {
    testDescription = description
    self.make = make
    self.kinds = kinds
    self.words = words
    self.classification = classification
    self.losses = losses
    self.rules = rules
  }

  func check() {
    let old = EvolutionFixture.model
    let new = EvolutionFixture.changed(make)
    let difference = old.difference(to: new)
    #expect(difference.changes.map(\.kind) == kinds)
    #expect(difference.changes.map(\.description) == words)
    #expect(difference.description == words.joined(separator: "\n"))
    #expect(difference.classification == classification)
    #expect(difference.isLightweight == (classification != .custom))
    #expect(difference.losses.map(\.name) == losses)
    #expect(difference.changes.compactMap(\.rule) == rules)
    // Exactly the changes of the stored form are listed.
    #expect(difference.storedChanges.isEmpty == (old.fingerprint == new.fingerprint))
    #expect(new.difference(to: new).isEmpty)
  }
}
