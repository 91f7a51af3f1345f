internal import ArborLocks
internal import ArborModel

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The one long-lived context of a store that background bodies run in, one after another.
///
/// It is `@unchecked` because the context is not `Sendable`: the code that has the turn, and no
/// other, touches it.
final class BackgroundContext: @unchecked Sendable {
  fileprivate let turns = TurnQueue(count: 1)
  private var context: ManagedObjectContext?
  /// The thread that runs a body at present, to find bodies that wait for themselves.
  private let runner = Atomic<UInt>(0)
  private let line = WaitingLine()
  fileprivate let worker = BackgroundWorker()

  /// Runs a body on a thread that may block, after those before it and without blocking the
  /// caller's.
  ///
  /// - Throws: What the body throws; `cancelled` where the task is while it waits.
  func run<R: Sendable>(
    in store: PersistentStore, retries: Int,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try await line.run(self, in: store, retries: retries, body)
  }

  /// Runs a body on the caller's thread, after those before it.
  func runAndWait<R: Sendable>(
    in store: PersistentStore, retries: Int, _ body: (ManagedObjectContext) throws -> R
  ) throws -> R {
    let thread = Self.thisThread
    guard runner.load(ordering: .relaxed) != thread else {
      throw ArborError(
        .notAllowed,
        "performBackgroundAndWait was called inside a background body and would wait for itself. "
          + "Use the body's context.")
    }
    try turns.enterAndWait()
    defer { turns.leave() }
    return try runInTurn(in: store, retries: retries, body)
  }

  fileprivate func runInTurn<R: Sendable>(
    in store: PersistentStore, retries: Int, _ body: (ManagedObjectContext) throws -> R
  ) throws -> R {
    runner.store(Self.thisThread, ordering: .relaxed)
    defer { runner.store(0, ordering: .relaxed) }
    let context = openContext(of: store)
    var retrying = Retrying(store: store, limit: retries)
    while true {
      if let result = try retrying.run(body, in: context) { return result }
      // Bodies that come next wait for this one in any case.
      usleep(UInt32(retrying.pause))
    }
  }

  private func openContext(of store: PersistentStore) -> ManagedObjectContext {
    if let context { return context }
    let context = ManagedObjectContext(store)
    context.mergePolicy = .mergeByPropertyObjectWins
    context.name = "background"
    context.session.limit.revocation = store.bodies.revocation
    self.context = context
    return context
  }

  private static var thisThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}

/// Where tasks wait for their turn and go on when they have it.
///
/// That is neither the cooperative pool, all of whose threads may wait for that turn in
/// `performBackgroundAndWait`, nor the thread of the bodies, which hears of no cancellation while
/// one runs.
actor WaitingLine {
  private nonisolated let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    _ background: BackgroundContext, in store: PersistentStore, retries: Int,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try await background.turns.enter()
    defer { background.turns.leave() }
    return try await background.worker.run(background, in: store, retries: retries, body)
  }
}

/// Takes background bodies to a thread of their own.
actor BackgroundWorker {
  private nonisolated let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    _ background: BackgroundContext, in store: PersistentStore, retries: Int,
    _ body: sending (ManagedObjectContext) throws -> R
  ) throws -> R {
    try background.runInTurn(in: store, retries: retries, body)
  }
}
