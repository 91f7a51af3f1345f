internal import ArborFoundation
package import ArborModel
internal import LMDB

/// The files of a staged migration, next to the store's.
///
/// ```
/// NAME.arbor                 the store, unchanged to the end
/// NAME.arbor-migration-new   a copy that becomes the next file
/// NAME.arbor-migration-1     the copy that the first hop works in
/// NAME.arbor-migration-2     a copy of the finished one, for the second hop
/// NAME.arbor-migration-lock  locked by the process that migrates
/// NAME.arbor-before          the store as it was, until the migration is confirmed
/// ```
package struct MigrationFiles: Sendable {
  /// The store's canonical path.
  package let path: String

  /// - Throws: `missing` if there is no file.
  package init(path: String) throws(StoreError) {
    guard let resolved = realpath(path, nil) else { throw StoreError(errno: errno, path: path) }
    defer { free(resolved) }
    self.path = String(cString: resolved)
  }

  /// Returns the path of the file that a hop works in. Hop 0 is the store itself.
  package func stage(_ hop: Int) -> String { hop == 0 ? path : "\(path)-migration-\(hop)" }
  /// The path of the store as it was before the migration.
  package var former: String { StoreFiles.formerPath(of: path) }
  /// Whether the store from before the migration is kept.
  package var keepsFormer: Bool { get throws(StoreError) { try StoreFiles.exists(former) } }
  private var unfinished: String { path + "-migration-new" }

  package func exists(_ hop: Int) throws(StoreError) -> Bool { try StoreFiles.exists(stage(hop)) }

  /// Creates the file of a hop: a copy of a store, which `body` changes before it is renamed into
  /// place.
  package func makeStage(
    _ hop: Int, from source: StoreEngine, _ body: (String) throws(StoreError) -> Void
  ) throws(StoreError) {
    StoreFiles.discard(unfinished)
    do throws(StoreError) {
      try source.copy(to: unfinished, compacting: false)
      try body(unfinished)
      try move(unfinished, to: stage(hop))
    } catch {
      StoreFiles.discard(unfinished)
      throw error
    }
  }

  /// Turns the file of a finished hop into that of the next one.
  package func promote(_ hop: Int) throws(StoreError) { try move(stage(hop), to: stage(hop + 1)) }

  package func removeStage(_ hop: Int) { StoreFiles.discard(stage(hop)) }

  /// Removes all files of a migration except the store from before it.
  package func discard(hops: Int) {
    StoreFiles.discard(unfinished)
    for hop in 1...max(hops, Self.maximumHops) where (try? exists(hop)) ?? true {
      StoreFiles.discard(stage(hop))
    }
  }

  /// The minimum number of hops whose files are searched for, regardless of the current plan.
  private static var maximumHops: Int { 64 }

  /// Replaces the migrated store with the one from before the migration.
  ///
  /// - Throws: `inUse` if this process has one of them open, or any process has the former one
  ///   open.
  package func restoreFormer() throws(StoreError) { try StoreFiles.replace(path, by: former) }

  package func removeFormer() { StoreFiles.discard(former) }

  /// Removes all files that migrations left next to the store.
  func removeAll() {
    discard(hops: 0)
    removeFormer()
    StoreFiles.discard(StoreFiles.replacedPath(of: path))
  }

  private func move(_ name: String, to target: String) throws(StoreError) {
    // Lock files are tied to names, and the file is not open anywhere.
    unlink(name + "-lock")
    unlink(target + "-lock")
    guard rename(name, target) == 0 else { throw StoreError.failed("rename", name, errno: errno) }
    try StoreFiles.synchronizeFolder(of: path)
  }

  /// Replaces the store with the file of the last hop, and keeps the former one.
  ///
  /// - Parameter origin: The ID of the store's transaction that the migration started from.
  /// - Returns: `false` if the store has been written to since.
  /// - Throws: `inUse` if this process has the store open.
  package func swap(_ hop: Int, origin: UInt64) throws(StoreError) -> Bool {
    // A migration confirms the previous one.
    StoreFiles.discard(former)
    var isOrigin = true
    do throws(StoreError) {
      try StoreFiles.replace(path, by: stage(hop), keepsFormer: true) {
        (header) throws(StoreError) in
        isOrigin = header.transactionID == origin
        if !isOrigin { throw .inUse(path: path) }
      }
    } catch {
      if !isOrigin { return false }
      throw error
    }
    return true
  }
}

/// The lock of the process that migrates a store, so that no other process works on the same files.
package struct MigrationLock {
  private static let suffix = "-migration-lock"
  private let lock: StoreLock

  /// - Throws: `inUse` if another migration of the store is under way.
  package init(_ files: MigrationFiles) throws(StoreError) {
    lock = try StoreLock(files.path, suffix: Self.suffix, waits: false)
  }

  /// Releases the lock.
  package func end() { lock.end() }

  /// Removes the lock file of a process that was killed after its migration but before it released
  /// the lock. A lock that is held is kept.
  ///
  /// - Parameter path: The canonical path of a completely migrated store.
  package static func removeLeft(byStore path: String) {
    guard access(path + suffix, F_OK) == 0 else { return }
    (try? StoreLock(path, suffix: suffix, waits: false))?.end()
  }
}

extension StoreEngine {
  /// Sets the marker of a migration in a copy, unless it exists, and returns the ID of the store's
  /// last transaction.
  package func beginMigration(_ plan: UInt128, to model: ManagedObjectModel) throws(StoreError)
    -> UInt64
  {
    if try migrationMarker() == nil {
      try setMigrationMarker(
        MigrationMarker(
          plan: plan, target: model.fingerprint, generation: modelGeneration, began: Date()))
    }
    // Now that commits are rejected, it stays like that, and the ID doesn't change any more.
    try StoreJournal.endForAll(environment)
    return try read { $0.id }
  }

  /// Sets application metadata in its own commit, or removes it if the value is `nil`.
  package func setMetadata(_ key: String, _ value: [UInt8]?) throws(StoreError) {
    var changes = ChangeSet()
    changes.metadata = [(key, value)]
    _ = try commit(changes)
  }
}
