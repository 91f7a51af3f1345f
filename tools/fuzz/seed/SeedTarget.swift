import ArborData
import Foundation

/// A fuzz target that seeds from bytes and checks invariants of any input.
///
/// - A seed that throws reports a remedy and leaves the context unchanged.
/// - A seed that doesn't throw has created the objects that it reports, and they can be read.
///
/// The separator `\x1E` divides the bytes into documents: the first is the top-level one, the
/// others are `1.json`, `2.json` and so on in the same folder.
final class SeedTarget {
  /// The only target of the process. The fuzzer calls it from one thread, one input at a time.
  nonisolated(unsafe) static let shared = SeedTarget()

  private let folder: URL
  private let store: PersistentStore

  private init() {
    folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-seed-\(getpid())")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      store = try PersistentStore(model: Self.model, at: .inMemory)
    } catch {
      preconditionFailure("The store cannot be created: \(error)")
    }
  }

  /// Seeds a new context from the documents in the bytes, and checks the outcome.
  func read(_ data: Data) {
    let pieces = data.split(separator: 0x1E, omittingEmptySubsequences: false).prefix(8)
    for (number, piece) in pieces.enumerated() {
      let path = folder.appending(path: "\(number).json").path
      precondition(FileManager.default.createFile(atPath: path, contents: piece))
    }
    var options = SeedOptions()
    options.remote = .refused
    options.maximumDocuments = 40
    options.maximumObjects = 400
    let context = store.makeContext()
    do throws(ArborError) {
      let report = try context.seed(from: .file(folder.appending(path: "0.json")), options: options)
      precondition(report.count == context.insertedObjects.count, "The number of objects differs.")
      precondition(
        report.objects.allSatisfy(context.insertedObjects.contains), "An object is missing.")
      for object in context.insertedObjects {
        for name in Self.names(of: object.entity) { _ = try object.value(forKey: name) }
      }
    } catch {
      precondition(!context.hasChanges, "A failed seed left changes: \(error)")
      precondition(context.insertedObjects.isEmpty, "A failed seed left objects: \(error)")
      precondition(
        [".", "?"].contains(error.message.last), "The error is not a sentence: \(error)")
    }
  }

  /// Returns the properties of an entity, including inherited ones.
  private static func names(of entity: EntityDescription) -> [String] {
    let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    let parent = model.entities.first { $0.name == entity.parent }
    return own + (parent.map(names) ?? [])
  }

  /// A model with attributes of every type that has special rules, and relationships of every kind.
  private static let model = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Company",
      attributes: [
        AttributeDescription(name: "name", type: .string, isOptional: true),
        AttributeDescription(name: "number", type: .integer64, defaultValue: 0),
      ],
      relationships: [
        RelationshipDescription(
          name: "employees", destination: "Employee", inverse: "company", isToMany: true),
        RelationshipDescription(
          name: "places", destination: "Place", inverse: "company", isToMany: true,
          isOrdered: true),
        RelationshipDescription(name: "owner", destination: "Party"),
      ]),
    EntityDescription(
      name: "Party", isAbstract: true,
      attributes: [AttributeDescription(name: "name", type: .string, defaultValue: "")]),
    EntityDescription(
      name: "Employee", parent: "Party",
      attributes: [
        AttributeDescription(name: "age", type: .integer16, defaultValue: 18),
        AttributeDescription(name: "salary", type: .decimal, isOptional: true),
        AttributeDescription(name: "hired", type: .date, isOptional: true),
        AttributeDescription(
          name: "seen", type: .date, isOptional: true, userInfo: ["DateFormat": "UnixTime"]),
        AttributeDescription(name: "photo", type: .binary, isOptional: true),
        AttributeDescription(name: "isActive", type: .boolean, defaultValue: true),
        AttributeDescription(name: "weight", type: .float, isOptional: true),
        AttributeDescription(name: "badge", type: .uuid, isOptional: true),
        AttributeDescription(name: "page", type: .uri, isOptional: true),
      ],
      relationships: [
        RelationshipDescription(name: "company", destination: "Company", inverse: "employees"),
        RelationshipDescription(
          name: "friends", destination: "Employee", inverse: "friends", isToMany: true),
      ]),
    EntityDescription(
      name: "Place",
      attributes: [AttributeDescription(name: "city", type: .string, defaultValue: "")],
      relationships: [
        RelationshipDescription(name: "company", destination: "Company", inverse: "places")
      ]),
  ])
}

/// The function that libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func readSeed(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  SeedTarget.shared.read(Data(UnsafeRawBufferPointer(start: start, count: count)))
  return 0
}
