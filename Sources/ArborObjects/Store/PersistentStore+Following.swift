public import ArborLog
public import ArborModel
internal import ArborStore

/// The state of a store that follows a log.
public struct FollowerStatus: Sendable {
  /// The log.
  public let log: FolderLog
  /// The sequence of the newest commit seen in the log.
  public let newest: UInt64
  /// The sequence of the newest commit in the store.
  public let sequence: UInt64
  /// The error that prevents the store from following the log, or `nil`. The store recovers by
  /// itself if the problem is temporary, such as an unreadable folder.
  public let problem: ArborError?

  /// The number of commits that were seen in the log but are not yet in the store.
  public var lag: UInt64 { newest > sequence ? newest - sequence : 0 }
}

extension PersistentStore {
  /// Opens a replica of another store by following its log. Everything is read locally, and commits
  /// of the other store are received soon after they have been backed up to the log.
  ///
  /// If the file doesn't exist, it is created from the log, with the model of the log's store. The
  /// store then polls the folder. Contexts, results and ``changes`` receive the commits like any
  /// others. The store cannot be written otherwise: commits throw `readOnly`.
  ///
  /// If the log continues in a way that cannot be applied to an open store, for example because its
  /// model has changed, the existing data remains readable and ``following`` reports the problem.
  /// When the store is opened again, it is recreated from the newest snapshot. A follower that is
  /// opened without a log is an ordinary store. Once it has commits of its own, it can no longer
  /// follow the log.
  ///
  /// ```swift
  /// let replica = try PersistentStore(
  ///   following: FolderLog(URL(filePath: "/mnt/backups/staff")), at: .path("staff.arbor"))
  /// ```
  ///
  /// - Parameters:
  ///   - log: The log. It is only read.
  ///   - location: The file, which may only be used as a follower of this log. In-memory stores are
  ///     not supported.
  ///   - options: Options for opening the store. Migration and read-only options are ignored.
  ///   - classes: The typed classes of the model's entities.
  ///   - interval: The polling interval. Each poll lists the folder and reads the last segment.
  /// - Throws: ``ArborError`` `fileUnreadable` if there is no log; `invalidArgument` if the file
  ///   doesn't follow it; `conflict` if the file has commits of its own; `corrupted`, `diskFull`,
  ///   `inUse`, `inputOutput`.
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

  /// The state of following a log, or `nil` if the store doesn't follow one.
  public var following: FollowerStatus? {
    guard case .folder(let log, let watcher)? = link else { return nil }
    let progress = watcher.progress
    return FollowerStatus(
      log: log, newest: progress.newest, sequence: engine.lastSequence, problem: progress.problem)
  }

  /// The sequence of the newest commit in the store.
  ///
  /// After a commit of this process, it is the sequence of that commit or a later one. Pass it to
  /// another process with a store of the same log, for example in a header, which can then wait for
  /// it with ``catchUp(through:within:)``.
  public var sequence: UInt64 { engine.lastSequence }

  /// Waits until the store has received a commit from its log, polling the log in the meantime.
  ///
  /// - Parameters:
  ///   - sequence: The sequence of the commit, from ``sequence`` of the store that committed it.
  ///   - bound: The maximum time to wait.
  /// - Throws: ``ArborError`` `deadlineExceeded`, `cancelled`; `notAllowed` if the store doesn't
  ///   follow a log; the errors of ``catchUp()`` if the log cannot be read when the time is up.
  public func catchUp(
    through sequence: UInt64, within bound: Duration = .seconds(10)
  ) async throws(ArborError) {
    let end = ContinuousClock.now + bound
    var pause = Duration.milliseconds(1)
    while engine.lastSequence < sequence {
      try requireOpen()
      guard let link else {
        throw ArborError(.notAllowed, "The store doesn't follow a log. Open it with a log.")
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

  /// Updates the store from its log immediately, without waiting for the next poll. Subsequent
  /// reads see everything that was committed before the call.
  ///
  /// - Returns: The sequence of the log's newest commit, which the store now contains.
  /// - Throws: ``ArborError`` `notAllowed` if the store doesn't follow a log; `modelChanged`,
  ///   `conflict`, `corrupted`, `inputOutput`, `closed`; `logUnavailable` or `forked` if it shares
  ///   a log. Errors of the update are also reported by ``FollowerStatus/problem`` or
  ///   ``SharingStatus/problem``.
  @discardableResult
  public func catchUp() throws(ArborError) -> UInt64 {
    try requireOpen()
    guard let link else {
      throw ArborError(.notAllowed, "The store doesn't follow a log. Open it with a log.")
    }
    return try link.watcher.catchUp()
  }
}
