internal import ArborLocks

/// Puts tasks to sleep until somebody rings. A cancelled task wakes at once.
///
/// No ring is lost between the look and the sleep: take the token, look, then sleep past it.
///
/// ```swift
/// let token = bell.token
/// if let news = look() { return news }
/// await bell.sleep(past: token)
/// ```
final class AsyncSignal: Sendable {
  private struct State {
    var rings: UInt64 = 0
    var nextID = 0
    var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The tasks that were cancelled before they fell asleep.
    var cancelled: Set<Int> = []
    var hasEnded = false
  }

  private let state = Lock(State())

  /// Whether the bell has rung for the last time.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// How often the bell has rung.
  var token: UInt64 { state.withLock { $0.rings } }

  /// Sleeps until the next ring, the end or the task's cancellation; not at all where the bell has
  /// rung since it gave the token.
  func sleep(past token: UInt64, isolation: isolated (any Actor)? = #isolation) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let staysAwake = state.withLock { state in
          if state.hasEnded || state.cancelled.contains(id) || state.rings != token { return true }
          state.sleepers[id] = continuation
          return false
        }
        if staysAwake { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.cancelled.insert(id)
        return state.sleepers.removeValue(forKey: id)
      }
      sleeper?.resume()
    }
    state.withLock { _ = $0.cancelled.remove(id) }
  }

  func ring() { wake { $0.rings &+= 1 } }

  /// Wakes all tasks, and lets none sleep any more.
  func end() { wake { $0.hasEnded = true } }

  private func wake(_ change: (inout State) -> Void) {
    let sleepers = state.withLock { state in
      change(&state)
      defer { state.sleepers.removeAll() }
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.resume() }
  }
}
