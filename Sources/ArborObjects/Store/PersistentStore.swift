public import ArborFoundation
internal import ArborLocks
public import ArborModel
internal import ArborStore

/// An open store: its file, its model and its writer.
///
/// A store can have any number of contexts, in any tasks and threads. A server keeps one store and
/// calls ``perform(deadline:maximumRetries:_:)`` per request. Opening the same file again in a
/// process, even under another spelling of its path, shares the underlying engine.
///
/// ```swift
/// let store = try PersistentStore(for: [Company.self, Employee.self], at: .file(url))
/// let context = store.makeContext()
/// let id = try await store.perform { context in
///   context.insert(Employee.self).objectID
/// }
/// ```
///
/// ## Topics
/// ### Opening
/// - ``init(model:at:options:classes:)``
/// - ``init(for:at:options:)``
/// - ``init(at:options:classes:)``
/// ### Contexts
/// - ``makeContext()``
/// - ``perform(deadline:maximumRetries:_:)``
/// - ``performBackground(deadline:maximumRetries:_:)``
/// - ``performBackgroundAndWait(deadline:maximumRetries:_:)``
/// ### Observing changes
/// - ``changes``
/// ### Maintenance
/// - ``indexes()``
/// - ``check()``
/// - ``spaceUsage()``
/// - ``readers()``
/// - ``clearStaleReaders()``
/// - ``copy(to:compacting:)``
/// - ``compact()``
/// - ``purge()``
/// - ``isClosed``
/// - ``drain(within:)``
/// - ``close()``
/// - ``destroy()``
public final class PersistentStore: Sendable {
  let engine: StoreEngine
  /// The compiled model.
  package var schema: ModelSchema { engine.schema }
  /// Unique numbers for the application.
  public let uniqueIDs: UniqueIDs
  let background: BackgroundContext
  let news: StoreObservers
  /// The observer of queries, or `nil` if there is neither a threshold nor an instrument.
  let watch: QueryWatch?
  /// The logger of readers that pin many pages, or `nil` if there is no threshold.
  let longReaders: LongReaderLog?
  /// The instrument that observes commits, or `nil`.
  let instrument: StoreInstrument?
  /// The locale for localized comparisons, or `nil` for the process's locale.
  let locale: Locale?
  /// A counter of the closures that run in contexts created by the store.
  let bodies = RunningBodies()
  let openState = OpenState()
  private let compactsWhenClosed: Bool
  private let classes: Lock<BoundClasses>
  private let logLink = Lock<LogLink?>(nil)

  /// Opens a store with a model, or creates one if it doesn't exist.
  ///
  /// - Parameters:
  ///   - model: The model of the store. A file with another model is handled according to
  ///     `options`.
  ///   - location: The file, in an existing folder, or memory.
  ///   - options: Options for opening the store.
  ///   - classes: The typed classes of the model's entities. Other classes are bound at first use.
  /// - Throws: ``ArborError``, always before anything is changed: `invalidModel`, `modelMismatch`,
  ///   `notAStore`, `corrupted`, `formatTooNew`, `unsupportedEngine`, `readOnly`, `inUse`,
  ///   `diskFull`, `inputOutput`; `invalidArgument` for a URL or path that isn't a valid file
  ///   location.
  public convenience init(
    model: ManagedObjectModel, at location: StoreLocation, options: StoreOptions = .init(),
    classes: [ManagedObject.Type] = []
  ) throws(ArborError) {
    try self.init(try options.open(location, model: model), options, classes: classes)
  }

  /// Opens a store with the model described by typed classes.
  ///
  /// - Throws: The same errors as the initializer that takes a model.
  public convenience init(
    for classes: [ManagedObject.Type], at location: StoreLocation, options: StoreOptions = .init()
  ) throws(ArborError) {
    // The store validates the model if it differs from the file's.
    let model = try ManagedObjectModel(describedBy: classes)
    try self.init(try options.open(location, model: model), options, classes: classes)
    DescribedClasses.remember(classes, of: self.model)
  }

  /// Opens an existing store with the model stored in it.
  ///
  /// - Throws: The same errors as the initializer that takes a model; `fileUnreadable` or
  ///   `notAStore` if there is no store.
  public convenience init(
    at location: StoreLocation, options: StoreOptions = .init(), classes: [ManagedObject.Type] = []
  ) throws(ArborError) {
    try self.init(try options.open(location, model: nil), options, classes: classes)
  }

  private init(
    _ engine: StoreEngine, _ options: StoreOptions, classes: [ManagedObject.Type]
  ) throws(ArborError) {
    let binder = ClassBinder(schema: engine.schema, storeID: engine.id)
    do throws(ArborError) {
      self.classes = Lock(
        BoundClasses(
          try binder.bindings(for: DescribedClasses.complete(classes, for: engine.schema.model))))
    } catch {
      engine.close()
      throw error
    }
    self.engine = engine
    watch = SlowQueryLog.watch(
      slowerThan: options.slowQueryThreshold, options.instrument?.queryObserver(of: engine))
    longReaders = options.pinnedPagesThreshold.map { LongReaderLog(limit: $0) }
    instrument = options.instrument
    locale = options.locale
    compactsWhenClosed = options.compactsWhenClosed
    uniqueIDs = UniqueIDs(engine, openState)
    background = BackgroundContext()
    news = StoreObservers(engine)
    logDamage()
  }

  deinit { close() }

  /// The store's identifier, which is part of all its object IDs.
  public var id: UUID { engine.id }

  /// The model of the store.
  public var model: ManagedObjectModel { engine.schema.model }

  /// The store's file, or `nil` for an in-memory store.
  public var url: URL? { engine.path.map { URL(filePath: $0) } }

  /// A Boolean value that indicates whether the store is read-only.
  public var isReadOnly: Bool { engine.isReadOnly }

  /// Creates a context for use by the calling code.
  public func makeContext() -> sending ManagedObjectContext { ManagedObjectContext(self) }

  /// Returns the ID of an object with the given entity and number. The object doesn't have to
  /// exist.
  ///
  /// - Throws: ``ArborError`` `unknownName` if the model has no such entity.
  public func objectID(_ entityName: String, number: UInt64) throws(ArborError) -> ObjectID {
    _ = try engine.schema.knownEntity(named: entityName)
    return ObjectID(storeID: id, entityName: entityName, number: number)
  }

  /// Returns the store's indexes, sorted by entity and name, with their sizes and the number of
  /// times that fetches have used them.
  ///
  /// - Throws: ``ArborError`` `closed`, `modelChanged`, `inputOutput`.
  /// - Complexity: Linear in the number of indexes, for each of which up to 256 pages are examined.
  public func indexes() throws(ArborError) -> [IndexStatistics] {
    try requireOpen()
    return try onSnapshot { snapshot throws(StoreError) in try snapshot.indexes() }
  }

  /// Waits until every commit that can be read now is durable, including those of other processes.
  ///
  /// A commit is durable when it returns. With the durability ``StoreOptions/Durability/full``,
  /// others can read its objects a moment earlier, while it waits for the disk. Call this method
  /// before you act outside of the machine on something that you have only read:
  ///
  /// ```swift
  /// let orders = try context.fetch(paid)
  /// try store.waitUntilDurable()
  /// for order in orders { try await ship(order) }
  /// ```
  ///
  /// Backups, copies and followers wait by themselves. Returns at once unless a commit is being
  /// written. Commits of the durability ``StoreOptions/Durability/relaxed`` are not waited for.
  ///
  /// - Throws: ``ArborError`` `closed`; after a minute, `inputOutput` if the last commit could not be
  ///   written durably, and `busy` if the process that makes the last commit is stopped.
  public func waitUntilDurable() throws(ArborError) {
    try whileOpen(engine.waitUntilDurable())
  }

  /// Checks the whole store by comparing all records, index entries and links with each other.
  ///
  /// The time is proportional to the size of the store. The store can be read and written in the
  /// meantime.
  ///
  /// - Throws: ``ArborError`` `corrupted` with up to 1000 problems as violations. A damaged page is
  ///   reported alone, because the check stops there; the store then refuses commits. `validation`
  ///   if the only problems are objects whose mandatory relationships have no target, or whose
  ///   relationships have too few or too many members. Other errors if the store cannot be read.
  public func check() throws(ArborError) {
    let report = try whileOpen(engine.check())
    guard !report.isSound else { return }
    var error =
      report.breaksOnlyRules
      ? ArborError(
        .validation,
        "The store has \(report.problemCount): objects violate the model's rules. Correct the "
          + "objects and commit them.")
      : ArborError(
        .corrupted, "The store has \(report.problemCount). \(ArborError.damageRemedy)")
    error.violations = report.problems.map { problem in
      ArborError(problem.kind == .brokenRule ? .validation : .corrupted, problem.description).with(
        entity: problem.entity, objectID: problem.object.map(engine.objectID))
    }
    throw error
  }

  /// Removes all objects in one transaction. Object numbers and unique IDs are not reset, so the ID
  /// of a removed object is never reused. A previous model version kept for reverting a migration
  /// is removed, too.
  ///
  /// - Throws: ``ArborError``. Nothing is removed in that case.
  public func purge() throws(ArborError) {
    let former = try whileOpen(StagedReversal.former(of: engine))
    try engine.reporting(engine.purge())
    former?.removeFormer()
  }

  /// Returns whether a commit has written a marker. See
  /// `ManagedObjectContext.commit(marking:metadata:)`.
  package func hasMark(_ mark: String) throws(ArborError) -> Bool {
    try whileOpen(engine.metadata(mark)) != nil
  }

  /// Closes the store.
  ///
  /// From then on every throwing operation of the store and its contexts throws `closed`, even a
  /// commit without changes. Nonthrowing operations — reading a property, inserting an object of a
  /// class, deleting one, a rollback — continue in memory: objects keep their loaded values, and
  /// the context's next throwing operation reports that the store is closed.
  ///
  /// A store that follows or shares a log waits for the threads that watch the log, at most for the
  /// log's timeouts, so that the program can exit afterwards.
  public func close() {
    endLink {
      if openState.end() { engine.close(compacting: compactsWhenClosed) }
      news.end()
    }
  }

  /// Stops watching the log, runs `body` and waits for the log's own threads.
  private func endLink(_ body: () -> Void) {
    let link = link
    if let link { engine.whileWaiting { link.watcher.end() } }
    body()
    link?.waitUntilIdle()
  }

  /// A Boolean value that indicates whether the store has been closed. The file may still be open
  /// elsewhere.
  public var isClosed: Bool { openState.isClosed }

  /// Closes the store, like ``close()``, and removes its files: the store, its lock file, and files
  /// kept or left by migrations.
  ///
  /// - Throws: ``ArborError`` `inUse` if the file is open elsewhere or being migrated; nothing is
  ///   removed in that case. `closed` if the store is already closed.
  public func destroy() throws(ArborError) {
    try whileOpen(engine.destroy())
    endLink {
      openState.end()
      news.end()
    }
  }

  @inline(__always)
  func requireOpen() throws(ArborError) {
    if isClosed { throw ArborError(StoreError.closed, in: engine) }
  }

  /// Returns the result of an operation of the store layer, after checking that the store is open.
  func whileOpen<R>(_ work: @autoclosure () throws(StoreError) -> R) throws(ArborError) -> R {
    try requireOpen()
    return try engine.reporting(work())
  }

  /// Runs `body` on a snapshot of the newest commit.
  func onSnapshot<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(ArborError) -> R {
    let snapshot = try engine.reporting(engine.snapshot())
    defer { snapshot.close() }
    return try engine.reporting(body(snapshot))
  }

  /// The log that the store follows or shares, or `nil`.
  var link: LogLink? { logLink.withLock { $0 } }

  func link(_ link: LogLink) { logLink.withLock { $0 = link } }

  var boundClasses: BoundClasses { classes.withLock { $0 } }

  /// Binds a class, and returns the classes of the store. From now on the class represents its entity,
  /// as well as any subentities that have no class of their own.
  func bind(_ objectClass: ManagedObject.Type) throws(ArborError) -> BoundClasses {
    let binder = ClassBinder(schema: engine.schema, storeID: engine.id)
    let entity = try binder.entity(of: objectClass)
    return try classes.withLock { classes in
      Result { () throws(ArborError) in
        classes = try classes.adding(objectClass, for: entity, binder)
        return classes
      }
    }.get()
  }
}
