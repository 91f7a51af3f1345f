internal import ArborFoundation
package import ArborModel
internal import ArborStore

/// A store's file and the log that it shares, before and while the store is open.
///
/// ```
/// no log      ── join ──▶ the log begins with a copy of the store and its commits
/// no file     ── install the newest snapshot ──▶ behind ── apply newer commits ──▶ up to date
/// forked      ── the file is kept under another name; the error lists the commits only it has
/// damaged     ── the file is kept under another name, and created from the newest snapshot
/// other model ── see SharedMigration
/// ```
package struct SharedStore {
  package let path: String
  package let client: LogClient

  /// The state of a file relative to its log after preparation.
  package enum Preparation {
    /// The log does not exist yet. The store that is opened begins it.
    case noLog
    /// The file has the log's model and is up to date.
    case ready
    /// The file can be opened as it is, but cannot follow the log for now.
    case waiting(ArborError)
    /// The file is up to date, but another model was requested.
    case needsMigration
  }

  package init(_ path: String, _ client: LogClient) {
    self.path = path
    self.client = client
  }

  var log: any CommitLog { client.log }

  /// Creates the file if it doesn't exist, recreates it if the log has continued without it, and
  /// applies the log's newer commits.
  ///
  /// - Parameter model: The model with which the store will be opened; `nil` for that of the file.
  /// - Throws: `ArborError`, `StoreError`.
  package func prepare(for model: ModelFingerprint?) throws -> Preparation {
    let exists = try StoreFiles.exists(try StoreFiles.removeEmpty(path))
    let head: CommitLogHead?
    do throws(ArborError) { head = try log.head() } catch {
      guard exists, error.code == .logUnavailable, let own = try sharedModel(),
        model == nil || model == own
      else { throw error }
      return .waiting(error)
    }
    guard let head else { return .noLog }
    if exists { try setAsideIfDamaged() }
    if try !StoreFiles.exists(path) { try create() }
    // Each newly installed snapshot has to be newer than the previous one.
    var newest: UInt64?
    while true {
      switch try takeOver(head, model) {
      case .done(let preparation): return preparation
      case .forked: try keepFork()
      case .anew(let condition):
        StoreFiles.discard(stagedPath)
        let sequence = try install(at: stagedPath)
        if let condition, try staged.withFile({ $0.modelFingerprint }) != condition.model {
          StoreFiles.discard(stagedPath)
          return .waiting(condition.otherwise)
        }
        try StoreFiles.replace(path, by: stagedPath)
        guard sequence > newest ?? 0 else { throw noSnapshot }
        newest = sequence
      }
    }
  }

  private var noSnapshot: ArborError {
    ArborError(
      .corrupted,
      "The log \(log.name) has no snapshot to create a store from. Publish a snapshot from an open "
        + "store, or restore the log from a backup of the server.")
  }

  private enum Step {
    case done(Preparation)
    case forked
    /// The log continues with a snapshot, which replaces the file unless the snapshot doesn't meet
    /// a condition.
    case anew(SnapshotCondition? = nil)
  }

  /// A model that a snapshot must have to replace a file, and why the file waits otherwise.
  private struct SnapshotCondition {
    let model: ModelFingerprint
    let otherwise: ArborError
  }

  /// Returns the model of a file that shares a log, or `nil` if it doesn't share one.
  private func sharedModel() throws -> ModelFingerprint? {
    try withFile { file in try file.position() == nil ? nil : file.modelFingerprint }
  }

  private func takeOver(_ head: CommitLogHead, _ model: ModelFingerprint?) throws -> Step {
    try withFile { file in
      guard file.id == head.store else {
        throw ArborError(
          .invalidArgument,
          "\(path) is the store \(file.id.uuidString), but the log \(log.name) belongs to the "
            + "store \(head.store.uuidString). Use another path, or a log for each store.")
      }
      guard let position = try file.position() else {
        throw ArborError(
          .forked,
          "\(path) is a copy of the store of the log \(log.name), with an unknown position in the "
            + "log. Move the file away, and open the store again to rebuild it from the log.")
      }
      if try isJoining(file) { try join(file, since: position) }
      switch try relation(of: position.newest) {
      case .forked: return .forked
      case .removed: return .anew()
      case .followed: break
      }
      do throws(StoreError) { try file.share(through: client) } catch {
        guard case .log(let reason) = error, reason.code == .modelChanged else { throw error }
        return try goOn(file, model, reason)
      }
      guard let model, model != file.modelFingerprint else { return .done(.ready) }
      return .done(.needsMigration)
    }
  }

  /// Returns the next step for a file whose log continues with another model.
  private func goOn(
    _ file: StoreEngine, _ model: ModelFingerprint?, _ reason: ArborError
  ) throws -> Step {
    let present = file.modelFingerprint
    if model == present {
      return try hasReturned(to: present, after: file.lastSequence)
        ? .anew(SnapshotCondition(model: present, otherwise: reason)) : .done(.waiting(reason))
    }
    if let snapshot = try log.newestSnapshot(), snapshot.sequence > file.lastSequence {
      return .anew()
    }
    // The process that announced the model has not completed the change and may never do so. A
    // process with that model completes it, and one with yet another model supersedes it.
    guard model != nil, try pendingModel(after: file.lastSequence) != nil else { throw reason }
    return .done(.needsMigration)
  }

  /// Returns whether the change of the model that follows a commit failed, so that the log continues
  /// with the former model.
  private func hasReturned(
    to model: ModelFingerprint, after sequence: UInt64
  ) throws(ArborError) -> Bool {
    guard let change = try pendingModel(after: sequence),
      let entry = try log.entries(after: change.last, limit: 1).first,
      case .snapshot(_, model) = try entry.content(of: log)
    else { return false }
    return true
  }

  // MARK: The log

  private enum Relation {
    case followed
    case forked
    case removed
  }

  /// Returns the relation of a point in the store's history to the log.
  private func relation(of point: SharedPosition.Point) throws(ArborError) -> Relation {
    guard let head = try log.head(), head.sequence >= point.sequence else { return .forked }
    if head.sequence == point.sequence {
      return head.digest.bits == point.chain.bits ? .followed : .forked
    }
    guard let next = try log.entries(after: point.sequence, limit: 1).first else { return .forked }
    if next.first > point.sequence + 1 { return .removed }
    return next.previous.bits == point.chain.bits ? .followed : .forked
  }

  /// Returns the change of the model that follows a commit in the log.
  func pendingModel(after sequence: UInt64) throws(ArborError) -> CommitLogEntry? {
    guard let entry = try log.entries(after: sequence, limit: 1).first,
      case .model = try entry.content(of: log)
    else { return nil }
    return entry
  }

  /// Returns the position of the file in the log, or `nil` if it doesn't share one.
  func position() throws -> SharedPosition? { try withFile { try $0.position() } }

  // MARK: Files

  /// Keeps a damaged file under another name, so that it is recreated from the log, which has every
  /// acknowledged commit.
  private func setAsideIfDamaged() throws {
    do { try withFile { _ in } } catch StoreError.corrupted { try StoreFiles.setAside(path) }
  }

  /// Runs `body` with the file, opened with its own model.
  func withFile<R>(_ body: (StoreEngine) throws -> R) throws -> R {
    var opening = StoreOpening(.file(path), model: nil)
    opening.looksForDamage = false
    opening.isDurable = false
    opening.continuesSharing = true
    opening.indexBuilds = .left
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    // This process may have the file open.
    return try file.keepingLog(body)
  }

  /// The path, next to the file, of a copy that will replace the file.
  package var stagedPath: String { StoreFiles.followingPath(of: path) }

  /// The copy that will replace the file.
  var staged: SharedStore { SharedStore(stagedPath, client) }

  /// Creates the file from the newest snapshot, unless another process creates it meanwhile.
  private func create() throws {
    do { try install(at: path) } catch StoreError.inputOutput(_, _, EEXIST) {}
  }

  /// Creates a file from the newest snapshot. Returns the sequence of its newest commit.
  @discardableResult
  private func install(at target: String) throws -> UInt64 {
    guard let snapshot = try log.newestSnapshot() else { throw noSnapshot }
    var failure: (any Error)?
    do throws(StoreError) {
      try StoreCreation.install(at: target) { (temporary) throws(StoreError) in
        do { try fetch(snapshot, to: temporary) } catch {
          failure = error
          throw .closed
        }
      }
    } catch {
      throw failure ?? error
    }
    return snapshot.sequence
  }

  private func fetch(_ snapshot: CommitLogSnapshot, to file: String) throws {
    try log.fetch(snapshot, to: URL(filePath: file))
    let fetched = SharedStore(file, client)
    try fetched.withFile { file in
      guard file.id == snapshot.store, let found = try fetched.position(of: file),
        found.isComplete, found.position.sequence == snapshot.sequence,
        found.position.chain.bits == snapshot.digest.bits
      else {
        throw ArborError(
          .corrupted,
          "The snapshot of commit \(snapshot.sequence) in the log \(log.name) differs from what "
            + "was published. Publish another snapshot from an open store.")
      }
      try file.synchronize()
    }
  }

  // MARK: Forks

  /// Renames a file that has diverged from the log, and throws an error that lists the commits only
  /// it contains.
  private func keepFork() throws -> Never {
    let (common, last, commits) = try withFile { file in
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      let points = try snapshot.position().map { $0.earlier + [$0.newest] } ?? []
      let common = try points.last { (point) throws(ArborError) in
        try relation(of: point) == .followed
      }
      let since = common?.sequence ?? points.first?.sequence ?? 0
      var commits: [ArborError] = []
      if case .entries(let entries) = try snapshot.history(after: since) {
        commits = entries.map { Self.lost($0, file) }
      }
      return (common?.sequence, snapshot.sequence, commits)
    }
    let kept = try Self.setAside(path, last)
    let lost = common.map { $0 + 1 == last ? "commit \(last)" : "commits \($0 + 1) to \(last)" }
    var error = ArborError(
      .forked,
      "The log \(log.name) doesn't have the store's \(lost ?? "last commits, up to \(last)"): the "
        + "server has lost these commits. The store was kept as \(kept). Reopen the original path "
        + "to rebuild the store from the log, and copy what you need from the kept store.")
    error.violations = commits
    throw error
  }

  private static func lost(_ entry: HistoryEntry, _ file: StoreEngine) -> ArborError {
    let author = entry.author.map { " by \($0)" } ?? ""
    let count = entry.changes.count
    return ArborError(
      .forked,
      "Commit \(entry.sequence)\(author) of \(entry.date.formatted(.iso8601)) changed "
        + "\(count == 1 ? "1 object" : "\(count) objects") and is not in the log."
    ).with(objectID: entry.changes.first.map { file.objectID($0.number) })
  }

  private static func setAside(_ path: String, _ sequence: UInt64) throws -> String {
    var kept = "\(path).forked-\(sequence)"
    var number = 2
    while FileManager.default.fileExists(atPath: kept) {
      kept = "\(path).forked-\(sequence)-\(number)"
      number += 1
    }
    try StoreFiles.move(path, to: kept)
    return kept
  }
}
