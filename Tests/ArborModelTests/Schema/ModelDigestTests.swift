import ArborModel
import ModelSamples
import Foundation
import Testing

/// Digests are stored in files: equal models have equal digests in all versions, and different
/// models have different ones.
@Suite struct ModelDigestTests {
  /// Changes that the fingerprint's changes don't cover.
  static let furtherChanges: [ModelChange] = [
    ModelChange("a constraint's order") {
      $0.entities[0].uniquenessConstraints = [["name", "age"]]
    },
    ModelChange("one constraint of two") {
      $0.entities[0].uniquenessConstraints = [["name"], ["age"]]
    },
    ModelChange("configurations") { $0.configurations = ["C": ["Person", "Employee"]] },
    ModelChange("a request's predicate") { $0.fetchRequestTemplates[0].predicate = "age > 3" },
    ModelChange("a request's limit") { $0.fetchRequestTemplates[0].fetchLimit = 3 },
    ModelChange("a request's batches") { $0.fetchRequestTemplates[0].fetchBatchSize = 3 },
    ModelChange("a request's reach") { $0.fetchRequestTemplates[0].includesSubentities = false },
    ModelChange("what a request sees") {
      $0.fetchRequestTemplates[0].includesPendingChanges = false
    },
    ModelChange("repeated rows") { $0.fetchRequestTemplates[0].returnsDistinctResults = true },
    ModelChange("a request's results") { $0.fetchRequestTemplates[0].resultType = .rows },
    .name("lower bound") { $0.minimum = 9 },
    .name("value class") { $0.valueClassName = "Name" },
    .name("kept on deletion") { $0.isPreservedOnDeletion = true },
    .name("notes") { $0.userInfo = ["a": "b"] },
    .name("structure") {
      $0.type = .json
      $0.shape = ["a": .optional(.string)]
    },
    .name("another structure") {
      $0.type = .json
      $0.shape = ["a": .optional(.integer)]
    },
    .friends("least count") { $0.minimumCount = 3 },
    .friends("notes") { $0.userInfo = ["a": "b"] },
    .friends("former name") { $0.renamingIdentifier = "pals" },
  ]

  static var changes: [ModelChange] {
    ModelFingerprintTests.storedChanges + ModelFingerprintTests.otherChanges + furtherChanges
  }

  @Test("Different changes yield different digests")
  func everyChangeHasItsOwn() throws {
    var seen = [ModelDigest(try ModelFingerprintTests.model()): "none"]
    var models: [ManagedObjectModel: String] = [:]
    for change in Self.changes {
      var model = try ModelFingerprintTests.model()
      change.make(&model)
      // Some changes in the lists have the same result.
      if let same = models[model] {
        #expect(seen[ModelDigest(model)] == same)
        continue
      }
      models[model] = change.testDescription
      let other = seen.updateValue(change.testDescription, forKey: ModelDigest(model))
      #expect(other == nil, "\(change.testDescription) and \(other ?? "")")
    }
  }

  @Test("Different default values yield different digests")
  func everyValueHasItsOwn() throws {
    let uuid = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
    let values: [PropertyValue] = [
      .null, .boolean(false), .boolean(true), .integer(0), .integer(1), .integer(-1), .double(0),
      .double(1), .decimal(0), .decimal(1), .string(""), .string("0"),
      .date(Date(timeIntervalSince1970: 0)),
      .date(Date(timeIntervalSinceReferenceDate: 0)), .binary(Data()), .binary(Data([0])),
      .uuid(uuid), .uri(try #require(URL(string: "a:b"))),
      .objectID(ObjectID(storeID: uuid, entityName: "A", number: 1)), .list([]), .list([.null]),
      .composite([:]), .composite(["a": .null]), .composite(["a": 1]),
    ]
    let digests = values.map { value in
      ModelDigest(
        ManagedObjectModel(entities: [
          EntityDescription(
            name: "A",
            attributes: [AttributeDescription(name: "a", type: .string, defaultValue: value)])
        ]))
    }
    #expect(Set(digests).count == values.count)
  }

  /// A property that is added to a description must be added to the digest and to this test.
  @Test("Every property of a description is part of the digest")
  func knowsEveryPropertyOfADescription() throws {
    func count(_ value: some Any) -> Int { Mirror(reflecting: value).children.count }
    let template = FetchRequestTemplate(name: "", entity: "")
    #expect(count(ManagedObjectModel(entities: [])) == 7)
    #expect(count(EntityDescription(name: "")) == 12)
    // The parts at hand, one of these properties, are not part of the model.
    #expect(count(AttributeDescription(name: "", type: .string)) == 18)
    #expect(count(RelationshipDescription(name: "", destination: "")) == 13)
    #expect(count(FetchedPropertyDescription(name: "", request: template)) == 4)
    #expect(count(FetchIndexDescription(name: "", elements: [])) == 4)
    #expect(count(FetchIndexDescription.Element("")) == 4)
    #expect(count(CompositeDescription(name: "", attributes: [])) == 2)
    #expect(count(template) == 9)
  }

  @Test("Models from code and JSON have the same digest")
  func isTheSameWhereverAModelComesFrom() throws {
    let code = try ModelSamples.corporate()
    let json = try ManagedObjectModel(json: code.jsonData())
    #expect(Set([code, json].map { ModelDigest($0) }).count == 1)
  }

  @Test("The digest must not depend on dictionary order or the process")
  func isTheSameInEveryProcess() throws {
    var model = try ModelFingerprintTests.model()
    model.entities[0].userInfo = ["a": "1", "b": "2", "c": "3", "d": "4", "e": "5"]
    #expect(String(ModelDigest(model).bits, radix: 16) == "a8e99f1e3f9e4e7a6b451ce96fb8858b")
  }
}
