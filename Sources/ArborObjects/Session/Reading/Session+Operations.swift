package import ArborModel
internal import ArborStore

/// The way to the store, for operations and for reads of properties.
extension Session {
  /// Begins an operation: reports what an earlier call could not throw, refuses to go on in a
  /// closed store, and lets go of objects that nobody uses.
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

  /// Lets go of objects that nobody uses, where a pass over all is worth it.
  @inline(__always)
  func sweepWhereDue() {
    if isSweepDue { sweep() }
  }

  /// Lets go of objects that nobody uses. Those whose links have edits are told at the commit.
  @inline(never)
  private func sweep() {
    let links = links
    registry.sweep(keeping: links.hasEdits ? { links.hasEdits(of: $0) } : nil)
  }

  /// Throws what a read that cannot throw has met, for code that has read through one.
  package func throwDeferredFailure() throws(ArborError) {
    if failure != nil { try reportFailure() }
  }

  /// Throws what keeps a commit from being made, reported or not.
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

  /// Asks the store what a request names, on the newest snapshot.
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

  /// Tells of every query from here on, whatever it takes, instead of the store's log: for code
  /// that counts them. Reading along relationships is no query.
  ///
  /// - Parameter tell: Is given the query in words, without the values of its predicate.
  package func watchQueries(
    _ tell: @escaping @Sendable (_ entity: String, _ query: String) -> Void
  ) {
    let report: @Sendable (QueryWatch.Report) -> Void = { tell($0.entity, $0.query) }
    watch = watch?.reporting(from: .zero, report) ?? QueryWatch(threshold: .zero, report)
  }

  /// Takes in the newest commits, also of processes of which no news has come yet.
  ///
  /// - Parameter always: Also where that does not happen by itself.
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
