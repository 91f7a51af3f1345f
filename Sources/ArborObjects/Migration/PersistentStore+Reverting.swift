public import ArborFoundation
public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Confirms the last migration, and frees the data that was kept to revert it: the values of
  /// removed attributes, the objects of removed entities and the links of removed relationships.
  ///
  /// Until then, ``revertMigration(_:dropping:)`` can restore the former model. The next migration
  /// of the same kind, in place or in a copy, confirms the previous one, and so does ``purge()``.
  /// Does nothing if there is nothing to confirm. If the store shares a log or is backed up, this
  /// is a commit, so all followers free the data as well.
  ///
  /// ```swift
  /// let store = try PersistentStore(model: newer, at: .file(url))
  /// guard try everythingIsThere(in: store) else { … }
  /// try store.confirmMigration()
  /// ```
  ///
  /// Can be called from any thread. Blocks until the change is durable.
  ///
  /// - Throws: ``ArborError`` `closed`, `readOnly`, `modelChanged`, `migrationUnderWay`,
  ///   `diskFull`, `inputOutput`, `corrupted`; errors of commits to a shared log.
  /// - Complexity: Linear in the amount of data that was kept.
  public func confirmMigration() throws(ArborError) {
    try whileOpen(engine.confirmMigration())
    try engine.reporting(StagedReversal.confirm(engine))
  }

  /// Restores the model that a store had before its last migration, and all data that the migration
  /// dropped, in one transaction.
  ///
  /// If nothing was committed with the newer model, names, types, values, objects, links and
  /// indexes are exactly what they were before. Otherwise:
  ///
  /// - Data that both models contain keeps its current state.
  /// - Removed attributes and to-one relationships are restored in objects that haven't been
  ///   changed since, and set to their defaults in others.
  /// - The links of removed to-many relationships are restored if both ends still exist and are
  ///   consistent.
  /// - The objects of removed entities are restored.
  /// - Values whose type changed are converted back in objects that have been changed since, and
  ///   restored in others. Binary, transformed and composite values cannot be converted back.
  /// - Data that the former model cannot hold, including values that do not fit its types, is
  ///   dropped only if `names` contains it.
  ///
  /// ```swift
  /// store.close()
  /// try PersistentStore.revertMigration(url)
  /// let former = try PersistentStore(model: older, at: .file(url))
  /// ```
  ///
  /// In other processes that have the store open, the next fetch or commit throws `modelChanged`.
  ///
  /// After a migration in a copy, the store that the copy replaced is restored unchanged. It must
  /// not be open anywhere, and there must not be later commits unless `.everythingRemoved` permits
  /// dropping them. An unfinished migration in a copy is abandoned, and the copy removed.
  ///
  /// - Parameters:
  ///   - url: The store's file, which this process must not have open.
  ///   - names: Data written with the newer model that may be dropped, as `Entity` or
  ///     `Entity.property` with the names of that model.
  /// - Throws: ``ArborError`` `notAllowed` if there was no migration, if it is confirmed, or, with
  ///   a violation for each obstacle, if the former model cannot hold data committed since; `inUse`
  ///   if this process has the store open, or another one is migrating it; `fileUnreadable` if
  ///   there is no file; other errors of opening a store. The file is unchanged in that case.
  /// - Complexity: Linear in the number of objects of entities whose indexes have to be filled
  ///   again and, if there are later commits, of those whose relationships, large binaries or types
  ///   are restored. Otherwise constant.
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
        // An interrupted reversal starts over.
        isReverted = !marker.isReversal
      }
    } catch {
      throw ArborError(opening: error)
    }
    if isReverted { return }
    if try StagedReversal.revert(path, discardsCommits: names.names == nil) { return }
    throw ArborError(
      .notAllowed,
      "\(path) has no migration to revert: the store was not migrated, or the migration was "
        + "confirmed. Restore a backup, or open the store with its current model.")
  }

  /// Abandons an interrupted migration in a copy, and removes the copy.
  private static func giveUpMigration(of path: String) throws(StoreError) {
    let files = try MigrationFiles(path: path)
    let lock = try MigrationLock(files)
    defer { lock.end() }
    files.discard(hops: 0)
    try StagedReversal.withoutMarker(files.path) { _ in }
  }
}
