import ArborLocks
import ArborModel
import ArborObjects
import Foundation

/// The stores that managers have opened by a name, so that one name is one store in a process.
enum SharedStores {
  private struct Opened: Sendable {
    weak var store: PersistentStore?
  }

  private static let opened = Lock<[String: Opened]>([:])

  /// The store of a file: the open one, or a new one.
  ///
  /// - Throws: ``ArborError`` `modelMismatch` where it is open with another model, and what opening
  ///   throws.
  static func store(
    at file: URL, model: ManagedObjectModel, options: StoreOptions,
    classes: [ManagedObject.Type]
  ) throws(ArborError) -> PersistentStore {
    let outcome = opened.withLock { opened -> Result<PersistentStore, ArborError> in
      if let store = opened[file.path]?.store {
        guard store.model == model else {
          return .failure(
            ArborError(
              .modelMismatch,
              "The store \(file.path) is open with another model; choose another alias."))
        }
        return .success(store)
      }
      do throws(ArborError) {
        let store = try PersistentStore(
          model: model, at: .file(file), options: options, classes: classes)
        opened[file.path] = Opened(store: store)
        return .success(store)
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }
}
