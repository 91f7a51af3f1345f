import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// An in-memory store of a test's model, and a context to import into.
final class ImportWorkshop {
  let store: PersistentStore
  let context: ManagedObjectContext

  init(_ entities: [EntityDescription] = ImportWorkshop.company) throws {
    store = try PersistentStore(model: ManagedObjectModel(entities: entities), at: .inMemory)
    context = store.makeContext()
  }

  /// Imports a list from a string.
  @discardableResult
  func list(
    _ text: String, as entity: String = "Employee", _ options: ImportOptions = ImportOptions()
  ) throws -> [ManagedObject] {
    try context.importObjects(from: .value(JSONValue.parse(text)), as: entity, options: options)
  }

  /// Imports one object from a string.
  @discardableResult
  func one(
    _ text: String, as entity: String = "Employee", _ options: ImportOptions = ImportOptions()
  ) throws -> ManagedObject? {
    try context.importObject(from: .value(JSONValue.parse(text)), as: entity, options: options)
  }

  /// Returns the error of an operation that must fail, and expects that nothing has changed.
  func failure(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws -> ArborError {
    let before = try context.digest()
    let error = try #require(throws: ArborError.self, sourceLocation: sourceLocation) {
      try body()
    }
    #expect(try context.digest() == before, sourceLocation: sourceLocation)
    #expect(
      [".", "?"].contains(error.message.last ?? " "), "\(error)", sourceLocation: sourceLocation)
    return error
  }

  /// Returns all objects of an entity, oldest first.
  func all(_ entity: String) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entity: entity))
      .sorted { $0.objectID.number < $1.objectID.number }
  }

  /// Returns the values of an attribute of all objects of an entity, oldest first.
  func values(_ entity: String, _ attribute: String) throws -> [PropertyValue] {
    try all(entity).map { try $0.value(forKey: attribute) }
  }

  /// Expects that the changes can be committed and the store is sound.
  func finish() throws {
    try context.commit()
    try store.check()
  }
}

extension ImportWorkshop {
  /// Employees and departments with identities, and relationships without a merge policy.
  static var company: [EntityDescription] { company() }

  /// - Parameter policy: The `MergePolicy` of all relationships; `nil` to set none.
  static func company(policy: String? = nil) -> [EntityDescription] {
    let notes = policy.map { ["MergePolicy": $0] } ?? [:]
    return [
      EntityDescription(
        name: "Employee",
        attributes: [
          AttributeDescription(name: "employeeID", type: .integer64, isOptional: true),
          AttributeDescription(name: "name", type: .string, isOptional: true),
          AttributeDescription(name: "age", type: .integer16, isOptional: true, defaultValue: 18),
          AttributeDescription(name: "salary", type: .double, isOptional: true),
          AttributeDescription(name: "weight", type: .float, isOptional: true),
          AttributeDescription(name: "hired", type: .date, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "department", destination: "Department", inverse: "employees", userInfo: notes),
          RelationshipDescription(
            name: "friends", destination: "Employee", inverse: "friends", isToMany: true,
            userInfo: notes),
        ]),
      EntityDescription(
        name: "Department",
        attributes: [
          AttributeDescription(name: "departmentID", type: .string, isOptional: true),
          AttributeDescription(name: "title", type: .string, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "employees", destination: "Employee", inverse: "department", isToMany: true,
            userInfo: notes),
          RelationshipDescription(
            name: "rooms", destination: "Room", inverse: "department", isToMany: true,
            isOrdered: true, userInfo: notes),
        ]),
      EntityDescription(
        name: "Room",
        attributes: [AttributeDescription(name: "roomID", type: .integer32, isOptional: true)],
        relationships: [
          RelationshipDescription(name: "department", destination: "Department", inverse: "rooms")
        ]),
    ]
  }
}
