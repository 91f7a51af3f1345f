import ArborData
import Foundation
import ModelSamples
import TestSupport
import Testing

@testable import lmdb_inspect

/// The output of `schema --swift` and `schema --macros` compiles and describes the same model.
///
/// `Fleet.swift` and `FleetMacros.swift` are the output for `Fleet.model.json`. After a change of
/// the generator, regenerate them: `lmdb-inspect schema Fleet.model.json --swift > Fleet.swift`.
@Suite struct SwiftModelSourceTests {
  static let tests = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
  static let file = tests.appending(path: "InspectTests/Generated/Fleet.model.json")

  @Test(
    "The generated files are up to date",
    arguments: [
      ("--swift", "InspectTests/Generated/Fleet.swift"),
      ("--macros", "ArborMacrosTests/Generated/FleetMacros.swift"),
    ])
  func theGeneratedFilesAreUpToDate(form: String, path: String) throws {
    let outcome = try Inspection(Self.file).run("schema", form)
    #expect(outcome.status == 0 && outcome.errors == "")
    let written = try String(contentsOf: Self.tests.appending(path: path), encoding: .utf8)
    #expect(outcome.output == written)
  }

  /// Models with one special feature each, and random models.
  static let models: [@Sendable () throws -> ManagedObjectModel] =
    [
      { try ManagedObjectModel { note() } },
      { try ManagedObjectModel(versionIdentifier: "3") { note() } },
      { try ManagedObjectModel(versionIdentifier: "say \"3\"\n\\ \u{1F600}") { note() } },
      {
        try ManagedObjectModel(versionIdentifier: "3") {
          note()
          FetchRequestTemplate("stale", entity: "Note", predicate: "gone == $X")
        }
      },
      {
        try ManagedObjectModel {
          note()
          ManagedObjectModel.Configuration("Cloud", entities: ["Note"])
        }
      },
      { try ManagedObjectModel(contentsOf: tests.appending(path: corporate)) },
      { try ManagedObjectModel(contentsOf: tests.appending(path: world)) },
    ]
    + (UInt64(1)...4).map { seed in
      {
        var random = RandomModel(seed: seed)
        return try random.model().validated()
      }
    }

  private static let corporate = "ArborModelFilesTests/Fixtures/Corporate.xcdatamodeld"
  private static let world = "../tools/world/World.xcdatamodeld"

  private static func note() -> EntityDescription {
    EntityDescription("Note") { AttributeDescription("text", .string, .optional) }
  }

  @Test("Every generated source compiles", arguments: models.indices)
  func whatIsWrittenCompiles(index: Int) throws {
    let model = try Self.models[index]()
    for form in [SwiftModelSource.Form.expanded, .macros] {
      let text = try SwiftModelSource(model: model, form: form, name: "Written").text()
      let problems = try RefusedByCompiler.problems(in: text)
      #expect(problems.isEmpty, "\(problems.prefix(5))\n\(text)")
    }
  }

  @Test("The generated classes describe the same model")
  func theClassesMakeTheModel() throws {
    var model = try ManagedObjectModel(contentsOf: Self.file)
    // The class name is the last component.
    model.entities[2].className = "Garage"
    let made = try FleetModel.make()
    for (made, entity) in zip(made.entities, model.entities) { #expect(made == entity) }
    #expect(made == model)
  }

  @Test("The generated classes can be used with a store")
  func theClassesAreOfTheStore() throws {
    let store = try PersistentStore(model: FleetModel.make(), at: .inMemory)
    let context = store.makeContext()
    let truck = context.insert(Truck.self)
    truck.plate = "B 1"
    truck.axles = 3
    truck.depot = context.insert(Garage.self)
    truck.depot?.name = "North"
    truck.place = .composite(["latitude": 52.5, "name": "Berlin"])
    truck.tours = [context.insert(Tour.self)]
    truck.tours[0].number = 1
    try context.commit()
    let read = try #require(try store.makeContext().objects(Vehicle.self).first() as? Truck)
    #expect(read.axles == 3 && read.class == "say \"B\"\n\\")
  }

  @Test("The classes can be generated from a store file, too")
  func aStoreGivesItsClasses() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Fleet.arbor")
    _ = try PersistentStore(model: ManagedObjectModel(contentsOf: Self.file), at: .file(url))
    let fromStore = try Inspection(url).run("schema", "--swift")
    #expect(fromStore.output == (try Inspection(Self.file).run("schema", "--swift").output))
    let one = try Inspection(url).run("schema", "Tour", "--macros")
    #expect(one.output.contains("@Entity final class Tour: ManagedObject {"))
    #expect(!one.output.contains("class Truck") && !one.output.contains("enum"))
  }

  @Test("Reserved names are refused")
  func reservedNamesAreRefused() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Tag") { AttributeDescription("context", .string) }
    }
    let error = try #require(
      throws: InspectError.self,
      performing: { try SwiftModelSource(model: model, form: .macros, name: "Tags").text() })
    #expect(error.description.contains("Tag.context has the name of a member"))
  }

  @Test("Names are converted to identifiers")
  func namesBecomeIdentifiers() throws {
    let model = ManagedObjectModel(entities: [
      EntityDescription(name: "A", className: "My-Class"),
      EntityDescription(name: "2B", className: "Module.My_Class"),
      EntityDescription(name: "Self", className: nil),
    ])
    let text = try SwiftModelSource(model: model, form: .macros, name: "9 lives").text()
    #expect(text.contains("@Entity(\"A\")\nfinal class My_Class: ManagedObject {}"))
    #expect(text.contains("@Entity(\"2B\")\nfinal class _2B: ManagedObject {}"))
    #expect(text.contains("@Entity final class `Self`: ManagedObject {}"))
    #expect(text.contains("enum _9_livesModel {"))
  }

  @Test(
    "Literals have exactly the given value",
    arguments: [
      (.integer16, .integer(40_000), nil), (.double, .double(.infinity), ".infinity"),
      (.float, .double(0.5), "0.5"), (.float, .double(0.1), nil), (.boolean, .integer(1), nil),
    ] as [(AttributeType, PropertyValue, String?)])
  func literalsSayExactlyTheValue(type: AttributeType, value: PropertyValue, text: String?) {
    #expect(ValueSource.typed(value, as: type) == text)
  }
}
