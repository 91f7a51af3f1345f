import ArborModelFiles
import ArborLocks
import ArborModel
import ArborObjects
import Foundation

/// The stores that managers opened by name. Each file is opened once per process.
enum SharedStores {
  private struct Opened: Sendable {
    weak var store: PersistentStore?
  }

  private static let opened = Lock<[String: Opened]>([:])

  /// Returns the open store for a file, or opens it.
  ///
  /// - Throws: ``ArborError`` `modelMismatch` if the store is open with another model, and any
  ///   error that opening the store throws.
  static func store(
    at file: URL, modelFile: URL, options: StoreOptions, classes: [ManagedObject.Type]
  ) throws(ArborError) -> PersistentStore {
    let model = try ManagedObjectModel(contentsOf: modelFile)
    return try opened.withLock { opened throws(ArborError) in
      if let store = opened[file.path]?.store {
        guard store.model == model else {
          throw ArborError(
            .modelMismatch,
            "The store \(file.path) is already open with another model. Use another alias.")
        }
        return store
      }
      let store = try open(file, model, modelFile, options, classes)
      opened[file.path] = Opened(store: store)
      return store
    }
  }

  /// Opens a store. Reads the other versions in the model file only if the store doesn't have the
  /// current one.
  private static func open(
    _ file: URL, _ model: ManagedObjectModel, _ modelFile: URL, _ options: StoreOptions,
    _ classes: [ManagedObject.Type]
  ) throws(ArborError) -> PersistentStore {
    var options = options
    if options.modelVersions.isEmpty, options.migration != .refuse, !options.isReadOnly {
      var first = options
      first.migration = .refuse
      first.onMismatch = .fail
      do throws(ArborError) {
        return try PersistentStore(model: model, at: .file(file), options: first, classes: classes)
      } catch {
        guard error.code == .modelMismatch || error.code == .migrationUnderWay else { throw error }
        options.siblingVersions = try ModelSearch.versions(of: modelFile)
      }
    }
    return try PersistentStore(model: model, at: .file(file), options: options, classes: classes)
  }
}
