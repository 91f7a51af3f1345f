public import ArborData
internal import ArborObjects
internal import Logging
public import ServiceLifecycle  // No such module? Enable the package's trait "Service".

/// A store as a service: opened at the program's start, measured and backed up while it runs, and
/// closed after the last request.
///
/// ```swift
/// let staff = try ArborService(
///   "staff", model: model, at: .path("/var/lib/staff/staff.arbor"))
/// let server = RequestServer(store: staff.store)
/// try await ServiceGroup(
///   services: [staff, server], gracefulShutdownSignals: [.sigterm], logger: logger
/// ).run()
/// ```
///
/// The store is open once the service is made, so that other services can be given it. In the list
/// of a service group it stands before those that use it: a group shuts services down from the last
/// to the first, so that the store outlives the requests.
///
/// While it runs, commits and fetches are counted, timed and traced, the store is looked at from
/// time to time, and backups are made where ``Configuration/backUps`` asks for them. What cannot
/// be measured or backed up is logged, and the service goes on.
///
/// A graceful shutdown lets no body of `perform` begin any more, waits until those that run have
/// ended, for at most ``Configuration/shutdownLimit``, cancels what is left, makes a last backup,
/// and closes the store. A task that is cancelled instead neither waits nor backs up. In both cases
/// `run()` returns.
///
/// Metrics and spans carry names of entities, numbers and times, never values of objects; the
/// article *Services* lists them.
///
/// ## Topics
/// ### Making
/// - ``init(_:model:at:options:classes:configuration:)``
/// - ``init(_:model:at:following:options:classes:configuration:)``
/// - ``init(_:configuration:opening:)``
/// - ``Configuration``
/// ### Using
/// - ``store``
/// - ``run()``
public final class ArborService: Service {
  /// What metrics, spans and log entries call the store.
  public let name: String
  /// The store, open until the service has been shut down.
  public let store: PersistentStore
  private let configuration: Configuration
  private let metrics: StoreMetrics
  private let logger: Logger
  private let sampler = ServiceWorker()
  private let keeper = ServiceWorker()

  /// Opens a store as `opening` says.
  ///
  /// ```swift
  /// let replica = try ArborService("staff") { instrument in
  ///   var options = StoreOptions()
  ///   options.instrument = instrument
  ///   return try PersistentStore(following: log, at: .path("staff.arbor"), options: options)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: What metrics, spans and log entries call the store: one of few, since it is a label.
  ///   - configuration: What the service does beside.
  ///   - opening: Opens the store with the instrument that it is given, in
  ///     `StoreOptions.instrument`. Without that nothing is told of commits and fetches.
  /// - Throws: What `opening` throws.
  public init(
    _ name: String, configuration: Configuration = .init(),
    opening: (StoreInstrument) throws(ArborError) -> PersistentStore
  ) throws(ArborError) {
    self.name = name
    self.configuration = configuration
    var logger = configuration.logger
    logger[metadataKey: "store"] = "\(name)"
    self.logger = logger
    metrics = StoreMetrics(of: name, configuration.metrics)
    let tracing = StoreTracing(of: name, configuration.tracer)
    store = try opening(StoreInstrument([metrics.instrument, tracing.instrument]))
  }

  /// Opens a store with a model, or makes one where none exists.
  ///
  /// - Parameters:
  ///   - name: What metrics, spans and log entries call the store: one of few, since it is a label.
  ///   - model: What the store keeps.
  ///   - location: The file, whose folder has to exist, or memory.
  ///   - options: How it is opened. An instrument in them is told beside the service's.
  ///   - classes: The typed classes of the model's entities.
  ///   - configuration: What the service does beside.
  /// - Throws: `ArborError` as `PersistentStore`.
  public convenience init(
    _ name: String, model: ManagedObjectModel, at location: StoreLocation,
    options: StoreOptions = .init(), classes: [ManagedObject.Type] = [],
    configuration: Configuration = .init()
  ) throws(ArborError) {
    try self.init(name, configuration: configuration) { instrument throws(ArborError) in
      try PersistentStore(
        model: model, at: location, options: options.telling(instrument), classes: classes)
    }
  }

  /// Opens a store that shares its commits with others, on other machines, through a log.
  ///
  /// ```swift
  /// let staff = try ArborService(
  ///   "staff", model: model, at: .path("/var/lib/staff/staff.arbor"),
  ///   following: PostgresLog("host=a,b,c dbname=arbor"))
  /// ```
  ///
  /// - Parameters:
  ///   - name: What metrics, spans and log entries call the store: one of few, since it is a label.
  ///   - model: What the store keeps.
  ///   - location: The file, of this machine alone, whose folder has to exist.
  ///   - log: The log.
  ///   - options: How it is opened. An instrument in them is told beside the service's.
  ///   - classes: The typed classes of the model's entities.
  ///   - configuration: What the service does beside.
  /// - Throws: `ArborError` as `PersistentStore` with a log.
  public convenience init(
    _ name: String, model: ManagedObjectModel, at location: StoreLocation,
    following log: any CommitLog, options: StoreOptions = .init(),
    classes: [ManagedObject.Type] = [], configuration: Configuration = .init()
  ) throws(ArborError) {
    try self.init(name, configuration: configuration) { instrument throws(ArborError) in
      try PersistentStore(
        model: model, at: location, following: log, options: options.telling(instrument),
        classes: classes)
    }
  }

  /// Keeps the store until the service is shut down gracefully or its task is cancelled, and closes
  /// it then.
  ///
  /// - Throws: `ArborError` `closed` where the store is closed already: a service runs once.
  public func run() async throws {
    guard !store.isClosed else {
      throw ArborError(
        .closed, "The store of the service \(name) is closed. Create another service to continue.")
    }
    logger.info("The store is open.")
    await withDiscardingTaskGroup { group in
      group.addTask {
        await self.repeating(every: self.configuration.sampling) { await self.sample() }
      }
      if let plan = configuration.backUps {
        group.addTask { await self.repeating(every: plan.interval) { await self.backUp(plan) } }
      }
      // Throws where the task is cancelled, which ends the service too.
      try? await gracefulShutdown()
      group.cancelAll()
    }
    await stop()
  }

  private func stop() async {
    let isGraceful = !Task.isCancelled
    let left = await store.drain(within: isGraceful ? configuration.shutdownLimit : .zero)
    if left > 0 {
      logger.warning(
        "Work that is still running is cancelled, because the store is being closed.",
        metadata: ["bodies": "\(left)"])
    }
    if isGraceful, let plan = configuration.backUps, plan.backsUpAtShutdown { await backUp(plan) }
    await sample()
    await keeper.run { self.store.close() }
    logger.info("The store is closed.")
  }

  /// Does something now and again and again, until the task is cancelled.
  private func repeating(every interval: Duration, _ work: () async -> Void) async {
    while !Task.isCancelled {
      await work()
      try? await Task.sleep(for: max(interval, Configuration.shortestInterval))
    }
  }

  private func sample() async {
    do {
      try await sampler.run { try self.metrics.sample(self.store) }
    } catch {
      logger.warning("The store could not be measured.", metadata: ["error": "\(error)"])
    }
  }

  private func backUp(_ plan: BackUps) async {
    let start = ContinuousClock.now
    do {
      let added = try await keeper.run { try self.store.backUp(to: plan.log) }
      metrics.noteBackUp(added.isSnapshot ? "snapshot" : "commits", start.duration(to: .now))
      logger.debug(
        "The store was backed up.",
        metadata: ["commits": "\(added.commits)", "sequence": "\(added.sequence)"])
    } catch {
      let code = (error as? ArborError)?.code.rawValue ?? "unknown"
      metrics.noteBackUp(code, start.duration(to: .now))
      logger.error(
        "The store could not be backed up. The next backup adds what is missing.",
        metadata: ["error": "\(error)"])
    }
  }
}

extension StoreOptions {
  /// The options with one more instrument.
  fileprivate func telling(_ instrument: StoreInstrument) -> StoreOptions {
    var options = self
    options.instrument = StoreInstrument([instrument] + (options.instrument.map { [$0] } ?? []))
    return options
  }
}

/// Does what blocks a thread on one of its own, in the task that waits for it.
actor ServiceWorker {
  private nonisolated let executor = QueueExecutor()

  /// The actor owns its executor, which so outlives every job of it.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  func run<R: Sendable>(_ work: @Sendable () throws -> R) rethrows -> R { try work() }
}
