import ArborData
import Foundation

/// A fuzz target that imports bytes with a mapping that is also part of the input, and checks
/// invariants.
///
/// - An import or sync that throws leaves the context unchanged.
/// - After any number of imports and syncs, all values and members can be read.
///
/// The bytes contain, separated by bars: the `ImportName` of an attribute, that of a relationship,
/// the `PrimaryAttribute`, the `MergePolicy`, and the document.
final class MappingTarget {
  /// The only target of the process. The fuzzer calls it from one thread, one input at a time.
  nonisolated(unsafe) static let shared = MappingTarget()

  /// A serializer that reads a value at the path given by the input.
  private struct Serializer: SyncSerializer {
    typealias Object = ManagedObject
    let path: [String]
    let entityName: String? = "Employee"
    let identifiers = ["employeeID"]
    let deleteMissing = true
    var mapping: SyncMapping {
      let steps = path.prefix(3).map { word in Int(word).map { SyncPath($0) } ?? SyncPath(word) }
      return [
        "employeeID": .int("employeeID"), "name": .string(SyncPath(steps)),
        "salary": .double("salary"),
      ]
    }
  }

  /// Imports and syncs a document with the mapping that precedes it.
  func read(_ data: Data) {
    let parts = data.split(separator: UInt8(ascii: "|"), maxSplits: 4)
    guard parts.count == 5, let json = try? JSONValue.parse(Data(parts[4])) else { return }
    let words = parts.prefix(4).map { String(decoding: $0, as: UTF8.self) }
    guard let store = try? PersistentStore(model: Self.model(words), at: .inMemory) else { return }
    let context = store.makeContext()
    // Twice, so that the second import finds the objects of the first.
    for _ in 0..<2 {
      attempt(in: context) { () throws(ArborError) in
        _ = try context.importObjects(from: .value(json), as: "Employee")
      }
    }
    attempt(in: context) { () throws(ArborError) in
      _ = try context.importObject(from: .value(json), as: "Department")
    }
    attempt(in: context) { () throws(ArborError) in
      let path = words[0].split(separator: ".").map(String.init)
      _ = try context.sync(from: .value(json), using: Serializer(path: path))
    }
  }

  /// Runs an operation that may throw, and checks that it then has no effect.
  private func attempt(in context: ManagedObjectContext, _ body: () throws(ArborError) -> Void) {
    let before = digest(of: context)
    do throws(ArborError) { try body() } catch {
      precondition(digest(of: context) == before, "A failed import left changes: \(error)")
      precondition(
        [".", "?"].contains(error.message.last), "The error is not a sentence: \(error)")
    }
  }

  /// Returns all values and links in the context.
  private func digest(of context: ManagedObjectContext) -> [String] {
    var lines = ["\(context.insertedObjects.count) \(context.deletedObjects.count)"]
    do {
      for entity in context.store.model.entities {
        let objects = try context.fetch(FetchRequest<ManagedObject>(entity: entity.name))
        for object in objects.sorted(by: { $0.objectID.number < $1.objectID.number }) {
          let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
          let values = try names.map { "\(try object.value(forKey: $0))" }
          lines.append("\(object.objectID) \(values)")
        }
      }
    } catch {
      preconditionFailure("The imported values cannot be read: \(error)")
    }
    return lines
  }

  /// Returns a model with the given import notes.
  private static func model(_ words: [String]) -> ManagedObjectModel {
    let policy = ["MergePolicy": words[3]]
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Employee",
        attributes: [
          AttributeDescription(name: "employeeID", type: .integer64, isOptional: true),
          AttributeDescription(
            name: "name", type: .string, isOptional: true, userInfo: ["ImportName": words[0]]),
          AttributeDescription(name: "age", type: .integer16, isOptional: true),
          AttributeDescription(name: "salary", type: .double, isOptional: true),
          AttributeDescription(name: "hired", type: .date, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "department", destination: "Department", inverse: "employees", userInfo: policy),
          RelationshipDescription(
            name: "friends", destination: "Employee", inverse: "friends", isToMany: true,
            userInfo: policy.merging(["ImportName": words[1]]) { $1 }),
        ], userInfo: ["PrimaryAttribute": words[2]]),
      EntityDescription(
        name: "Department",
        attributes: [
          AttributeDescription(name: "departmentID", type: .string, isOptional: true)
        ],
        relationships: [
          RelationshipDescription(
            name: "employees", destination: "Employee", inverse: "department", isToMany: true,
            userInfo: policy),
          RelationshipDescription(
            name: "rooms", destination: "Room", inverse: "department", isToMany: true,
            isOrdered: true, userInfo: policy),
        ]),
      EntityDescription(
        name: "Room",
        attributes: [AttributeDescription(name: "roomID", type: .integer32, isOptional: true)],
        relationships: [
          RelationshipDescription(name: "department", destination: "Department", inverse: "rooms")
        ]),
    ])
  }
}

/// The function that libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func readMapping(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  MappingTarget.shared.read(Data(UnsafeRawBufferPointer(start: start, count: count)))
  return 0
}
