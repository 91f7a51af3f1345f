/// Work on other threads: a synchronous body that gets a context and gives back values.
///
/// Bodies are `sending`: what they capture may not be used by the caller any more unless it is
/// `Sendable`, and what they return has to be — an ID, a number, a text, never an object. None of
/// the methods blocks the threads that Swift's tasks share.
///
/// A body is run again, on the newest state of the store, where its commit met another one: where
/// it threw `conflict`, or `notUnique` for a value that somebody else has taken since the body
/// began. What the run before has changed in its context is forgotten; what it has changed outside
/// of it — a captured variable, a file — is the body's own affair, so let it set rather than add.
/// Between two runs lie waits of random length, up to 50 ms. A body that commits by itself is not
/// run again once it has written something.
///
/// A cancelled task ends its body at the next operation of the context, or within milliseconds in
/// one that runs, with ``ArborError`` `cancelled`; while it waits for its turn the body does not
/// begin. Nothing is committed unless the commit was on its way to the disk before.
extension PersistentStore {
  /// Runs a body in a fresh context and commits what it changed; many run at once, and commits that
  /// come together share one transaction.
  ///
  /// ```swift
  /// let visits = try await store.perform { context in
  ///   let counter = try context.insertOrFetch(Counter.self, where: ["name": "visits"])
  ///   counter.value += 1
  ///   return counter.value
  /// }
  /// ```
  ///
  /// However many tasks do that at once, none of the increments is lost.
  ///
  /// - Parameters:
  ///   - retries: How often the body is run again where others were faster; 0 to throw at once.
  ///   - body: What to do in the context, whose merge policy is ``MergePolicy/error``.
  /// - Returns: What the last run of the body returns.
  /// - Throws: What the body or the commit throws, and ``ArborError`` `cancelled`; nothing is
  ///   committed then. `conflict` or `notUnique` where all runs met other commits.
  @discardableResult
  public func perform<R: Sendable>(
    retries: Int = 10, _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try requireOpen()
    try bodies.begin()
    defer { bodies.end() }
    let executor = try await ExecutorPool.shared.take()
    defer { ExecutorPool.shared.giveBack(executor) }
    return try await ContextRunner(executor).run(in: self, retries: retries, body)
  }

  /// Runs a body in the store's one background context, after those before it, and commits what it
  /// changed.
  ///
  /// The context lives as long as the store and keeps its objects; its merge policy is
  /// ``MergePolicy/mergeByPropertyObjectWins``, which decides most conflicts without another run.
  /// Where the body or the commit throws, its changes are rolled back.
  ///
  /// - Parameters:
  ///   - retries: How often the body is run again where others were faster; 0 to throw at once.
  ///   - body: What to do in the context.
  /// - Returns: What the last run of the body returns.
  /// - Throws: What the body or the commit throws, and ``ArborError`` `cancelled`; nothing is
  ///   committed then.
  @discardableResult
  public func performBackground<R: Sendable>(
    retries: Int = 10, _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try requireOpen()
    try bodies.begin()
    defer { bodies.end() }
    return try await background.run(in: self, retries: retries, body)
  }

  /// Runs a body in the store's one background context as ``performBackground(retries:_:)`` does,
  /// for code that is not async: blocks until it has been committed.
  ///
  /// - Throws: What the body or the commit throws; ``ArborError`` `notAllowed` inside a background
  ///   body, which it would wait for.
  @discardableResult
  public func performBackgroundAndWait<R: Sendable>(
    retries: Int = 10, _ body: sending (ManagedObjectContext) throws -> R
  ) throws -> R {
    try requireOpen()
    try bodies.begin()
    defer { bodies.end() }
    return try background.runAndWait(in: self, retries: retries, body)
  }

  /// Lets no body begin any more, waits until those that run have ended, and cancels what is left:
  /// the first half of stopping a server, with ``close()`` as the second.
  ///
  /// Calls of ``perform(retries:_:)`` and its siblings throw `closed` from now on. Everything else
  /// goes on until the store is closed, work in contexts from ``makeContext()`` among it, which
  /// nobody waits for here.
  ///
  /// ```swift
  /// let left = await store.drain(within: .seconds(10))
  /// if left > 0 { print("\(left) bodies are cut short") }
  /// store.close()
  /// ```
  ///
  /// - Parameter limit: How long to wait at most. A task that is cancelled waits no longer.
  /// - Returns: How many bodies are left. Each of them ends as if its task were cancelled: with
  ///   `cancelled` at its next operation, and within milliseconds in one that runs, unless its
  ///   commit is being written, which is finished. Behind ``close()`` operations throw `closed`.
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
