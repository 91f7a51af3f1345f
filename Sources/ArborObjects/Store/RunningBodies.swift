internal import ArborLocks
internal import ArborModel

/// How many bodies run in contexts of a store's own making, and whether more may begin.
final class RunningBodies: Sendable {
  /// What ends those that run.
  let revocation = Revocation()
  private let state = Lock((count: 0, isRefusing: false))

  /// How many run or wait for their turn.
  var count: Int { state.withLock { $0.count } }

  /// Counts a body that begins.
  ///
  /// - Throws: `closed` where none may any more.
  func begin() throws(ArborError) {
    let isAdmitted = state.withLock { state in
      if state.isRefusing { return false }
      state.count += 1
      return true
    }
    guard isAdmitted else {
      throw ArborError(
        .closed, "The store is being closed and runs no more background work. Open it again.")
    }
  }

  func end() { state.withLock { $0.count -= 1 } }

  /// Ends those that run as the cancellation of their tasks would.
  func cancel() { revocation.revoke() }

  /// Lets none begin from now on.
  func refuse() { state.withLock { $0.isRefusing = true } }
}
