public import ArborLog
public import ArborModel
internal import ArborStore
public import Foundation

extension PersistentStore {
  /// Opens a store that shares its commits with others, on other machines, through a log.
  ///
  /// Everything is read from the file, at local speed. A commit is in the log before it counts:
  /// it is validated behind everything that others have added, so that uniqueness, delete rules and
  /// merge policies hold as they do between processes of one machine, and costs one round trip to
  /// the log. What others commit comes here by itself; contexts, results and ``changes`` hear of it
  /// as of any other commit.
  ///
  /// Where there is no log yet, the store begins it: the file, which is made where none exists,
  /// becomes its first snapshot. Where there is a log and no file, the file is made from the newest
  /// snapshot and what follows it. A process that opens the file without the log makes it a store
  /// of its own, which cannot go back once it has commits of its own.
  ///
  /// While the log cannot be reached, reading goes on, and commits throw `logUnavailable` or
  /// `outcomeUnknown`; ``sharing`` says so.
  ///
  /// ```swift
  /// let store = try PersistentStore(
  ///   model: model, at: .path("catalogue.arbor"),
  ///   following: PostgresLog("host=a,b,c dbname=arbor"))
  /// ```
  ///
  /// Of several processes and threads that open one file at once, each waits until the one before
  /// has brought it up to the log, and to its model where that differs.
  ///
  /// A model that differs from the log's migrates the store, in a copy that takes the place of the
  /// present one in the log too: others who are open go on reading, and say that they have to be
  /// opened with the new model; opened again with it, they take the migrated store over. A program
  /// with the former model opens its file as it is, for reading.
  ///
  /// Where the server has lost commits that the file has, as after failing over to a server that
  /// did not have them, opening throws `forked` once: it keeps the file under another name, lists
  /// the commits, and makes the file anew from the log the next time.
  ///
  /// - Parameters:
  ///   - model: What the store keeps.
  ///   - location: The file, whose folder has to exist; memory is refused. Each machine has its
  ///     own; processes of one machine can use one, each with the log.
  ///   - log: The log.
  ///   - options: How it is opened. Whatever they say of durability, commits do not wait for the
  ///     disk: a loss of power may damage the file, which is verified as it is opened afterwards,
  ///     kept under another name where it is not whole, and made anew from the log.
  ///   - classes: The typed classes of the model's entities.
  ///   - interval: How often to look at the log where it cannot tell of news by itself.
  /// - Throws: ``ArborError`` `logUnavailable` where the log cannot be reached and there is no file
  ///   that shares it; `invalidArgument` where the file is another store; `forked`,
  ///   `modelMismatch`, `modelChanged`, `outcomeUnknown`, and as without a log.
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

  /// Opens a store that shares its commits through a log, with the model that typed classes
  /// describe.
  ///
  /// - Throws: ``ArborError`` as with a model.
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

  /// Opens a store that shares its commits through a log, with the model inside the log's store.
  ///
  /// - Throws: ``ArborError`` as with a model; `fileUnreadable` where there is neither a log nor a
  ///   file.
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

  /// Begins a log with the open store, and shares it from then on, as if it had been opened so.
  ///
  /// A copy of the store becomes the log's first snapshot; IDs stay what they are, and reading and
  /// writing go on while it is made and added. Other processes that have the file open close it
  /// before, and open it with the log.
  ///
  /// ```swift
  /// try store.share(through: PostgresLog("host=a,b,c dbname=arbor"))
  /// ```
  ///
  /// - Parameters:
  ///   - log: A log that nobody has begun.
  ///   - interval: As for opening.
  /// - Throws: ``ArborError`` `notAllowed` where there is a log already, or the store has one;
  ///   `invalidArgument` for a store in memory; `logUnavailable`, `diskFull`, `readOnly`, `closed`,
  ///   `inputOutput`. The store goes on by itself then.
  public func share(
    through log: any CommitLog, every interval: Duration = .milliseconds(100)
  ) throws(ArborError) {
    try requireOpen()
    guard link == nil else {
      throw ArborError(.notAllowed, "The store already follows a log. Open it without one.")
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

  /// How far the store has the log that it shares; nil where it shares none.
  public var sharing: SharingStatus? {
    guard case .shared(let client, let watcher)? = link else { return nil }
    let (counts, progress) = (client.counts, watcher.progress)
    return SharingStatus(
      log: client.log, newest: max(counts.newest, progress.newest), sequence: engine.lastSequence,
      appends: counts.appends, appendedCommits: counts.appendedCommits, lostRaces: counts.lostRaces,
      takenOver: counts.takenOver, unknownOutcomes: counts.unknown, problem: progress.problem)
  }

  /// What became of commits that ended with `outcomeUnknown`.
  ///
  /// - Parameter batch: ``ArborError/batch`` of that error: one of the last hundred commits by this
  ///   store since it was opened.
  /// - Throws: ``ArborError`` `logUnavailable`; `notAllowed` where the store shares no log.
  public func outcome(of batch: UUID) throws(ArborError) -> SharingStatus.CommitOutcome {
    switch try sharedClient().outcome(of: batch) {
    case true?: .committed
    case false?: .notCommitted
    case nil: .unknown
    }
  }

  /// Adds a snapshot of the store to the log that it shares: copies on other machines begin with
  /// the newest one, and what is before it can be removed with `CommitLog.trim(through:)`.
  ///
  /// Reading and writing go on meanwhile.
  ///
  /// - Returns: The sequence of the newest commit in it.
  /// - Complexity: Linear in the size of the store; some megabytes of memory beside its pages.
  /// - Throws: ``ArborError`` `logUnavailable`, `diskFull`; `notAllowed` where the store shares no
  ///   log; `closed`, `inputOutput`.
  @discardableResult
  public func publishSnapshot() throws(ArborError) -> UInt64 {
    let client = try sharedClient()
    return try logging { try SharedStore(engine.path ?? "", client).publish(engine) }
  }

  private func sharedClient() throws(ArborError) -> LogClient {
    try requireOpen()
    guard case .shared(let client, _)? = link else {
      throw ArborError(.notAllowed, "The store doesn't share a log. Open it with one.")
    }
    return client
  }
}
