internal import ArborLocks
internal import ArborModel

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A store's single long-lived context, in which background bodies run one after another.
///
/// `@unchecked` because the context is not `Sendable`. Only the code that holds the turn accesses
/// it.
final class BackgroundContext: @unchecked Sendable {
  fileprivate let turns = TurnQueue(count: 1)
  private var context: ManagedObjectContext?
  /// The thread that is currently running a body, or 0. Used to detect bodies that would wait for
  /// themselves.
  private let runner = Atomic<UInt>(0)
  private let line = WaitingLine()
  fileprivate let worker = BackgroundWorker()

  /// Runs a body on a thread that may block, after the bodies enqueued before it. Doesn't block the
  /// caller's thread.
  ///
  /// - Throws: Any error thrown by the body; `cancelled` if the task is cancelled while it waits.
  func run<R: Sendable>(
    in store: PersistentStore, _ retrying: consuming Retrying,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try await line.run(self, in: store, retrying, body)
  }

  /// Runs a body on the caller's thread, after the bodies enqueued before it.
  func runAndWait<R: Sendable>(
    in store: PersistentStore, _ retrying: consuming Retrying,
    _ body: (ManagedObjectContext) throws -> R
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
    return try runInTurn(in: store, retrying, body)
  }

  fileprivate func runInTurn<R: Sendable>(
    in store: PersistentStore, _ retrying: consuming Retrying,
    _ body: (ManagedObjectContext) throws -> R
  ) throws -> R {
    runner.store(Self.thisThread, ordering: .relaxed)
    defer { runner.store(0, ordering: .relaxed) }
    let context = openContext(of: store)
    return try retrying.run(body) { context }
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

/// The actor on which tasks wait for their turn and resume.
///
/// This can be neither the cooperative pool, all of whose threads may be blocked waiting for a turn
/// in `performBackgroundAndWait`, nor the thread of the bodies, which cannot react to cancellation
/// while one is running.
actor WaitingLine {
  private nonisolated let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    _ background: BackgroundContext, in store: PersistentStore, _ retrying: consuming Retrying,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try await background.turns.enter()
    defer { background.turns.leave() }
    return try await background.worker.run(background, in: store, retrying, body)
  }
}

/// An actor that runs background bodies on its own queue, whose thread may block.
actor BackgroundWorker {
  private nonisolated let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<R: Sendable>(
    _ background: BackgroundContext, in store: PersistentStore, _ retrying: consuming Retrying,
    _ body: sending (ManagedObjectContext) throws -> R
  ) throws -> R {
    try background.runInTurn(in: store, retrying, body)
  }
}
