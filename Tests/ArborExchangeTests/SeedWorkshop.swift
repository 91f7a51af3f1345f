import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// A folder of documents, an in-memory store of companies, and a context to seed into.
final class SeedWorkshop {
  let folder: URL
  let store: PersistentStore
  let context: ManagedObjectContext

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "seeds-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try PersistentStore(model: Self.model, at: .inMemory)
    context = store.makeContext()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Writes a file into the folder.
  @discardableResult
  func write(_ text: String, to name: String = "Main.json") throws -> URL {
    let url = folder.appending(path: name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    // Unlike `Data.write`, this doesn't wait for the file to be on disk.
    #expect(FileManager.default.createFile(atPath: url.path, contents: Data(text.utf8)))
    return url
  }

  /// Seeds from a string as the main document.
  @discardableResult
  func seed(_ text: String, options: SeedOptions = SeedOptions()) throws -> SeedReport {
    try context.seed(from: .file(try write(text)), options: options)
  }

  /// Returns the error of a seed that must fail, and expects that nothing has changed.
  func failure(
    of text: String, options: SeedOptions = SeedOptions(),
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws -> ArborError {
    try failure(ofSeedFrom: [try write(text)], options: options, sourceLocation: sourceLocation)
  }

  /// Returns the error of a seed that must fail, and expects that nothing has changed.
  func failure(
    ofSeedFrom urls: [URL], options: SeedOptions = SeedOptions(),
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws -> ArborError {
    let before = try context.digest()
    let error = try #require(throws: ArborError.self, sourceLocation: sourceLocation) {
      try self.context.seed(from: urls.map(JSONSource.file), options: options)
    }
    #expect(try context.digest() == before, sourceLocation: sourceLocation)
    #expect(error.message.last == "." || error.message.last == "?", sourceLocation: sourceLocation)
    return error
  }

  /// Returns all objects of an entity, sorted by ID.
  func all(_ entity: String) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entity: entity))
      .sorted { $0.objectID.number < $1.objectID.number }
  }

  /// Returns the only object of an entity.
  func only(_ entity: String) throws -> ManagedObject {
    let objects = try all(entity)
    #expect(objects.count == 1)
    return try #require(objects.first)
  }

  /// Expects that the changes can be committed and the store is sound.
  func finish() throws {
    try context.commit()
    try store.check()
  }
}

extension SeedWorkshop {
  static let model = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Company",
      attributes: [
        AttributeDescription(name: "companyName", type: .string, isOptional: true),
        AttributeDescription(name: "companyID", type: .integer64, defaultValue: 0),
        AttributeDescription(name: "founded", type: .date, isOptional: true),
      ],
      relationships: [
        RelationshipDescription(
          name: "employees", destination: "Employee", inverse: "company", isToMany: true),
        RelationshipDescription(
          name: "departments", destination: "Department", inverse: "company", isToMany: true,
          isOrdered: true),
        RelationshipDescription(name: "address", destination: "Address", inverse: "company"),
        RelationshipDescription(name: "owner", destination: "Party"),
      ]),
    EntityDescription(
      name: "Party", isAbstract: true,
      attributes: [AttributeDescription(name: "name", type: .string, defaultValue: "")]),
    EntityDescription(
      name: "Employee", parent: "Party",
      attributes: [
        AttributeDescription(name: "age", type: .integer16, defaultValue: 18),
        AttributeDescription(name: "level", type: .integer32, isOptional: true),
        AttributeDescription(name: "employeeID", type: .integer64, isOptional: true),
        AttributeDescription(name: "salary", type: .decimal, isOptional: true),
        AttributeDescription(name: "hired", type: .date, isOptional: true),
        AttributeDescription(
          name: "born", type: .date, isOptional: true, userInfo: ["DateFormat": "dd.MM.yyyy"]),
        AttributeDescription(
          name: "seen", type: .date, isOptional: true, userInfo: ["DateFormat": "UnixTime"]),
        AttributeDescription(name: "photo", type: .binary, isOptional: true),
        AttributeDescription(name: "isActive", type: .boolean, defaultValue: true),
        AttributeDescription(name: "weight", type: .float, isOptional: true),
        AttributeDescription(name: "height", type: .double, isOptional: true),
        AttributeDescription(name: "badge", type: .uuid, isOptional: true),
        AttributeDescription(name: "homepage", type: .uri, isOptional: true),
      ],
      relationships: [
        RelationshipDescription(name: "company", destination: "Company", inverse: "employees"),
        RelationshipDescription(
          name: "friends", destination: "Employee", inverse: "friends", isToMany: true),
      ]),
    EntityDescription(name: "Manager", parent: "Employee"),
    EntityDescription(
      name: "Department",
      attributes: [AttributeDescription(name: "title", type: .string, defaultValue: "")],
      relationships: [
        RelationshipDescription(name: "company", destination: "Company", inverse: "departments")
      ]),
    EntityDescription(
      name: "Address",
      attributes: [AttributeDescription(name: "city", type: .string, defaultValue: "")],
      relationships: [
        RelationshipDescription(name: "company", destination: "Company", inverse: "address")
      ]),
  ])
}
