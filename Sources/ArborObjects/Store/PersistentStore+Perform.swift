/// Work on other threads: a synchronous body that gets a context and gives back values.
///
/// Bodies are `sending`: what they capture may not be used by the caller any more unless it is
/// `Sendable`, and what they return has to be — an ID, a number, a text, never an object. None of
/// the methods blocks the threads that Swift's tasks share.
extension PersistentStore {
  /// Runs a body in a fresh context and commits what it changed; many run at once, and commits that
  /// come together share one transaction.
  ///
  /// ```swift
  /// let id = try await store.perform { context in
  ///   let employee = context.insert(Employee.self)
  ///   employee.name = name
  ///   return employee.objectID
  /// }
  /// ```
  ///
  /// - Returns: What the body returns.
  /// - Throws: What the body or the commit throws; nothing is committed then.
  @discardableResult
  public func perform<R: Sendable>(
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    let executor = ExecutorPool.shared.take()
    defer { ExecutorPool.shared.giveBack(executor) }
    return try await ContextRunner(executor).run(in: self, body)
  }

  /// Runs a body in the store's one background context, after those before it, and commits what it
  /// changed.
  ///
  /// The context lives as long as the store and keeps its objects; its merge policy is
  /// ``MergePolicy/mergeByPropertyObjectWins``. Where the body or the commit throws, its changes
  /// are rolled back.
  ///
  /// - Returns: What the body returns.
  /// - Throws: What the body or the commit throws; nothing is committed then.
  @discardableResult
  public func performBackground<R: Sendable>(
    _ body: sending (ManagedObjectContext) throws -> R
  ) async throws -> R {
    try await background.run(in: self, body)
  }

  /// Runs a body in the store's one background context as ``performBackground(_:)`` does, for code
  /// that is not async: blocks until it has been committed.
  ///
  /// - Throws: What the body or the commit throws; ``ArborError`` `notAllowed` inside a background
  ///   body, which it would wait for.
  @discardableResult
  public func performBackgroundAndWait<R: Sendable>(
    _ body: sending (ManagedObjectContext) throws -> R
  ) throws -> R {
    try background.runAndWait(in: self, body)
  }
}
