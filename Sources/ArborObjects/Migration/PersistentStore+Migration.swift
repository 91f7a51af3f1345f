public import ArborModel
internal import ArborStore
public import Foundation

extension PersistentStore {
  /// What opening a store with a model and some options would do to it; nothing is changed.
  ///
  /// - Returns: The plan, which prints.
  /// - Throws: ``ArborError`` where the file is missing or no store, and `invalidArgument` or
  ///   `modelMismatch` where the steps and versions of the options lead nowhere.
  /// - Complexity: A look at each object that a pass or a new rule concerns.
  public static func migrationPlan(
    for url: URL, to model: ManagedObjectModel, options: StoreOptions = StoreOptions()
  ) throws(ArborError) -> MigrationPlan {
    let store = try PersistentStore(at: .file(url), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    return try MigrationPlanner(store, to: try model.validated(), options).plan(url)
  }

  /// Brings a store to a model in the background, and tells how far it is.
  ///
  /// ```swift
  /// for try await progress in PersistentStore.migrate(url, to: model, options) {
  ///   print(progress)
  /// }
  /// let store = try PersistentStore(model: model, at: .file(url), options: options)
  /// ```
  ///
  /// The work begins with the call, on a thread of its own, with memory for a batch of objects. The
  /// sequence ends when the store is of the model; it is the newest progress that is delivered
  /// where the reader is slower. Where the sequence is given up, or its task is cancelled, the
  /// migration stops, the store is as it was, and the next migration goes on behind the last batch.
  /// A task that is cancelled gets the error `cancelled` when the work has stopped, within
  /// milliseconds unless code waits for something, so that the next migration can begin at once.
  /// Indexes are filled before the sequence ends, whatever ``StoreOptions/indexBuilds`` says.
  ///
  /// - Returns: A sequence for one iteration; it throws ``ArborError`` as opening the store does.
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

/// The progress of a migration, and its end.
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
      // A cancelled task gets no more progress, while the work comes to its end.
      try await work.value.get()
      return nil
    }
  }
}

/// Runs a migration on a queue of its own, whose thread may block.
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
