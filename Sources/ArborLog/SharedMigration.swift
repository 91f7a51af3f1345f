package import ArborModel
internal import ArborStore
internal import Foundation

/// A change of the model of a store that shares a log.
///
/// ```
/// n          the log's last commit of the former model
/// n+1        model: nothing of the former model follows any more
/// n+2 … m    snapshot: the migrated store, whose newest commit is m
/// m+1 …      commits of the new model
/// ```
///
/// The migration runs in a copy of the file, whether it takes code or not. It is tried before the
/// log is told, so that one that fails stops nobody. A store that finds the change without a
/// snapshot behind it, since the first one died, migrates a copy of its own and goes on, to its own
/// model, which may be a later one than the log was told of; the first snapshot counts.
package struct SharedMigration {
  private let shared: SharedStore
  private let model: ManagedObjectModel
  private let modelName: String
  /// Brings a copy to the model.
  private let migrate: (String) throws -> Void

  /// - Parameters:
  ///   - shared: The file, which has all that the log had.
  ///   - model: The new model.
  ///   - name: What messages call it.
  ///   - migrate: Brings the file at a path, which nobody else knows, to the model; it removes what
  ///     it leaves beside the file.
  package init(
    _ shared: SharedStore, to model: ManagedObjectModel, named name: String,
    _ migrate: @escaping (String) throws -> Void
  ) {
    self.shared = shared
    self.model = model
    modelName = name
    self.migrate = migrate
  }

  private var log: any CommitLog { shared.client.log }

  /// Migrates a copy, adds it to the log and puts it in the file's place; does nothing where
  /// somebody else has added something meanwhile, which comes first.
  ///
  /// - Throws: What `migrate` throws, `ArborError`, `StoreError`. The log goes on with the former
  ///   model then, and the file is as it was.
  package func run() throws {
    defer { removeStaged() }
    var copied = try copyAndMigrate()
    var change = try shared.pendingModel(after: copied.sequence)?.end
    if change == nil {
      change = try announce(behind: copied.newest)
      if change == nil {
        // Others were faster; now that it is known to succeed, it begins with the log's being told.
        guard case .needsMigration = try shared.prepare(for: model.fingerprint),
          let position = try shared.position(),
          let announced = try announce(behind: position.newest)
        else { return }
        change = announced
        do { copied = try copyAndMigrate() } catch {
          try giveUp(behind: announced)
          throw error
        }
      }
    }
    guard let change, change.sequence == copied.sequence + 1 else { return }
    try finish(behind: change, copied)
  }

  /// Copies the file, and migrates the copy; returns the position of the file.
  private func copyAndMigrate() throws -> SharedPosition {
    removeStaged()
    let staged = shared.stagedPath
    let position = try shared.withFile { file in
      try file.copy(to: staged, compacting: false, keepsMarker: false, keepsPosition: true)
      return try file.position()
    }
    guard let position else { throw StoreError.modelChanged }
    try migrate(staged)
    return position
  }

  /// Tells the log that nothing of the former model follows a commit; returns the end of the log
  /// then, nil where others were faster.
  private func announce(behind end: SharedPosition.Point) throws -> SharedPosition.Point? {
    let entry = CommitLogEntry(
      .model(model.fingerprint, name: modelName), after: end, upTo: end.sequence + 1)
    return try shared.client.append(entry: entry) ? entry.end : nil
  }

  /// Publishes the migrated copy, lets the log go on with it, and takes it as the file.
  private func finish(behind change: SharedPosition.Point, _ copied: SharedPosition) throws {
    let staged = SharedStore(shared.stagedPath, shared.client)
    let id = UUID()
    let (entry, store) = try staged.withFile { file in
      let last = max(file.lastSequence, change.sequence + 1)
      let entry = CommitLogEntry(.snapshot(id), after: change, upTo: last)
      try file.setPosition(
        SharedPosition(
          sequence: last, generation: file.modelGeneration, chain: entry.end.chain,
          earlier: copied.earlier + [copied.newest]), raising: last)
      try file.synchronize()
      return (entry, file.id)
    }
    let snapshot = CommitLogSnapshot(
      id: id, store: store, sequence: entry.last, digest: entry.digest)
    try log.publish(snapshot, in: URL(filePath: shared.stagedPath))
    // Where somebody else's snapshot is there already, the next look takes that.
    guard try shared.client.append(entry: entry) else { return }
    try StoreFiles.replace(shared.path, by: shared.stagedPath)
  }

  /// Lets the log go on with the former model, where the migration fails although it was tried.
  private func giveUp(behind change: SharedPosition.Point) throws {
    removeStaged()
    guard let position = try shared.position(), position.sequence + 1 == change.sequence else {
      return
    }
    try shared.withFile { file in
      try file.copy(
        to: shared.stagedPath, compacting: false, keepsMarker: false, keepsPosition: true)
    }
    try finish(behind: change, position)
  }

  private func removeStaged() { StoreFiles.discard(shared.stagedPath) }
}
