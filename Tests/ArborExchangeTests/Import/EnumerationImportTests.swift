import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

private enum Mode: String, CaseIterable, AttributeValue { case off, on }

private final class Lamp: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Lamp", className: "Lamp",
      attributes: [
        AttributeDescription("number", Int.self), AttributeDescription("mode", Mode.self),
        AttributeDescription("former", Mode?.self),
      ], uniquenessConstraints: [["number"]])
  }
}

/// Documents with raw values that no case of an enumeration has.
@Suite("Enumerations in documents") struct EnumerationImportTests {
  private let store: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    store = try PersistentStore(for: [Lamp.self], at: .inMemory)
    context = store.makeContext()
  }

  @Test("An unknown case is refused with the known ones and the nearest one")
  func unknownCases() throws {
    let error = try #require(throws: ArborError.self) {
      try context.importObject(from: #"{"number": 1, "mode": "onn"}"#, as: "Lamp")
    }
    #expect(error.code == .invalidDocument)
    #expect(
      error.message
        == "Expected a case of Mode (off, on) for Lamp.mode, but found onn. Did you mean on?")
    #expect(error.location?.path == "$.mode" && error.location?.line == 1)
    #expect(!context.hasChanges)
    #expect(throws: ArborError.self) {
      try context.seed(from: ["Lamp": ["number": 2, "mode": "on", "former": "of"]])
    }
    #expect(!context.hasChanges)
    let lamp = try #require(
      try context.importObject(from: #"{"number": 1, "mode": "on", "former": null}"#, as: "Lamp"))
    #expect(try lamp.value(forKey: "mode") == "on")
    try context.commit()
    try store.check()
  }

  @Test("A lenient import reports an unknown case and keeps the rest")
  func lenientImports() throws {
    var options = ImportOptions()
    options.lenient = true
    options.report = ImportReport()
    let lamp = try #require(
      try context.importObject(
        from: #"{"number": 1, "mode": "on", "former": "blink"}"#, as: "Lamp", options: options))
    #expect(try lamp.value(forKey: "former") == .null)
    #expect(options.report?.findings.droppedCount == 1)
    try context.commit()
    try store.check()
  }
}
