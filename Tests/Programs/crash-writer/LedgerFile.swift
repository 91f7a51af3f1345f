import ArborData
import Foundation

/// A ledger that is there already.
enum LedgerFile {
  /// Makes a ledger with so many entries, in one commit.
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

  /// Opens the ledger with another model than it was written with.
  ///
  /// - Parameter change: Makes that model of the ledger's.
  static func open(
    _ path: String, changing change: (inout ManagedObjectModel) -> Void
  ) throws -> PersistentStore {
    try PersistentStore(
      model: model(of: path, changing: change), at: .file(URL(filePath: path)))
  }

  /// Another model than a ledger has.
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
