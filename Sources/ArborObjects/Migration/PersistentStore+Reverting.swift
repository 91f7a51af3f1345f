internal import ArborStore
public import ArborModel
public import Foundation

extension PersistentStore {
  /// Gives up the way back to the model that the store had before its last migration, and frees
  /// what was kept for it: the values of removed attributes, the objects of removed entities and
  /// the links of removed relationships.
  ///
  /// Until then, ``revertMigration(_:dropping:)`` brings the former model back. The next migration
  /// of the same kind, in place or in a copy, confirms the one before, and so does
  /// ``purge()``. Nothing happens where there is nothing to confirm. In a store that
  /// shares a log or is backed up it is a commit, so that everybody who follows frees it as well.
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
  ///   `diskFull`, `inputOutput`, `corrupted`; what keeps commits from a shared log.
  public func confirmMigration() throws(ArborError) {
    try file.reporting(file.confirmMigration())
    try file.reporting(StagedReversal.confirm(file))
  }

  /// Brings back the model that a store had before its last migration, with everything that the
  /// migration dropped, in one transaction.
  ///
  /// Where nothing was committed with the newer model, names, types, values, objects, links and
  /// indexes are as they were before. Otherwise everything that both models know stays as it is
  /// now, removed attributes and to-one relationships have their values again in objects that were
  /// not changed since, and their defaults in others; removed to-many relationships have their
  /// links, as far as both ends agree and are there still; and removed entities have their objects.
  /// Values whose type changed are converted back in objects that were changed since, and are what
  /// they were in others; nothing converts binary, transformed and composite values back. What the
  /// former model has no room for, values that its types do not hold included, is dropped only
  /// where it is named.
  ///
  /// ```swift
  /// store.close()
  /// try PersistentStore.revertMigration(url)
  /// let former = try PersistentStore(model: older, at: .file(url))
  /// ```
  ///
  /// Takes time in proportion to the objects of entities whose indexes have to be filled again,
  /// and, where something was committed since, to those of entities that get relationships, large
  /// binaries or types back; none otherwise. Other processes that have the store open get
  /// `modelChanged` at their next fetch or commit.
  ///
  /// After a migration in a copy, the store that the copy took the place of comes back as it was;
  /// nobody may have that one open any more, and nothing may have been committed since, unless
  /// `.everythingRemoved` says that it may be dropped. A migration in a copy that is not finished
  /// is given up, and the copy removed.
  ///
  /// - Parameters:
  ///   - url: The store's file, which this process must not have open.
  ///   - names: What may be dropped of what was written with the newer model, as `Entity` or
  ///     `Entity.property` in its names.
  /// - Throws: ``ArborError`` `notAllowed` where there was no migration, where it is confirmed, or,
  ///   with a violation for each thing that stands in the way, where something was committed since
  ///   that has no place in the former model; `inUse` where this process has the store open, or
  ///   another one is migrating it; `fileUnreadable` where there is no file; what else keeps a
  ///   store from being opened. The file is as it was then.
  public static func revertMigration(
    _ url: URL, dropping names: StoreOptions.Migration.Dropping = []
  ) throws(ArborError) {
    let path = try StoreLocation.path(of: url)
    let isReverted: Bool
    do throws(StoreError) {
      do throws(StoreError) {
        isReverted = try StoreEngine.revertMigration(at: path, dropping: names.names)
      } catch .migrationUnderWay(let marker) {
        try giveUpMigration(of: path)
        // A way back that was interrupted begins anew.
        isReverted = !marker.isReversal
      }
    } catch {
      throw ArborError(opening: error)
    }
    if isReverted { return }
    if try StagedReversal.revert(path, discardsCommits: names.names == nil) { return }
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
    try StagedReversal.withoutMarker(files.path) { _ in }
  }
}
