import ArborModel
import ArborObjects
import Foundation
import TestSupport

/// A persistent store for one test, which ends with the store check.
enum ObjectStore {
  /// Opens a new store, in a temporary folder or in memory, and checks it when `body` is done.
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

  /// Opens a new store of the typed office, and checks it when `body` is done.
  static func useOffice<R>(
    inMemory: Bool = true, _ body: (PersistentStore) throws -> R
  ) throws -> R {
    try use(
      ManagedObjectModel(for: Office.classes), inMemory: inMemory, classes: Office.classes, body)
  }
}

/// What a test throws to leave a savepoint or a body.
struct Interruption: Error {}
