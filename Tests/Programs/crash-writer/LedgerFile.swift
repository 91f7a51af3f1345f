import ArborData
import Foundation

/// An existing ledger file.
enum LedgerFile {
  /// Creates a ledger with `count` entries, in one commit.
  static func fill(_ path: String, count: Int) throws {
    let context = try LedgerWriter(path: path) { _ in }.store.makeContext()
    defer { context.store.close() }
    for number in 0..<count {
      let entry = context.insert(Entry.self)
      entry.entryID = Int64(number)
      entry.note = "note number \(number) of many"
      entry.amount = number % 300
    }
    try context.commit()
  }

  /// Opens the ledger with a model other than the one it was written with.
  ///
  /// - Parameter change: Modifies the ledger's model.
  static func open(
    _ path: String, changing change: (inout ManagedObjectModel) -> Void
  ) throws -> PersistentStore {
    try PersistentStore(
      model: model(of: path, changing: change), at: .file(URL(filePath: path)))
  }

  /// Returns a modified copy of the ledger's model.
  static func model(
    of path: String, changing change: (inout ManagedObjectModel) -> Void
  ) throws -> ManagedObjectModel {
    let former = try PersistentStore(
      at: .file(URL(filePath: path)), options: StoreOptions(isReadOnly: true))
    defer { former.close() }
    var model = former.model
    change(&model)
    return model
  }
}
