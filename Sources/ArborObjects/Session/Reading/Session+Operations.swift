package import ArborModel
internal import ArborStore

/// Operations, and what they have to report first.
extension Session {
  /// Begins an operation: reports what an earlier call could not throw, refuses to continue in a
  /// closed store, and releases unused objects.
  @inline(__always)
  func beginOperation() throws(ArborError) {
    limit.begin()
    if failure != nil || isClosed || isSweepDue { try prepareOperation() }
  }

  /// Whether so many objects are kept that looking for unused ones is worth its time.
  private var isSweepDue: Bool { registry.needsSweep(besides: pending.count) }

  @inline(never)
  private func prepareOperation() throws(ArborError) {
    try throwDeferredFailure()
    if isClosed { throw ArborError(StoreError.closed, in: file) }
    sweepWhereDue()
  }

  /// Releases unused objects, if a pass over all objects is worth it.
  @inline(__always)
  func sweepWhereDue() {
    if isSweepDue { sweep() }
  }

  /// Releases unused objects, but for those with edited links, whose hooks a commit calls.
  @inline(never)
  private func sweep() {
    let links = links
    registry.sweep(keeping: links.hasEdits ? { links.hasEdits(of: $0) } : nil)
  }

  /// Throws the failure of an earlier read that could not throw.
  package func throwDeferredFailure() throws(ArborError) {
    if failure != nil { try reportFailure() }
  }

  /// Throws the failure that blocks commits, whether it has been reported or not.
  func throwFailure() throws(ArborError) {
    if let failure { throw ArborError(failure.error, in: file) }
  }

  @inline(never)
  private func reportFailure() throws(ArborError) {
    guard let failure, !failure.isReported else { return }
    self.failure?.isReported = true
    if !failure.blocksCommits { self.failure = nil }
    throw ArborError(failure.error, in: file)
  }

  func note(_ error: ArborError) { note(.query(error)) }

  /// Runs a query for a request on the newest snapshot.
  @inline(__always)
  func read<T: ManagedObject, R>(
    _ request: FetchRequest<T>,
    _ body: (StoreSnapshot, StoreQuery, (any PendingState)?) throws(StoreError) -> R
  ) throws(ArborError) -> R {
    try beginOperation()
    let query = try query(request.description, entity(for: request))
    let overlay = overlay(for: request.description)
    return try onSnapshot { snapshot throws(StoreError) in try body(snapshot, query, overlay) }
  }

  /// Runs `body` on the newest snapshot, after merging the commits up to exactly that one.
  func onSnapshot<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(ArborError) -> R {
    do throws(StoreError) {
      let snapshot = try takeSnapshot(merging: true)
      defer { release(snapshot) }
      return try body(snapshot)
    } catch {
      throw ArborError(error, in: file)
    }
  }

  /// Runs `body` as ``onSnapshot(_:)`` does. All reads inside, those of properties and of other
  /// operations among them, read the same snapshot.
  func onPinnedSnapshot<R>(
    _ body: (StoreSnapshot) throws(ArborError) -> R
  ) throws(ArborError) -> R {
    if let pinned { return try body(pinned) }
    let snapshot = try file.reporting(takeSnapshot(merging: true))
    defer { if reloaded != nil { finishReloading() } }
    return try pinning(snapshot) { () throws(ArborError) in try body(snapshot) }
  }

  /// Runs `body` on one view of the store; see ``ManagedObjectContext/withSnapshot(_:)``.
  func withSnapshot<R>(_ body: () throws -> R) throws -> R {
    try beginOperation()
    let result =
      pinned == nil
      ? try viewing(file.reporting(takeSnapshot(merging: true)), body) : try body()
    try throwDeferredFailure()
    return result
  }

  /// Merges the commits of others that this process knows of, for operations that read nothing
  /// themselves.
  func mergeKnownCommits() throws(ArborError) {
    guard !isClosed else { throw ArborError(StoreError.closed, in: file) }
    guard file.lastSequence != sequence, pinned == nil else { return }
    try onSnapshot { _ in }
  }

  /// Reports every query from now on, however short, instead of writing slow ones to the log: for
  /// code that counts queries. Following relationships is not a query.
  ///
  /// - Parameter tell: Called with the query in words, without the values of its predicate.
  package func watchQueries(
    _ tell: @escaping @Sendable (_ entity: String, _ query: String) -> Void
  ) {
    let report: @Sendable (QueryWatch.Report) -> Void = { tell($0.entity, $0.query) }
    watch = watch?.reporting(from: .zero, report) ?? QueryWatch(threshold: .zero, report)
  }

  /// Merges the newest commits, also those of processes from which no notification has come yet.
  ///
  /// - Parameter always: Whether to merge even if the context doesn't do so automatically.
  /// - Returns: Whether there were commits of others.
  @discardableResult
  func mergeNewestCommits(always: Bool) throws(ArborError) -> Bool {
    guard pinned == nil else { return false }
    let isAutomatic = mergesCommits
    if always { mergesCommits = true }
    defer { mergesCommits = isAutomatic }
    let former = sequence
    let own = ownSequences
    try onSnapshot { _ in }
    guard sequence > former else { return false }
    return sequence - former > own.count { $0 > former && $0 <= sequence }
  }
}

extension ArborError {
  static func missing(_ id: ObjectID) -> ArborError {
    ArborError(
      .objectNotFound,
      "There is no \(id.entityName) \(id.number) in the store: it was deleted or never committed; "
        + "look objects up with existingObject(with:) where that can happen."
    ).with(entity: id.entityName, objectID: id)
  }
}
