package import ArborModel
internal import ArborStore

/// Operations: what each has to report first, and how long it may take.
extension Session {
  /// Begins an operation: reports what an earlier call could not throw, refuses to continue in a
  /// closed store, and releases unused objects.
  @inline(__always)
  func beginOperation() throws(ArborError) {
    limit.begin()
    if failure != nil || isClosed || isSweepDue { try prepareOperation() }
  }

  /// Limits the operation to what a request and its predicates allow.
  ///
  /// - Throws: `cancelled` where the task is, `deadlineExceeded` where there is no time left.
  func limitOperation(to allowance: WorkAllowance? = nil) throws(ArborError) {
    if let allowance, !allowance.isUnlimited { limit.narrow(allowance) }
    do throws(Interruption) { try limit.checkNow() } catch { throw ArborError(error) }
  }

  /// Whether so many objects are kept that looking for unused ones is worth its time.
  private var isSweepDue: Bool { registry.needsSweep(besides: pending.count) }

  @inline(never)
  private func prepareOperation() throws(ArborError) {
    try throwDeferredFailure()
    if isClosed { throw ArborError(StoreError.closed, in: engine) }
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
    if let failure { throw ArborError(failure.error, in: engine) }
  }

  @inline(never)
  private func reportFailure() throws(ArborError) {
    guard let failure, !failure.isReported else { return }
    self.failure?.isReported = true
    if !failure.blocksCommits { self.failure = nil }
    throw ArborError(failure.error, in: engine)
  }

  /// Remembers the error of a call that cannot throw. The first one counts.
  @inline(never)
  func note(_ error: StoreError) {
    if failure == nil || failure?.isReported == true { failure = DeferredFailure(error: error) }
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
}
