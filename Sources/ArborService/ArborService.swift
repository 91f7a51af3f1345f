public import ArborData
internal import ArborObjects
internal import Logging
public import ServiceLifecycle  // No such module? Enable the package's trait "Service".

/// A store as a service: opened when the program starts, monitored and backed up while it runs, and
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
/// The store is open once the service has been created, so that it can be passed to other services.
/// In a service group, list it before the services that use it: a group shuts services down in
/// reverse order, so that the store outlives the requests.
///
/// While the service runs, commits and fetches are counted, timed and traced, the store is sampled
/// at intervals, and backups are made if ``Configuration/backUps`` is set. A failed sample or
/// backup is logged, and the service continues.
///
/// A graceful shutdown prevents new bodies of `perform` from starting, waits for running ones for
/// at most ``Configuration/shutdownLimit``, cancels the rest, makes a final backup, and closes the
/// store. If the task is cancelled instead, the service neither waits nor backs up. In both cases
/// `run()` returns.
///
/// Metrics and spans contain entity names, numbers and times, never values of objects. The article
/// *Services* lists them.
///
/// ## Topics
/// ### Creating
/// - ``init(_:model:at:options:classes:configuration:)``
/// - ``init(_:model:at:following:options:classes:configuration:)``
/// - ``init(_:configuration:opening:)``
/// - ``Configuration``
/// ### Using
/// - ``store``
/// - ``run()``
public final class ArborService: Service {
  /// The name of the store in metrics, spans and log entries.
  public let name: String
  /// The store, open until the service has been shut down.
  public let store: PersistentStore
  private let configuration: Configuration
  private let metrics: StoreMetrics
  private let logger: Logger
  private let sampler = ServiceWorker()
  private let keeper = ServiceWorker()

  /// Creates a service with a store that `opening` opens.
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
  ///   - name: The name of the store in metrics, spans and log entries. It is a metric label, so
  ///     use only a few different names.
  ///   - configuration: The configuration of the service.
  ///   - opening: A closure that opens the store with the given instrument in
  ///     `StoreOptions.instrument`. Without the instrument, no commits or fetches are reported.
  /// - Throws: Errors of `opening`.
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

  /// Creates a service with a store that is opened with a model, or created if it doesn't exist.
  ///
  /// - Parameters:
  ///   - name: The name of the store in metrics, spans and log entries. It is a metric label, so
  ///     use only a few different names.
  ///   - model: The model of the store.
  ///   - location: The file, whose folder must exist, or memory.
  ///   - options: The options of the store. An instrument in them is notified in addition to the
  ///     service's.
  ///   - classes: The typed classes of the model's entities.
  ///   - configuration: The configuration of the service.
  /// - Throws: The same errors as opening a `PersistentStore`.
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

  /// Creates a service with a store that shares its commits with copies on other machines through a
  /// log.
  ///
  /// ```swift
  /// let staff = try ArborService(
  ///   "staff", model: model, at: .path("/var/lib/staff/staff.arbor"),
  ///   following: PostgresLog("host=a,b,c dbname=arbor"))
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the store in metrics, spans and log entries. It is a metric label, so
  ///     use only a few different names.
  ///   - model: The model of the store.
  ///   - location: The file, which only this machine uses and whose folder must exist.
  ///   - log: The log.
  ///   - options: The options of the store. An instrument in them is notified in addition to the
  ///     service's.
  ///   - classes: The typed classes of the model's entities.
  ///   - configuration: The configuration of the service.
  /// - Throws: The same errors as opening a `PersistentStore` that follows a log.
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

  /// Runs until the service is shut down gracefully or its task is cancelled, then closes the
  /// store.
  ///
  /// - Throws: `ArborError` `closed` if the store is already closed: a service can run only once.
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
      // Throws if the task is cancelled, which ends the service as well.
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

  /// Runs `work` now and then every `interval` until the task is cancelled.
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
  /// Returns the options with an additional instrument.
  fileprivate func telling(_ instrument: StoreInstrument) -> StoreOptions {
    var options = self
    options.instrument = StoreInstrument([instrument] + (options.instrument.map { [$0] } ?? []))
    return options
  }
}

/// An actor that runs blocking work on a thread of its own, in the task that awaits it.
actor ServiceWorker {
  private nonisolated let executor = QueueExecutor()

  /// The actor's executor, which the actor owns and which therefore outlives all of its jobs.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  func run<R: Sendable>(_ work: @Sendable () throws -> R) rethrows -> R { try work() }
}
