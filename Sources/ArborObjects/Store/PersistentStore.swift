internal import ArborLocks
public import ArborModel
internal import ArborStore
public import Foundation

/// One opened store: its file, its model, its writer.
///
/// Any number of contexts work on a store, in any tasks and threads; servers keep one and call
/// ``perform(retries:_:)`` per request. Opening the file again in the same process, under whatever
/// spelling of its path, shares what is open.
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
/// - ``perform(retries:_:)``
/// - ``performBackground(retries:_:)``
/// - ``performBackgroundAndWait(retries:_:)``
/// ### News
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
  /// Numbers for the application that are never given out twice.
  public let uniqueIDs: UniqueIDs
  let background: BackgroundContext
  let news: StoreObservers
  /// Who has to run bodies again and again because of others.
  let contention = Contention()
  /// What is told of queries; nil for nothing.
  let watch: QueryWatch?
  /// Who looks for readers that pin many pages; nil for nobody.
  let longReaders: LongReaderLog?
  /// What is told of commits; nil for nothing.
  let instrument: StoreInstrument?
  /// Whose rules localized comparisons follow; nil for the process's locale.
  let locale: Locale?
  /// The bodies that run in contexts of the store's own making.
  let bodies = RunningBodies()
  let openState = OpenState()
  private let compactsWhenClosed: Bool
  private let classes: Lock<BoundClasses>
  private let logLink = Lock<LogLink?>(nil)

  /// Opens a store with a model, or makes one where none exists.
  ///
  /// - Parameters:
  ///   - model: What the store keeps. A file of another model is treated as `options` say.
  ///   - location: The file, whose folder has to exist, or memory.
  ///   - options: How it is opened.
  ///   - classes: The typed classes of the model's entities. One that is left out is bound when it
  ///     is used for the first time.
  /// - Throws: ``ArborError``, always before anything was changed: `invalidModel`, `modelMismatch`,
  ///   `notAStore`, `corrupted`, `formatTooNew`, `unsupportedEngine`, `readOnly`, `inUse`,
  ///   `diskFull`, `inputOutput`; `invalidArgument` for a URL or path that no file has.
  public convenience init(
    model: ManagedObjectModel, at location: StoreLocation, options: StoreOptions = .init(),
    classes: [ManagedObject.Type] = []
  ) throws(ArborError) {
    try self.init(try options.open(location, model: model), options, classes: classes)
  }

  /// Opens a store with the model that typed classes describe.
  ///
  /// - Throws: ``ArborError`` as with a model.
  public convenience init(
    for classes: [ManagedObject.Type], at location: StoreLocation, options: StoreOptions = .init()
  ) throws(ArborError) {
    // The store checks the model where it is another than the file's.
    let model = try ManagedObjectModel(describedBy: classes)
    try self.init(try options.open(location, model: model), options, classes: classes)
    DescribedClasses.remember(classes, of: self.model)
  }

  /// Opens an existing store with the model inside it.
  ///
  /// - Throws: ``ArborError`` as with a model; `fileUnreadable` or `notAStore` where there is no
  ///   store.
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

  /// The store's identity, which every ID of its objects carries.
  public var id: UUID { engine.id }

  /// What the store keeps.
  public var model: ManagedObjectModel { engine.schema.model }

  /// The file; nil for a store in memory.
  public var url: URL? { engine.path.map { URL(filePath: $0) } }

  /// Whether the store may only be read.
  public var isReadOnly: Bool { engine.isReadOnly }

  /// Makes a context, to be used by the code that runs it.
  public func makeContext() -> sending ManagedObjectContext { ManagedObjectContext(self) }

  /// The identity of the object of an entity with a number, which need not exist.
  ///
  /// - Throws: ``ArborError`` `unknownName` for an entity that the model does not have.
  public func objectID(_ entityName: String, number: UInt64) throws(ArborError) -> ObjectID {
    _ = try engine.schema.knownEntity(named: entityName)
    return ObjectID(storeID: id, entityName: entityName, number: number)
  }

  /// The store's indexes with their sizes and how often fetches have used them, by entity and name.
  ///
  /// - Complexity: Linear in the number of indexes, of each of which up to 256 pages are looked at.
  /// - Throws: ``ArborError`` `closed`, `modelChanged`, `inputOutput`.
  public func indexes() throws(ArborError) -> [IndexStatistics] {
    try requireOpen()
    return try onSnapshot { snapshot throws(StoreError) in try snapshot.indexes() }
  }

  /// Checks the whole store: every record, index entry and link against each other.
  ///
  /// Takes time in proportion to the store; others may read and write meanwhile.
  ///
  /// - Throws: ``ArborError`` `corrupted` with the problems as violations, a thousand at most. A
  ///   damaged page is the only one, since nothing else is read then; commits are refused behind
  ///   it. Else what kept the check from reading.
  public func check() throws(ArborError) {
    let report = try whileOpen(engine.check())
    guard !report.isSound else { return }
    var error = ArborError(
      .corrupted, "The store has \(report.problems.count) problems. \(ArborError.damageRemedy)")
    error.violations = report.problems.map { problem in
      ArborError(.corrupted, problem.description).with(
        entity: problem.entity, objectID: problem.object.map(engine.objectID))
    }
    throw error
  }

  /// Removes all objects in one transaction. Numbers and unique IDs go on counting, so no ID of a
  /// removed object is ever given to another. The way back to a former model goes too.
  ///
  /// - Throws: ``ArborError``; nothing is removed then.
  public func purge() throws(ArborError) {
    let former = try whileOpen(StagedReversal.former(of: engine))
    try engine.reporting(engine.purge())
    former?.removeFormer()
  }

  /// Whether a commit has left a mark; see `ManagedObjectContext.commit(marking:)`.
  package func hasMark(_ mark: String) throws(ArborError) -> Bool {
    try whileOpen(engine.metadata(mark)) != nil
  }

  /// Ends this use of the file.
  ///
  /// Every throwing operation of the store and of its contexts throws `closed` from then on, a
  /// commit without changes too. What does not throw — reading a property, inserting an object of
  /// a class, deleting one, a rollback — goes on in memory: objects keep the values they hold, and
  /// the context's next throwing operation says that the store is closed.
  ///
  /// A store that follows or shares a log waits for the threads that look at it, for as long as the
  /// log's time-outs at most, so that the program can end afterwards.
  public func close() {
    endLink {
      if openState.end() { engine.close(compacting: compactsWhenClosed) }
      news.end()
    }
  }

  /// Runs `body` while the store no longer looks at its log, and waits for the log's own threads.
  private func endLink(_ body: () -> Void) {
    let link = link
    if let link { engine.whileWaiting { link.watcher.end() } }
    body()
    link?.waitUntilIdle()
  }

  /// Whether the store has been closed. Others may still have the file open.
  public var isClosed: Bool { openState.isClosed }

  /// Closes the store, as ``close()`` does, and removes its files: the store, its lock file, and
  /// what migrations keep beside it or have left.
  ///
  /// - Throws: ``ArborError`` `inUse` where something else has the file open, or migrates it;
  ///   nothing is removed then. `closed` where the store is closed already.
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

  /// What work of the store layer gives where the store is open.
  func whileOpen<R>(_ work: @autoclosure () throws(StoreError) -> R) throws(ArborError) -> R {
    try requireOpen()
    return try engine.reporting(work())
  }

  /// Reads of the newest commit.
  func onSnapshot<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(ArborError) -> R {
    let snapshot = try engine.reporting(engine.snapshot())
    defer { snapshot.close() }
    return try engine.reporting(body(snapshot))
  }

  /// The log that the store follows or shares.
  var link: LogLink? { logLink.withLock { $0 } }

  func link(_ link: LogLink) { logLink.withLock { $0 = link } }

  var boundClasses: BoundClasses { classes.withLock { $0 } }

  /// The binding of a class, which represents its entity from now on, and the subentities that have
  /// no class of their own.
  func bind(_ objectClass: ManagedObject.Type) throws(ArborError) -> EntityBinding {
    let binder = ClassBinder(schema: engine.schema, storeID: engine.id)
    let entity = try binder.entity(of: objectClass)
    return try classes.withLock { classes in
      Result { () throws(ArborError) in try classes.bind(objectClass, to: entity, binder) }
    }.get()
  }
}
