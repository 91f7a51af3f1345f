package import ArborModel
internal import Foundation
internal import LMDB

/// The files of a staged migration, beside the store's.
///
/// ```
/// NAME.arbor                 the store, unchanged to the end
/// NAME.arbor-migration-new   a copy that becomes the next file
/// NAME.arbor-migration-1     the copy that the first hop works in
/// NAME.arbor-migration-2     a copy of that when it is done, for the second hop
/// NAME.arbor-migration-lock  locked by the process that migrates
/// NAME.arbor-before          the store as it was, until the migration is confirmed
/// ```
package struct MigrationFiles: Sendable {
  /// The store's canonical path.
  package let path: String

  /// - Throws: `missing` where there is no file.
  package init(path: String) throws(StoreError) {
    guard let resolved = realpath(path, nil) else { throw StoreError(errno: errno, path: path) }
    defer { free(resolved) }
    self.path = String(cString: resolved)
  }

  /// The file that a hop works in; hop 0 is the store itself.
  package func stage(_ hop: Int) -> String { hop == 0 ? path : "\(path)-migration-\(hop)" }
  /// The store as it was before.
  package var former: String { StoreFiles.formerPath(of: path) }
  /// Whether there is one.
  package var keepsFormer: Bool { get throws(StoreError) { try StoreFiles.exists(former) } }
  private var unfinished: String { path + "-migration-new" }

  package func exists(_ hop: Int) throws(StoreError) -> Bool { try StoreFiles.exists(stage(hop)) }

  /// Makes the file of a hop: a copy of a store that `body` changes before it has its name.
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

  /// Lets the file of a hop that is done be that of the next one.
  package func promote(_ hop: Int) throws(StoreError) { try move(stage(hop), to: stage(hop + 1)) }

  package func removeStage(_ hop: Int) { StoreFiles.discard(stage(hop)) }

  /// Removes whatever a migration has made, except the store as it was before.
  package func discard(hops: Int) {
    StoreFiles.discard(unfinished)
    for hop in 1...max(hops, Self.mostHops) where (try? exists(hop)) ?? true {
      StoreFiles.discard(stage(hop))
    }
  }

  /// So many hops are looked for, whatever the plan at hand has.
  private static var mostHops: Int { 64 }

  /// Puts the store as it was before in the place of the one that it became.
  ///
  /// - Throws: `inUse` where this process has one of them open, or anybody the former one.
  package func restoreFormer() throws(StoreError) { try StoreFiles.replace(path, by: former) }

  package func removeFormer() { StoreFiles.discard(former) }

  /// Removes whatever migrations have made and left beside the store.
  func removeAll() {
    discard(hops: 0)
    removeFormer()
    StoreFiles.discard(StoreFiles.replacedPath(of: path))
  }

  private func move(_ name: String, to target: String) throws(StoreError) {
    // A lock file is of the name, and nobody has the file open.
    unlink(name + "-lock")
    unlink(target + "-lock")
    guard rename(name, target) == 0 else { throw StoreError.failed("rename", name, errno: errno) }
    try StoreFiles.synchronizeFolder(of: path)
  }

  /// Puts the file of the last hop in the store's place, and keeps the former one.
  ///
  /// - Parameter origin: The store's transaction that the migration began with.
  /// - Returns: false where the store has been written to since.
  /// - Throws: `inUse` where this process has the store open.
  package func swap(_ hop: Int, origin: UInt64) throws(StoreError) -> Bool {
    // A migration confirms the one before.
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

/// Held by the process that migrates a store, so that no other one works on the same files.
package struct MigrationLock {
  private static let suffix = "-migration-lock"
  private let lock: StoreLock

  /// - Throws: `inUse` where another migration of the store is under way.
  package init(_ files: MigrationFiles) throws(StoreError) {
    lock = try StoreLock(files.path, suffix: Self.suffix, waits: false)
  }

  /// Lets others migrate the store.
  package func end() { lock.end() }

  /// Removes the lock of a process that was killed between the end of its migration and that of
  /// its lock; one that is held stays. Costs a look at the folder where none exists.
  ///
  /// - Parameter path: The canonical path of a store that nothing is left to be migrated of.
  package static func removeLeft(byStore path: String) {
    guard access(path + suffix, F_OK) == 0 else { return }
    (try? StoreLock(path, suffix: suffix, waits: false))?.end()
  }
}

extension StoreEngine {
  /// Sets the marker of a migration in a copy, unless it is there, and tells the transaction that
  /// the store is left with.
  package func beginMigration(_ plan: UInt128, to model: ManagedObjectModel) throws(StoreError)
    -> UInt64
  {
    if try migrationMarker() == nil {
      try setMigrationMarker(
        MigrationMarker(
          plan: plan, target: model.fingerprint, generation: modelGeneration, began: Date()))
    }
    return try read { $0.id }
  }

  /// Sets application metadata, or removes it where the value is nil, in a commit of its own.
  package func setMetadata(_ key: String, _ value: [UInt8]?) throws(StoreError) {
    var changes = ChangeSet()
    changes.metadata = [(key, value)]
    _ = try commit(changes)
  }
}
