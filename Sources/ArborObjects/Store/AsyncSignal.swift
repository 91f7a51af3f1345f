internal import ArborLocks

/// A signal that tasks can wait for. A cancelled task wakes immediately.
///
/// To avoid missing a signal between a check and the wait, read the token, check, and then wait
/// past the token:
///
/// ```swift
/// let token = signal.token
/// if let result = check() { return result }
/// await signal.sleep(past: token)
/// ```
final class AsyncSignal: Sendable {
  private struct State {
    var rings: UInt64 = 0
    var nextID = 0
    var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The IDs of cancelled tasks, so that a task cancelled before it starts waiting doesn't wait.
    var cancelled: Set<Int> = []
    var hasEnded = false
  }

  private let state = Lock(State())

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The number of times the signal has been raised.
  var token: UInt64 { state.withLock { $0.rings } }

  /// Waits until the signal is raised or ended, or the task is cancelled. Returns immediately if
  /// the signal has ended or has been raised since `token` was read.
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

  /// Wakes all tasks and prevents further waiting.
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
