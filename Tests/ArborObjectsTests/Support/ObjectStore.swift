import ArborModel
import ArborObjects
import Foundation
import TestSupport

/// Stores that are checked at the end of a test.
enum ObjectStore {
  /// Calls `body` with a new store in memory or in a temporary folder, and checks the store
  /// afterwards.
  static func use<R>(
    _ model: ManagedObjectModel, inMemory: Bool = true, classes: [ManagedObject.Type] = [],
    _ body: (PersistentStore) throws -> R
  ) throws -> R {
    let folder = try TemporaryFolder()
    let location: StoreLocation =
      inMemory ? .inMemory : .file(folder.url.appending(path: "objects.arbor"))
    let store = try PersistentStore(model: model, at: location, classes: classes)
    defer { store.close() }
    let result = try body(store)
    if !store.isClosed { try store.check() }
    return result
  }

  /// Calls `body` with a new store of the typed office, and checks the store afterwards.
  static func useOffice<R>(
    inMemory: Bool = true, _ body: (PersistentStore) throws -> R
  ) throws -> R {
    try use(
      ManagedObjectModel(for: Office.classes), inMemory: inMemory, classes: Office.classes, body)
  }
}

/// An error that a test throws to leave a savepoint or a body.
struct Interruption: Error {}
