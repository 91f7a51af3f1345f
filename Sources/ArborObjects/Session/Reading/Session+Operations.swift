package import ArborModel
internal import ArborStore

/// The start of operations: deferred errors and limits.
extension Session {
  /// Begins an operation: throws a deferred error, refuses to continue in a closed store, and
  /// releases unused objects.
  @inline(__always)
  func beginOperation() throws(ArborError) {
    limit.begin()
    if failure != nil || isClosed || isSweepDue { try prepareOperation() }
  }

  /// Restricts the operation to the allowance of a request and its predicates.
  ///
  /// - Throws: `cancelled` if the task is cancelled, `deadlineExceeded` if there is no time left.
  func limitOperation(to allowance: WorkAllowance? = nil) throws(ArborError) {
    if let allowance, !allowance.isUnlimited { limit.narrow(allowance) }
    do throws(Interruption) { try limit.checkNow() } catch { throw ArborError(error) }
  }

  /// Whether there are enough objects to make a sweep worthwhile.
  private var isSweepDue: Bool { registry.needsSweep(besides: pending.count) }

  @inline(never)
  private func prepareOperation() throws(ArborError) {
    try throwDeferredFailure()
    if isClosed { throw ArborError(StoreError.closed, in: engine) }
    sweepWhereDue()
  }

  /// Releases unused objects if a pass over all objects is worthwhile.
  @inline(__always)
  func sweepWhereDue() {
    if isSweepDue { sweep() }
  }

  /// Releases unused objects, except those with edited links, whose hooks are called by commits.
  @inline(never)
  private func sweep() {
    let links = links
    registry.sweep(keeping: links.hasEdits ? { links.hasEdits(of: $0) } : nil)
  }

  /// Throws the deferred error of an earlier nonthrowing call.
  package func throwDeferredFailure() throws(ArborError) {
    if failure != nil { try reportFailure() }
  }

  /// Throws the failure that blocks commits, even if it has already been reported.
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

  /// Records the error of a nonthrowing call, unless there already is one.
  @inline(never)
  func note(_ error: StoreError) {
    if failure == nil || failure?.isReported == true { failure = DeferredFailure(error: error) }
  }

  func note(_ error: ArborError) { note(.query(error)) }

  /// Records that a change was refused because another commit had deleted the object. Thrown once;
  /// later commits don't depend on it.
  func noteRefused(_ error: ArborError) {
    if failure == nil || failure?.isReported == true && failure?.blocksCommits == false {
      failure = DeferredFailure(error: .query(error), blocksCommits: false)
    }
  }

  /// Reports every query from now on, regardless of its duration, instead of logging slow ones.
  /// Used for counting queries. Following relationships doesn't count as a query.
  ///
  /// - Parameter tell: A closure that is called with a description of each query, without the
  ///   values of its predicate.
  package func watchQueries(
    _ tell: @escaping @Sendable (_ entity: String, _ query: String) -> Void
  ) {
    let report: @Sendable (QueryWatch.Report) -> Void = { tell($0.entity, $0.query) }
    watch = watch?.reporting(from: .zero, report) ?? QueryWatch(threshold: .zero, report)
  }
}
