internal import ArborStore
public import ArborModel
public import Foundation

extension PersistentStore {
  /// Gives up the way back to the model that the store had before its last migration, and frees
  /// what was kept for it: the values of removed attributes, the objects of removed entities and
  /// the links of removed relationships.
  ///
  /// Until then, ``revertMigration(_:)`` brings the former model back. The next migration confirms
  /// the one before. Nothing happens where there is nothing to confirm.
  ///
  /// ```swift
  /// let store = try PersistentStore(model: newer, at: .file(url))
  /// guard try everythingIsThere(in: store) else { … }
  /// try store.confirmMigration()
  /// ```
  ///
  /// May be called from any thread; blocks until it is durable. Takes time in proportion to what
  /// was kept.
  ///
  /// - Throws: ``ArborError`` `closed`, `readOnly`, `modelChanged`, `migrationUnderWay`,
  ///   `diskFull`, `inputOutput`, `corrupted`.
  public func confirmMigration() throws(ArborError) {
    do throws(StoreError) { try file.confirmMigration() } catch {
      throw ArborError(error, in: file)
    }
  }

  /// Brings back the model that a store had before its last migration, with everything that the
  /// migration dropped, in one transaction.
  ///
  /// Names, types, values, objects, links and indexes are as they were before. That is possible for
  /// as long as nothing was committed with the newer model: what was written with it has no place
  /// in the former one, and is never dropped unasked. What the newer model had in addition is
  /// empty then, and goes.
  ///
  /// ```swift
  /// store.close()
  /// try PersistentStore.revertMigration(url)
  /// let former = try PersistentStore(model: older, at: .file(url))
  /// ```
  ///
  /// Takes time in proportion to the objects of entities whose indexes have to be filled again,
  /// and none otherwise. Other processes that have the store open get `modelChanged` at their next
  /// fetch or commit.
  ///
  /// A migration in a copy that is not finished is given up, and the copy removed: the store is as
  /// it was when that began.
  ///
  /// - Parameter url: The store's file, which this process must not have open.
  /// - Throws: ``ArborError`` `notAllowed` where there was no migration, where it is confirmed, or
  ///   where something was committed since; `inUse` where this process has the store open, or
  ///   another one is migrating it; `fileUnreadable` where there is no file; what else keeps a
  ///   store from being opened. The file is as it was then.
  public static func revertMigration(_ url: URL) throws(ArborError) {
    let path = try StoreLocation.path(of: url)
    let isReverted: Bool
    do throws(StoreError) {
      do throws(StoreError) {
        isReverted = try StoreFile.revertMigration(at: path)
      } catch .migrationUnderWay {
        try giveUpMigration(of: path)
        isReverted = true
      }
    } catch {
      throw ArborError(opening: error)
    }
    guard !isReverted else { return }
    throw ArborError(
      .notAllowed,
      "\(path) has no migration to revert: there was none, or it is confirmed. Restore a backup, "
        + "or open the store with the model that it has.")
  }

  /// Ends a migration in a copy, which nothing works on, and removes the copy.
  private static func giveUpMigration(of path: String) throws(StoreError) {
    let files = try MigrationFiles(path: path)
    let lock = try MigrationLock(files)
    defer { lock.end() }
    files.discard(hops: 0)
    var opening = StoreOpening(.file(files.path), model: nil)
    opening.isMigrating = true
    let file = try StoreFile.open(opening)
    defer { file.close() }
    try file.removeMigrationMarker()
  }
}
