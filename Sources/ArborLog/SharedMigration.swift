internal import ArborFoundation
package import ArborModel
internal import ArborStore

/// A change of the model of a store that shares a log.
///
/// ```
/// n          the log's last commit with the former model
/// n+1        model: no commit with the former model follows
/// n+2 … m    snapshot: the migrated store, whose newest commit is m
/// m+1 …      commits with the new model
/// ```
///
/// If the migration fails after it was announced, the snapshot and what follows have the former
/// model.
///
/// The migration runs in a copy of the file, whether or not it needs code. It is tried before it is
/// announced in the log, so that a failing migration affects no other process. A store that finds
/// an announced change without a snapshot, because the announcing process died, migrates a copy of
/// its own and completes the change, possibly to a later model than the announced one. If several
/// processes do so, the first snapshot in the log is used.
package struct SharedMigration {
  private let shared: SharedStore
  private let model: ManagedObjectModel
  private let modelName: String
  /// A closure that migrates the copy at a path to the model.
  private let migrate: (String) throws -> Void

  /// - Parameters:
  ///   - shared: The file, which must be up to date with the log.
  ///   - model: The new model.
  ///   - name: The name of the model in messages.
  ///   - migrate: A closure that migrates the file at a path, which no other process uses, and
  ///     removes its own temporary files.
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

  /// Migrates a copy, publishes it and replaces the file with it. Does nothing if another process
  /// has appended an entry meanwhile, which has to be applied first.
  ///
  /// - Throws: Errors of `migrate`, after which the log continues with the former model unless the
  ///   change was announced by another process or the log became unavailable; `ArborError`,
  ///   `StoreError`. The file has not been migrated in these cases.
  package func run() throws {
    defer { removeStaged() }
    var copied = try copyAndMigrate()
    var change = try shared.pendingModel(after: copied.sequence)
    if change == nil {
      change = try announce(behind: copied.newest)
      if change == nil {
        // Other entries were appended first. As the migration is known to succeed, it is now
        // announced behind whatever the log ends with, before the file has caught up.
        guard let announced = try announce(somewhereAfter: copied.newest) else {
          return
        }
        change = announced
        do {
          guard case .needsMigration = try shared.prepare(for: model.fingerprint) else { return }
          copied = try copyAndMigrate()
        } catch {
          // If this fails, too, a later opening with another model continues.
          try? giveUp(behind: announced)
          throw error
        }
      }
    }
    guard let change, change.follows(copied) else { return }
    try finish(behind: change, copied)
  }

  /// Copies the file and migrates the copy. Returns the position of the copy.
  private func copyAndMigrate() throws -> SharedPosition {
    let position = try copy()
    try migrate(shared.stagedPath)
    // A migration makes commits of its own, but changes neither the position nor earlier commits.
    let found = try shared.staged.withFile {
      try shared.staged.verifiedPosition(of: $0, isMigrated: true)
    }
    guard found == position else { throw StoreError.modelChanged }
    return position
  }

  /// Copies the file. Returns the position of the copy, which another process that commits to the
  /// file may already have left behind.
  private func copy() throws -> SharedPosition {
    removeStaged()
    try shared.withFile { file in
      try file.copy(
        to: shared.stagedPath, compacting: false, keepsMarker: false, keepsPosition: true)
    }
    return try shared.staged.withFile { try shared.staged.verifiedPosition(of: $0) }
  }

  /// Appends the announcement that no commit with the former model follows. Returns its entry, or
  /// `nil` if other entries were appended first.
  private func announce(behind end: SharedPosition.Point) throws -> CommitLogEntry? {
    let entry = CommitLogEntry(
      .model(model.fingerprint, name: modelName), after: end, upTo: end.sequence + 1)
    return try shared.client.append(entry: entry) ? entry : nil
  }

  /// The number of times that other processes may append an entry between reading the end of the log
  /// and announcing the change. They need as long as this one, so they are rarely faster.
  private static let maximumAnnouncements = 1_000
  private static let entriesAtOnce = 1_000

  /// Appends the announcement behind the newest entry, which other processes keep replacing. Returns
  /// its entry, or `nil` if the file has to be prepared again: another process has announced a change,
  /// or was always faster.
  private func announce(
    somewhereAfter point: SharedPosition.Point
  ) throws -> CommitLogEntry? {
    var end = point
    for _ in 0..<Self.maximumAnnouncements {
      for entry in try log.entries(after: end.sequence, limit: Self.entriesAtOnce) {
        guard entry.previous.bits == end.chain.bits, case .commits = try entry.content(of: log)
        else { return nil }
        end = entry.end
      }
      if let entry = try announce(behind: end) { return entry }
    }
    return nil
  }

  /// Publishes the copy, makes the log continue with it, and replaces the file with it.
  ///
  /// The copy must contain everything before the change, and nothing else.
  ///
  /// - Parameter isMigrated: Whether the copy has the announced model rather than the former one.
  private func finish(
    behind change: CommitLogEntry, _ copied: SharedPosition, isMigrated: Bool = true
  ) throws {
    let id = UUID()
    let (entry, store) = try shared.staged.withFile { file in
      let last = max(file.lastSequence, change.last + 1)
      let content = LogContent.snapshot(
        id, formerModel: isMigrated ? nil : file.modelFingerprint)
      let entry = CommitLogEntry(content, after: change.end, upTo: last)
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
    // If another process has published its snapshot first, the next check picks that up.
    guard try shared.client.append(entry: entry) else { return }
    try StoreFiles.replace(shared.path, by: shared.stagedPath)
  }

  /// Makes the log continue with the former model after an announced migration has failed, although
  /// an earlier attempt succeeded.
  private func giveUp(behind change: CommitLogEntry) throws {
    let copied = try copy()
    guard change.follows(copied) else { return }
    try finish(behind: change, copied, isMigrated: false)
  }

  private func removeStaged() { StoreFiles.discard(shared.stagedPath) }
}

extension CommitLogEntry {
  /// Whether the entry comes right after a position, with the same history.
  fileprivate func follows(_ position: SharedPosition) -> Bool {
    first == position.sequence + 1 && previous.bits == position.chain.bits
  }
}
