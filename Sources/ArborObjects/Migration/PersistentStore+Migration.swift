public import ArborFoundation
public import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Returns the plan of the migration that opening a store with a model would perform, without
  /// changing the store.
  ///
  /// - Returns: The plan. Its description can be printed.
  /// - Throws: ``ArborError`` if the file is missing or not a store, and `invalidArgument` or
  ///   `modelMismatch` if the steps and versions of the options don't form a path to the model.
  /// - Complexity: Linear in the number of objects that a pass or a new rule affects.
  public static func migrationPlan(
    for url: URL, to model: ManagedObjectModel, options: StoreOptions = StoreOptions()
  ) throws(ArborError) -> MigrationPlan {
    let store = try PersistentStore(at: .file(url), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    return try MigrationPlanner(store, to: try model.validated(), options).plan(url)
  }

  /// Migrates a store to a model in the background and reports the progress.
  ///
  /// ```swift
  /// for try await progress in PersistentStore.migrate(url, to: model, options) {
  ///   print(progress)
  /// }
  /// let store = try PersistentStore(model: model, at: .file(url), options: options)
  /// ```
  ///
  /// The work starts with the call and runs on its own thread. Memory usage is limited to one batch
  /// of objects. The sequence ends when the store has the model. A slow consumer receives only the
  /// newest progress. If the sequence is released or its task is cancelled, the migration stops and
  /// the store is unchanged; the next migration continues after the last batch. A cancelled task
  /// receives the error `cancelled` when the work has stopped, usually within milliseconds, so that
  /// the next migration can start immediately. Indexes are filled before the sequence ends,
  /// regardless of ``StoreOptions/indexBuilds``.
  ///
  /// - Returns: A sequence that can be iterated once. It throws the same errors as opening the
  ///   store.
  public static func migrate(
    _ url: URL, to model: ManagedObjectModel, _ options: StoreOptions = StoreOptions()
  ) -> some AsyncSequence<MigrationProgress, ArborError> & Sendable {
    let (progress, continuation) = AsyncStream.makeStream(
      of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
    let work = Task.detached(priority: .utility) { () -> Result<Void, ArborError> in
      defer { continuation.finish() }
      do throws(ArborError) {
        try await MigrationRunner().run(url, to: model, options) { continuation.yield($0) }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    continuation.onTermination = { _ in work.cancel() }
    return MigrationSequence(progress: progress, work: work)
  }
}

/// The progress of a migration, followed by its result.
private struct MigrationSequence: AsyncSequence, Sendable {
  let progress: AsyncStream<MigrationProgress>
  let work: Task<Result<Void, ArborError>, Never>

  func makeAsyncIterator() -> Iterator {
    Iterator(progress: progress.makeAsyncIterator(), work: work)
  }

  struct Iterator: AsyncIteratorProtocol {
    var progress: AsyncStream<MigrationProgress>.Iterator
    let work: Task<Result<Void, ArborError>, Never>

    mutating func next() async throws(ArborError) -> MigrationProgress? {
      try await next(isolation: nil)
    }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ArborError) -> MigrationProgress? {
      if let next = await progress.next(isolation: actor) { return next }
      // A cancelled task receives no more progress, but waits until the work has stopped.
      try await work.value.get()
      return nil
    }
  }
}

/// An actor that runs a migration on its own queue, whose thread may block.
private actor MigrationRunner {
  private nonisolated let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run(
    _ url: URL, to model: ManagedObjectModel, _ options: StoreOptions,
    _ report: @Sendable @escaping (MigrationProgress) -> Void
  ) throws(ArborError) {
    var opening = try options.opening(.file(url), model: model)
    opening.indexBuilds = .beforeOpening
    try MigratingOpener(opening, options, report).open().close()
  }
}
