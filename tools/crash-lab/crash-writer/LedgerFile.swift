import ArborData
import Foundation

/// A ledger that is there already.
enum LedgerFile {
  /// Opens the ledger with another model than it was written with.
  ///
  /// - Parameter change: Makes that model of the ledger's.
  static func open(
    _ path: String, changing change: (inout ManagedObjectModel) -> Void
  ) throws -> PersistentStore {
    let location = StoreLocation.file(URL(filePath: path))
    let former = try PersistentStore(at: location, options: StoreOptions(isReadOnly: true))
    var model = former.model
    former.close()
    change(&model)
    return try PersistentStore(model: model, at: location)
  }
}
