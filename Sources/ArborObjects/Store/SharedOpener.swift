internal import ArborLog
internal import ArborModel
internal import ArborStore

/// Brings a file to where it can be opened as a store that shares a log.
struct SharedOpener {
  let client: LogClient
  let location: StoreLocation
  /// How the file is opened once it is prepared.
  let options: StoreOptions
  private let path: String
  private let model: ManagedObjectModel?
  private let classes: [ManagedObject.Type]
  /// As they were given.
  private let given: StoreOptions
  /// Keeps other processes and threads from preparing the file at the same time.
  private let lock: StoreLock

  /// Others may change the log or the file between two steps.
  private static let mostAttempts = 16

  init(
    _ log: any CommitLog, _ location: StoreLocation, _ model: ManagedObjectModel?,
    _ options: StoreOptions, _ classes: [ManagedObject.Type]
  ) throws(ArborError) {
    guard case .file(let path) = try location.stored else {
      throw ArborError(.invalidArgument, "An in-memory store cannot share a log. Use a file.")
    }
    client = LogClient(log)
    self.path = path
    self.location = location
    self.model = model
    self.classes = classes
    given = options
    var options = options
    options.isReadOnly = false
    options.isImmutable = false
    options.migration = .refuse
    options.migrationSteps = []
    options.modelVersions = []
    options.siblingVersions = []
    options.migrationPlan = nil
    options.onMismatch = .fail
    options.onCorruption = .fail
    // The log is what survives; what this file loses with its machine comes from there. Commits
    // that the log has do not even wait for the data.
    options.durability = .relaxed
    self.options = options
    let file = StoreLock.canonicalPath(path)
    lock = try storing(StoreLock(file, suffix: "-sharing-lock", waits: true))
  }

  /// Lets others bring the file up to the log, or to another model: the store shares the log now.
  func end() { lock.end() }

  /// - Returns: What keeps the store from following for now.
  func prepare() throws(ArborError) -> ArborError? {
    let shared = SharedStore(path, client)
    return try PersistentStore.logging(nil) {
      for _ in 0..<Self.mostAttempts {
        switch try shared.prepare(for: model?.fingerprint) {
        case .ready: return nil
        case .waiting(let reason): return reason
        case .noLog: try beginLog(shared)
        case .needsMigration: try migrate(shared)
        }
      }
      throw ArborError(
        .conflict,
        "Other processes kept changing the log \(client.log.name) while \(path) was being opened. "
          + "Try again.")
    }
  }

  /// Begins the log with the store at the path.
  ///
  /// Where none exists the log begins with an empty one in memory, and the file is made from the
  /// log: of several machines that do so one is first, and a kill leaves no file that is another
  /// store than the log's.
  private func beginLog(_ shared: SharedStore) throws {
    let isNew = try !StoreFiles.exists(path)
    // Says that there is no store at the path, and nothing of what one would hold.
    if isNew, model == nil { throw StoreError.missing(path: path) }
    let source = isNew ? StoreLocation.inMemory : location
    let engine = try MigratingOpener(try given.opening(source, model: model), given).open()
    defer { engine.close() }
    do {
      try shared.begin(engine)
    } catch StoreError.log(let error) where error.code == .notAllowed {
      // Somebody else's is the log's store.
    }
    engine.endSharing()
  }

  private func migrate(_ shared: SharedStore) throws {
    guard let model else { return }
    var options = given
    options.isReadOnly = false
    options.isImmutable = false
    options.indexBuilds = .beforeOpening
    options.onMismatch = .fail
    options.onCorruption = .fail
    options.durability = .relaxed
    options.compactsWhenClosed = false
    try SharedMigration(shared, to: model, named: "version \(model.versionName)") { path in
      let store = try PersistentStore(
        model: model, at: .path(path), options: options, classes: classes)
      defer { store.close() }
      // The way back would be one without the log.
      try store.confirmMigration()
    }.run()
  }
}
