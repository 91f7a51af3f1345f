public import ArborFoundation
public import ArborLog
public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Opens a store that shares its commits with other machines through a log.
  ///
  /// Everything is read from the local file. A commit takes effect once it is in the log: it is
  /// validated against everything that other machines have appended, so uniqueness, delete rules
  /// and merge policies apply as they do between processes of one machine. It costs one round trip
  /// to the log. Commits of other machines are received automatically; contexts, results and
  /// ``changes`` observe them like any other commit.
  ///
  /// If there is no log yet, the store creates it: the file, which is created if it doesn't exist,
  /// becomes its first snapshot. If there is a log but no file, the file is created from the newest
  /// snapshot and the commits after it. A process that opens the file without the log turns it into
  /// an independent store. Once that store has commits of its own, it can no longer share the log.
  ///
  /// While the log is unreachable, the store can be read, commits throw `logUnavailable` or
  /// `outcomeUnknown`, and ``sharing`` reports the problem.
  ///
  /// ```swift
  /// let store = try PersistentStore(
  ///   model: model, at: .path("catalog.arbor"),
  ///   following: PostgresLog("host=a,b,c dbname=arbor"))
  /// ```
  ///
  /// If several processes or threads open a file at once, each waits until the previous one has
  /// updated it to the state of the log and, if necessary, to the log's model.
  ///
  /// If the model differs from the log's, the store is migrated in a copy, which is also published
  /// in the log as a snapshot. Other machines that have the store open can continue to read it, and
  /// report that it must be reopened with the new model. Once it is reopened, they receive the
  /// migrated store. A program with the old model can open its file for reading.
  ///
  /// If the server has lost commits that are in the file, for example after failing over to a
  /// server that did not have them, opening throws `forked` once: the file is kept under another
  /// name, the commits are listed, and the next opening recreates the file from the log.
  ///
  /// - Parameters:
  ///   - model: The model of the store.
  ///   - location: The file, in an existing folder. In-memory stores are not supported. Each
  ///     machine has its own file. Processes on one machine can use the same file, each with the
  ///     log.
  ///   - log: The log.
  ///   - options: Options for opening the store. Regardless of the durability option, commits don't
  ///     wait for the local disk. After a power loss, the file returns to its last checkpoint when it
  ///     is opened, and the commits after it are applied from the log.
  ///   - classes: The typed classes of the model's entities.
  ///   - interval: The polling interval for logs that cannot send notifications.
  /// - Throws: ``ArborError`` `logUnavailable` if the log is unreachable and there is no file that
  ///   shares it; `invalidArgument` if the file belongs to another store; `forked`,
  ///   `modelMismatch`, `modelChanged`, `outcomeUnknown`, and the errors of opening without a log.
  public convenience init(
    model: ManagedObjectModel, at location: StoreLocation, following log: any CommitLog,
    options: StoreOptions = .init(), classes: [ManagedObject.Type] = [],
    every interval: Duration = .milliseconds(100)
  ) throws(ArborError) {
    let opener = try SharedOpener(log, location, model, options, classes)
    let problem = try opener.prepare()
    try self.init(model: model, at: location, options: opener.options, classes: classes)
    try share(opener.client, readOnly: options.isReadOnly, every: interval, problem)
    opener.end()
  }

  /// Opens a store that shares its commits through a log, with the model described by typed
  /// classes.
  ///
  /// - Throws: The same errors as the initializer that takes a model.
  public convenience init(
    for classes: [ManagedObject.Type], at location: StoreLocation, following log: any CommitLog,
    options: StoreOptions = .init(), every interval: Duration = .milliseconds(100)
  ) throws(ArborError) {
    let model = try ManagedObjectModel(describedBy: classes)
    let opener = try SharedOpener(log, location, model, options, classes)
    let problem = try opener.prepare()
    try self.init(for: classes, at: location, options: opener.options)
    try share(opener.client, readOnly: options.isReadOnly, every: interval, problem)
    opener.end()
  }

  /// Opens a store that shares its commits through a log, with the model of the log's store.
  ///
  /// - Throws: The same errors as the initializer that takes a model; `fileUnreadable` if neither
  ///   the log nor the file exists.
  public convenience init(
    at location: StoreLocation, following log: any CommitLog, options: StoreOptions = .init(),
    classes: [ManagedObject.Type] = [], every interval: Duration = .milliseconds(100)
  ) throws(ArborError) {
    let opener = try SharedOpener(log, location, nil, options, classes)
    let problem = try opener.prepare()
    try self.init(at: location, options: opener.options, classes: classes)
    try share(opener.client, readOnly: options.isReadOnly, every: interval, problem)
    opener.end()
  }

  /// Creates a log from the open store and shares it from then on, as if the store had been opened
  /// that way.
  ///
  /// A copy of the store becomes the log's first snapshot. IDs don't change, and the store can be
  /// read and written in the meantime. Other processes must close the file first and then open it
  /// with the log.
  ///
  /// ```swift
  /// try store.share(through: PostgresLog("host=a,b,c dbname=arbor"))
  /// ```
  ///
  /// - Parameters:
  ///   - log: A log that hasn't been created yet.
  ///   - interval: The polling interval for logs that cannot send notifications.
  /// - Throws: ``ArborError`` `notAllowed` if the log already exists or the store already has one;
  ///   `invalidArgument` for an in-memory store; `logUnavailable`, `diskFull`, `readOnly`,
  ///   `closed`, `inputOutput`. The store remains unshared in that case.
  public func share(
    through log: any CommitLog, every interval: Duration = .milliseconds(100)
  ) throws(ArborError) {
    try requireOpen()
    guard link == nil else {
      throw ArborError(
        .notAllowed,
        "The store already follows a log. Open the store without a log to share it.")
    }
    guard let path = engine.path else {
      throw ArborError(.invalidArgument, "An in-memory store cannot share a log. Use a file.")
    }
    let client = LogClient(log)
    try logging { try SharedStore(path, client).begin(engine) }
    link(.shared(client, LogWatcher(client, engine, every: interval, problem: nil)))
  }

  private func share(
    _ client: LogClient, readOnly: Bool, every interval: Duration, _ problem: ArborError?
  ) throws(ArborError) {
    do throws(ArborError) {
      try logging { try engine.share(through: client, takesOver: problem == nil) }
    } catch {
      close()
      throw error
    }
    if readOnly { engine.beginFollowing() }
    link(.shared(client, LogWatcher(client, engine, every: interval, problem: problem)))
  }

  /// The state of sharing a log, or `nil` if the store doesn't share one.
  public var sharing: SharingStatus? {
    guard case .shared(let client, let watcher)? = link else { return nil }
    let (counts, progress) = (client.counts, watcher.progress)
    return SharingStatus(
      log: client.log, newest: max(counts.newest, progress.newest), sequence: engine.lastSequence,
      appends: counts.appends, appendedCommits: counts.appendedCommits, lostRaces: counts.lostRaces,
      takenOver: counts.takenOver, unknownOutcomes: counts.unknown, problem: progress.problem)
  }

  /// Returns the outcome of commits that failed with `outcomeUnknown`.
  ///
  /// - Parameter batch: The ``ArborError/batch`` of that error. It must be one of the last 100
  ///   batches that this store has committed since it was opened.
  /// - Throws: ``ArborError`` `logUnavailable`; `notAllowed` if the store doesn't share a log.
  public func outcome(of batch: UUID) throws(ArborError) -> SharingStatus.CommitOutcome {
    switch try sharedClient().outcome(of: batch) {
    case true?: .committed
    case false?: .notCommitted
    case nil: .unknown
    }
  }

  /// Adds a snapshot of the store to the shared log. New copies on other machines start with the
  /// newest snapshot, and everything before it can be removed with `CommitLog.trim(through:)`.
  ///
  /// The store can be read and written in the meantime.
  ///
  /// - Returns: The sequence of the newest commit in the snapshot.
  /// - Throws: ``ArborError`` `logUnavailable`, `diskFull`; `notAllowed` if the store doesn't share
  ///   a log; `closed`, `inputOutput`.
  /// - Complexity: Linear in the size of the store. Uses a few megabytes of memory in addition to
  ///   its pages.
  @discardableResult
  public func publishSnapshot() throws(ArborError) -> UInt64 {
    let client = try sharedClient()
    return try logging { try SharedStore(engine.path ?? "", client).publish(engine) }
  }

  private func sharedClient() throws(ArborError) -> LogClient {
    try requireOpen()
    guard case .shared(let client, _)? = link else {
      throw ArborError(.notAllowed, "The store doesn't share a log. Open it with a shared log.")
    }
    return client
  }
}
