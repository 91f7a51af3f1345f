internal import ArborLog
internal import ArborModel
internal import ArborStore

/// The preparation of a file that is then opened as a store that shares a log.
struct SharedOpener {
  let client: LogClient
  let location: StoreLocation
  /// The options for opening the prepared file.
  let options: StoreOptions
  private let path: String
  private let model: ManagedObjectModel?
  private let classes: [ManagedObject.Type]
  /// The options as given by the caller.
  private let given: StoreOptions
  /// The lock that prevents other processes and threads from preparing the file at the same time.
  private let lock: StoreLock

  /// The maximum number of attempts. Other processes may change the log or the file between two
  /// steps.
  private static let maximumAttempts = 16

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
    // The log is durable, and anything the file loses with its machine is restored from it. Commits
    // that are in the log don't even need to be flushed.
    options.durability = .relaxed
    self.options = options
    let file = StoreLock.canonicalPath(path)
    lock = try reporting(StoreLock(file, suffix: "-sharing-lock", waits: true))
  }

  /// Allows other processes and threads to prepare the file, now that the store shares the log.
  func end() { lock.end() }

  /// - Returns: The reason why the store cannot follow the log for now, or `nil`.
  func prepare() throws(ArborError) -> ArborError? {
    let shared = SharedStore(path, client)
    return try PersistentStore.logging(nil) {
      for _ in 0..<Self.maximumAttempts {
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

  /// Creates the log from the store at the path.
  ///
  /// If there is no store, the log starts with an empty in-memory store, and the file is created
  /// from the log. If several machines do this at once, one of them wins, and a crash never leaves
  /// a file whose store isn't the log's.
  private func beginLog(_ shared: SharedStore) throws {
    let isNew = try !StoreFiles.exists(path)
    // Reports that there is no store at the path, without details about what it would contain.
    if isNew, model == nil { throw StoreError.missing(path: path) }
    let source = isNew ? StoreLocation.inMemory : location
    let engine = try MigratingOpener(try given.opening(source, model: model), given).open()
    defer { engine.close() }
    do {
      try shared.begin(engine)
    } catch StoreError.log(let error) where error.code == .notAllowed {
      // Another machine's store has become the log's store.
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
      // Reverting the migration would leave a store without the log.
      try store.confirmMigration()
    }.run()
  }
}
