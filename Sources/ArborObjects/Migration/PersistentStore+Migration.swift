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
  /// migration stops at the end of the batch, and the next one goes on there. Indexes are filled
  /// before it ends, whatever ``StoreOptions/indexBuilds`` says.
  ///
  /// - Returns: A sequence that throws ``ArborError`` as opening the store does.
  public static func migrate(
    _ url: URL, to model: ManagedObjectModel, _ options: StoreOptions = StoreOptions()
  ) -> AsyncThrowingStream<MigrationProgress, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let work = Task.detached(priority: .utility) {
        do {
          try await MigrationRunner().run(url, to: model, options) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in work.cancel() }
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
