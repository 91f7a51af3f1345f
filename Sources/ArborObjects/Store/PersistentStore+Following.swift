public import ArborLog
public import ArborModel
internal import ArborStore

/// How far a store has the log that it follows.
public struct FollowerStatus: Sendable {
  /// The log.
  public let log: FolderLog
  /// The newest commit of the log that was seen.
  public let newest: UInt64
  /// The newest commit that the store has.
  public let sequence: UInt64
  /// What keeps the store from going on; nil while it does. Where it passes by itself, such as a
  /// folder that cannot be read, the store goes on the next time it looks.
  public let problem: ArborError?

  /// How many commits the store is behind what was seen of the log.
  public var lag: UInt64 { newest > sequence ? newest - sequence : 0 }
}

extension PersistentStore {
  /// Opens a copy of another store that follows its log: everything is read at local speed, and
  /// what is committed there comes here as soon as it is backed up to the log.
  ///
  /// The file is made from the log where none exists, with the model of the log's store. From
  /// then on the store looks at the folder again and again; contexts, results and ``changes`` hear
  /// of what comes as of any other commit. Nothing else can be written to it: commits throw
  /// `readOnly`.
  ///
  /// Where the log goes on in a way that an open store cannot take over — its model has changed —
  /// reading goes on with what is there, and ``following`` says so; opened again, the store is made
  /// anew from the newest snapshot. Opened without a log, it is an ordinary store, and once it has
  /// commits of its own it can follow no more.
  ///
  /// ```swift
  /// let replica = try PersistentStore(
  ///   following: FolderLog(URL(filePath: "/mnt/backups/staff")), at: .path("staff.arbor"))
  /// ```
  ///
  /// - Parameters:
  ///   - log: The log. It is only read.
  ///   - location: The file, which is only ever this log's follower; memory is refused.
  ///   - options: How it is opened; migration and reading only are left out of account.
  ///   - classes: The typed classes of the model's entities.
  ///   - interval: How often to look at the log. A look reads a folder's names and the last
  ///     segment.
  /// - Throws: ``ArborError`` `fileUnreadable` where there is no log; `invalidArgument` where the
  ///   file does not follow it; `conflict` where the file has commits of its own; `corrupted`,
  ///   `diskFull`, `inUse`, `inputOutput`.
  public convenience init(
    following log: FolderLog, at location: StoreLocation, options: StoreOptions = .init(),
    classes: [ManagedObject.Type] = [], every interval: Duration = .milliseconds(200)
  ) throws(ArborError) {
    guard case .file(let path) = try location.stored else {
      throw ArborError(.invalidArgument, "An in-memory store cannot follow a log. Use a file.")
    }
    try Self.logging(nil) { try LogFollower.prepare(path, following: log) }
    var options = options
    options.isReadOnly = false
    options.isImmutable = false
    options.migration = .refuse
    try self.init(at: location, options: options, classes: classes)
    do throws(ArborError) {
      let follower = try Self.logging(engine) { try LogFollower(log, engine) }
      link(.folder(log, LogWatcher(follower, engine, every: interval)))
    } catch {
      close()
      throw error
    }
  }

  /// How far the store has the log that it follows; nil where it follows none.
  public var following: FollowerStatus? {
    guard case .folder(let log, let watcher)? = link else { return nil }
    let progress = watcher.progress
    return FollowerStatus(
      log: log, newest: progress.newest, sequence: engine.lastSequence, problem: progress.problem)
  }

  /// The sequence of the newest commit that the store has.
  ///
  /// After a commit of this process it is that one's or a later one's. Given to another process
  /// with a store of the same log, as in a header, it says what ``catchUp(through:within:)`` has to
  /// wait for there.
  public var sequence: UInt64 { engine.lastSequence }

  /// Waits until the store has a commit of its log, looking at it meanwhile.
  ///
  /// - Parameters:
  ///   - sequence: The commit, as ``sequence`` gave it where it was made.
  ///   - bound: How long to wait.
  /// - Throws: ``ArborError`` `deadlineExceeded`, `cancelled`; `notAllowed` where the store follows
  ///   no log; and as ``catchUp()`` where the log cannot be read at the end.
  public func catchUp(
    through sequence: UInt64, within bound: Duration = .seconds(10)
  ) async throws(ArborError) {
    let end = ContinuousClock.now + bound
    var pause = Duration.milliseconds(1)
    while engine.lastSequence < sequence {
      try requireOpen()
      guard let link else {
        throw ArborError(.notAllowed, "The store doesn't follow a log. Open it with one.")
      }
      if let problem = await link.watcher.lookSoon(), ContinuousClock.now >= end { throw problem }
      if engine.lastSequence >= sequence { return }
      guard ContinuousClock.now < end else {
        throw ArborError(
          .deadlineExceeded,
          "Timed out waiting for commit \(sequence). The store has caught up to commit "
            + "\(engine.lastSequence).")
      }
      do { try await Task.sleep(for: pause) } catch {
        throw ArborError(
          .cancelled,
          "The task was cancelled before the store caught up with its log.")
      }
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  /// Brings the store up to what its log has now, without waiting for the next look at it: what is
  /// read afterwards is at least as new as everything that was committed before the call.
  ///
  /// - Returns: The newest commit of the log, which the store has then.
  /// - Throws: ``ArborError`` `notAllowed` where the store follows none; `modelChanged`,
  ///   `conflict`, `corrupted`, `inputOutput`, `closed` as ``FollowerStatus/problem``.
  @discardableResult
  public func catchUp() throws(ArborError) -> UInt64 {
    try requireOpen()
    guard let link else {
      throw ArborError(.notAllowed, "The store doesn't follow a log. Open it with one.")
    }
    return try link.watcher.catchUp()
  }
}
