internal import ArborLocks
internal import ArborModel

/// A counter of the closures that run in contexts created by a store. Also controls whether more
/// may start.
final class RunningBodies: Sendable {
  /// The revocation that interrupts the running closures.
  let revocation = Revocation()
  private let state = Lock((count: 0, isRefusing: false))

  /// The number of closures that are running or waiting for their turn.
  var count: Int { state.withLock { $0.count } }

  /// Counts a new closure.
  ///
  /// - Throws: `closed` if no more may start.
  func begin() throws(ArborError) {
    let isAdmitted = state.withLock { state in
      if state.isRefusing { return false }
      state.count += 1
      return true
    }
    guard isAdmitted else {
      throw ArborError(
        .closed,
        "The store is being closed and doesn't accept more background work. Reopen the store.")
    }
  }

  func end() { state.withLock { $0.count -= 1 } }

  /// Interrupts the running closures as if their tasks were cancelled.
  func cancel() { revocation.revoke() }

  /// Prevents new closures from starting.
  func refuse() { state.withLock { $0.isRefusing = true } }
}
