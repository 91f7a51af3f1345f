import ArborModel
import Foundation
import Testing

/// A change of a model, with a description.
struct ModelChange: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var make: @Sendable (inout ManagedObjectModel) -> Void

  init(_ description: String, _ make: @escaping @Sendable (inout ManagedObjectModel) -> Void) {
    testDescription = description
    self.make = make
  }

  static func person(
    _ description: String, _ make: @escaping @Sendable (inout EntityDescription) -> Void
  ) -> ModelChange {
    ModelChange(description) { make(&$0.entities[0]) }
  }

  static func name(
    _ description: String, _ make: @escaping @Sendable (inout AttributeDescription) -> Void
  ) -> ModelChange {
    ModelChange(description) { make(&$0.entities[0].attributes[0]) }
  }

  static func friends(
    _ description: String, _ make: @escaping @Sendable (inout RelationshipDescription) -> Void
  ) -> ModelChange {
    ModelChange(description) { make(&$0.entities[0].relationships[0]) }
  }
}

@Suite struct ModelFingerprintTests {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", .string, .indexed)
        AttributeDescription("age", .integer16, .unique)
        AttributeDescription("home", .composite("Address"), .optional)
        RelationshipDescription("friends", to: "Person", inverse: "friends", .toMany)
      }
      EntityDescription("Employee", parent: "Person") { AttributeDescription("salary", .double) }
      CompositeDescription("Address") { AttributeDescription("city", .string) }
      FetchRequestTemplate("all", entity: "Person")
    }
  }

  static func index(
    _ element: FetchIndexDescription.Element, where condition: String? = nil
  ) -> FetchIndexDescription {
    FetchIndexDescription(name: "i", elements: [element], partialIndexPredicate: condition)
  }

  @Test("The transformer is part of the fingerprint")
  func aTransformerTellsModelsApart() {
    func model(_ transformer: String) -> ManagedObjectModel {
      let attribute = AttributeDescription(name: "x", type: .transformable(transformer))
      return ManagedObjectModel(entities: [EntityDescription(name: "A", attributes: [attribute])])
    }
    #expect(model("a").fingerprint != model("b").fingerprint)
  }

  @Test("Conditions and kinds of indexes are part of the fingerprint")
  func conditionsAndKindsTellIndexesApart() throws {
    var prints: Set<ModelFingerprint> = []
    let indexes = [
      Self.index(.init("name", isAscending: false)),
      Self.index(.init("name", isAscending: false, kind: .folded)),
      Self.index(.init("name", kind: .text)),
      Self.index(.init("name", isAscending: false), where: "age > 1"),
      Self.index(.init("name", isAscending: false), where: "age > 2"),
    ]
    for index in indexes {
      var model = try Self.model()
      model.entities[0].fetchIndexes = [index]
      prints.insert(model.fingerprint)
      model.entities[0].fetchIndexes[0].isUnique = true
      if index.elements[0].kind != .text { prints.insert(model.fingerprint) }
    }
    #expect(prints.count == 2 * indexes.count - 1)
  }

  static let storedChanges: [ModelChange] = [
    ModelChange("another entity") { $0.entities.append(EntityDescription(name: "Other")) },
    ModelChange("an entity less") { $0.entities.removeLast() },
    ModelChange("another parent") { $0.entities[1].parent = nil },
    ModelChange("a composite's part") { $0.composites[0].attributes[0].type = .binary },
    .person("the entity's name") { $0.name = "Human" },
    .person("abstract") { $0.isAbstract = true },
    .person("an attribute less") { $0.attributes.removeLast() },
    .person("the entity's modifier") { $0.versionHashModifier = "2" },
    .person("unique no longer") { $0.uniquenessConstraints = [] },
    .person("another index") {
      $0.fetchIndexes.append(
        FetchIndexDescription(name: "i", elements: [.init("name", isAscending: false)]))
    },
    .person("a folded index") { $0.fetchIndexes = [index(.init("name", kind: .folded))] },
    .person("an index of words") { $0.fetchIndexes = [index(.init("name", kind: .text))] },
    .person("a partial index") { $0.fetchIndexes = [index(.init("name"), where: "age > 1")] },
    .person("an index over an expression that folds") {
      $0.fetchIndexes = [index(.init("canonical:(name)", isExpression: true, isAscending: false))]
    },
    .name("the attribute's name") { $0.name = "title" },
    .name("its type") { $0.type = .binary },
    .name("optional") { $0.isOptional = true },
    .name("transient") { $0.isTransient = true },
    .name("no index") { $0.isIndexed = false },
    .name("external storage") { $0.allowsExternalStorage = true },
    .name("derivation") { $0.derivation = "canonical:(title)" },
    .name("the attribute's modifier") { $0.versionHashModifier = "2" },
    .friends("the relationship's name") { $0.name = "peers" },
    .friends("destination") { $0.destination = "Employee" },
    .friends("inverse") { $0.inverse = nil },
    .friends("to-one") { $0.isToMany = false },
    .friends("ordered") { $0.isOrdered = true },
    .friends("the relationship's modifier") { $0.versionHashModifier = "2" },
    .friends("a transient relationship") { $0.isTransient = true },
  ]

  static let otherChanges: [ModelChange] = [
    ModelChange("the order of entities") { $0.entities.reverse() },
    ModelChange("the version identifier") { $0.versionIdentifier = "9" },
    ModelChange("requests") { $0.fetchRequestTemplates = [] },
    ModelChange("configurations") { $0.configurations = ["C": ["Person"]] },
    .person("the order of attributes") { $0.attributes.reverse() },
    .person("class") { $0.className = "Person" },
    .person("notes") { $0.userInfo = ["a": "b"] },
    .person("the entity's former name") { $0.renamingIdentifier = "Human" },
    .person("a fetched property") {
      $0.fetchedProperties = [
        FetchedPropertyDescription(
          name: "p", request: FetchRequestTemplate(name: "p", entity: "Person"))
      ]
    },
    .person("an index of what a constraint keeps") { $0.attributes[1].isIndexed = true },
    .person("an index over an expression, which is not kept") {
      $0.fetchIndexes.append(
        FetchIndexDescription(
          name: "p", elements: [.init("name"), .init("abs:(age)", isExpression: true)]))
    },
    .name("default") { $0.defaultValue = "x" },
    .name("bounds") { $0.maximum = 9 },
    .name("pattern") { $0.regularExpression = "a" },
    .name("the attribute's former name") { $0.renamingIdentifier = "title" },
    .friends("delete rule") { $0.deleteRule = .cascade },
    .friends("mandatory") { $0.isOptional = false },
    .friends("count") { $0.maximumCount = 3 },
  ]

  @Test("Changes of the stored form change the fingerprint", arguments: storedChanges)
  func changesWithWhatIsStored(change: ModelChange) throws {
    var model = try Self.model()
    change.make(&model)
    #expect(try model.fingerprint != Self.model().fingerprint)
  }

  @Test("Other changes don't affect the fingerprint", arguments: otherChanges)
  func staysWithAnythingElse(change: ModelChange) throws {
    var model = try Self.model()
    change.make(&model)
    #expect(try model != Self.model())
    #expect(try model.fingerprint == Self.model().fingerprint)
  }

  @Test("Different stored changes yield different fingerprints")
  func everyStoredChangeHasItsOwn() throws {
    let fingerprints = try Self.storedChanges.map { change in
      var model = try Self.model()
      change.make(&model)
      return model.fingerprint
    }
    #expect(Set(fingerprints).count == fingerprints.count)
  }

  @Test("The fingerprint is stored in files and must not change")
  func isTheSameInEveryVersionOfTheLibrary() throws {
    let text = try Self.model().fingerprint.description
    #expect(text == "f18888a07aef2ded5bc2c67663dcfc5d")
  }

  @Test("A fingerprint survives a round trip through text and JSON")
  func hasATextFormThatReadsBack() throws {
    let fingerprint = try Self.model().fingerprint
    #expect(ModelFingerprint(fingerprint.description) == fingerprint)
    let coded = try JSONEncoder().encode([fingerprint])
    #expect(try JSONDecoder().decode([ModelFingerprint].self, from: coded) == [fingerprint])
    #expect(ModelFingerprint("0") == nil)
    #expect(ModelFingerprint(String(repeating: "g", count: 32)) == nil)
    let short = ModelFingerprint(String(repeating: "0", count: 31) + "1")
    #expect(short?.description == String(repeating: "0", count: 31) + "1")
  }

  @Test("The fingerprint of an invalid, cyclic model can be computed")
  func endsForAModelThatContainsItself() {
    func model(_ name: String) -> ManagedObjectModel {
      let parts = [AttributeDescription(name: name, type: .composite("L"))]
      let entities = [
        EntityDescription(name: "A", parent: "B", attributes: parts),
        EntityDescription(name: "B", parent: "A"),
      ]
      return ManagedObjectModel(
        entities: entities, composites: [CompositeDescription(name: "L", attributes: parts)])
    }
    #expect(model("l").fingerprint == model("l").fingerprint)
    #expect(model("l").fingerprint != model("m").fingerprint)
  }
}
