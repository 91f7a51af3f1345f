/// Work on other threads, in a synchronous closure that receives a context and returns values.
///
/// Closures are `sending`: the caller can no longer use captured values unless they are `Sendable`.
/// Results must be `Sendable`: an ID, a number, a string, but never an object. None of these
/// methods blocks the threads of the cooperative pool.
///
/// If a commit conflicts with another one, the closure runs again on the newest state of the store.
/// This applies to `conflict`, and to `notUnique` for a value that another commit has taken since
/// the closure started. Changes of the previous run in its context are discarded. Other side
/// effects, such as changes of captured variables or files, are not, so they should be idempotent.
/// Runs are separated by random pauses of up to 50 ms (exponential backoff with jitter). After
/// several conflicts, closures take turns, in all processes that have the store open, so each of
/// them succeeds soon. A turn ends after 0.2 s at the latest, so a slow closure or a stopped process
/// doesn't hold up the others. A closure that commits by itself doesn't run again after it has
/// written something.
///
/// If the task is cancelled, the closure ends with ``ArborError`` `cancelled` at the next operation
/// of its context, or within milliseconds during an operation. If it is still waiting for its turn,
/// it doesn't start. Nothing is committed unless the commit was already being written.
extension PersistentStore {
  /// Runs a closure in a new context and commits its changes. Many closures can run concurrently;
  /// concurrent commits share a transaction (group commit).
  ///
  /// ```swift
  /// let visits = try await store.perform { context in
  ///   let counter = try context.insertOrFetch(Counter.self, where: ["name": "visits"])
  ///   counter.value += 1
  ///   return counter.value
  /// }
  /// ```
  ///
  /// No matter how many tasks do this concurrently, no increment is lost.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of all runs together, which is also that of the context. `nil` for
  ///     none.
  ///   - maximumRetries: The maximum number of additional runs after conflicts with other commits. 0
  ///     throws immediately.
  ///   - body: The work to do in the context, whose merge policy is ``MergePolicy/error``.
  /// - Returns: The result of the last run of the closure.
  /// - Throws: Any error thrown by the closure or the commit, and ``ArborError`` `cancelled` and
  ///   `deadlineExceeded`; nothing is committed in that case. `conflict` or `notUnique` if every run
  ///   conflicted with another commit.
  @discardableResult
  public func perform<R: Sendable>(
    deadline: ContinuousClock.Instant? = nil, maximumRetries: Int = 1000,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try requireOpen()
    try bodies.begin()
    defer { bodies.end() }
    let executor = try await ExecutorPool.shared.take()
    defer { ExecutorPool.shared.giveBack(executor) }
    return try await ContextRunner(executor).run(
      in: self, Retrying(store: self, limit: maximumRetries, deadline: deadline), body)
  }

  /// Runs a closure in the store's single background context, after those enqueued before it, and
  /// commits its changes.
  ///
  /// The context lives as long as the store and keeps its objects. Its merge policy is
  /// ``MergePolicy/mergeByPropertyObjectWins``, which resolves most conflicts without another run.
  /// If the closure or the commit throws, the changes are rolled back.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of all runs together, which is also that of the context. `nil` for
  ///     none.
  ///   - maximumRetries: The maximum number of additional runs after conflicts with other commits. 0
  ///     throws immediately.
  ///   - body: The work to do in the context.
  /// - Returns: The result of the last run of the closure.
  /// - Throws: Any error thrown by the closure or the commit, and ``ArborError`` `cancelled` and
  ///   `deadlineExceeded`; nothing is committed in that case.
  @discardableResult
  public func performBackground<R: Sendable>(
    deadline: ContinuousClock.Instant? = nil, maximumRetries: Int = 1000,
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try requireOpen()
    try bodies.begin()
    defer { bodies.end() }
    return try await background.run(
      in: self, Retrying(store: self, limit: maximumRetries, deadline: deadline), body)
  }

  /// Runs a closure in the store's single background context, like
  /// ``performBackground(deadline:maximumRetries:_:)``, for code that isn't async. Blocks until the
  /// changes are committed.
  ///
  /// - Throws: Any error thrown by the closure or the commit; ``ArborError`` `notAllowed` if called
  ///   inside a background closure, which would deadlock.
  @discardableResult
  public func performBackgroundAndWait<R: Sendable>(
    deadline: ContinuousClock.Instant? = nil, maximumRetries: Int = 1000,
    _ body: sending (ManagedObjectContext) throws -> R
  ) throws -> R {
    try requireOpen()
    try bodies.begin()
    defer { bodies.end() }
    return try background.runAndWait(
      in: self, Retrying(store: self, limit: maximumRetries, deadline: deadline), body)
  }

  /// Prevents new closures from starting, waits for the running ones to finish, and cancels those
  /// that are left. To stop a server, call this method before ``close()``.
  ///
  /// Calls of ``perform(deadline:maximumRetries:_:)`` and related methods throw `closed` from now on.
  /// Everything else continues to work until the store is closed, including contexts from
  /// ``makeContext()``. This method doesn't wait for those.
  ///
  /// ```swift
  /// let left = await store.drain(within: .seconds(10))
  /// if left > 0 { print("\(left) bodies are cut short") }
  /// store.close()
  /// ```
  ///
  /// - Parameter limit: The maximum time to wait. If the task is cancelled, the method stops
  ///   waiting.
  /// - Returns: The number of closures that are still running. They end as if their tasks were
  ///   cancelled: with `cancelled` at the next operation, or within milliseconds during an
  ///   operation. A commit that is being written is finished. After ``close()``, operations throw
  ///   `closed`.
  public func drain(within limit: Duration) async -> Int {
    bodies.refuse()
    let start = ContinuousClock.now
    while bodies.count > 0, start.duration(to: .now) < limit, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(2))
    }
    let left = bodies.count
    if left > 0 { bodies.cancel() }
    return left
  }
}
