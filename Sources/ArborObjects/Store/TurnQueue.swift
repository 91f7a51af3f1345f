internal import ArborLocks
internal import ArborModel
internal import Dispatch

/// A semaphore that limits the number of tasks and threads that run at once. The others wait in
/// order of arrival.
///
/// A waiting task stops waiting when it is cancelled, as does a waiting thread whose task is
/// cancelled.
///
/// ```swift
/// try await turns.enter()
/// defer { turns.leave() }
/// ```
final class TurnQueue: Sendable {
  /// The interval at which a waiting thread checks whether its task was cancelled.
  private static let pollInterval = DispatchTimeInterval.milliseconds(10)

  private enum Waiter {
    case task(CheckedContinuation<Bool, Never>)
    case thread(DispatchSemaphore)
  }

  private struct State {
    var free: Int
    var nextID = 0
    var waiting: [(id: Int, waiter: Waiter)] = []
    /// The IDs of cancelled tasks, so that a task cancelled before it starts waiting doesn't wait.
    var cancelled: Set<Int> = []

    mutating func makeID() -> Int {
      nextID += 1
      return nextID
    }

    /// Removes a waiter. Returns `nil` if it already has its turn.
    mutating func remove(_ id: Int) -> Waiter? {
      guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
      return waiting.remove(at: index).waiter
    }
  }

  private let state: Lock<State>

  /// - Parameter count: The maximum number of concurrent turns.
  init(count: Int) { state = Lock(State(free: count)) }

  /// Waits for a turn without blocking a thread.
  ///
  /// - Parameter isolation: The actor on which the task resumes. If other threads may wait for the
  ///   same turns with ``enterAndWait()``, the task must not resume on one of those.
  /// - Throws: ``ArborError`` `cancelled` if the task is cancelled. In that case it has no turn.
  func enter(isolation: isolated (any Actor)? = #isolation) async throws(ArborError) {
    guard !Task<Never, Never>.isCancelled else { throw ArborError(Interruption.cancelled) }
    let id = state.withLock { $0.makeID() }
    let hasTurn = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.cancelled.contains(id) { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append((id, .task(continuation)))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.cancelled.insert(id)
        return state.remove(id)
      }
      if case .task(let continuation)? = waiter { continuation.resume(returning: false) }
    }
    state.withLock { _ = $0.cancelled.remove(id) }
    if !hasTurn { throw ArborError(Interruption.cancelled) }
  }

  /// Waits for a turn on the caller's thread.
  ///
  /// - Throws: ``ArborError`` `cancelled` if the thread's task is cancelled. In that case it has no
  ///   turn.
  func enterAndWait() throws(ArborError) {
    guard !Task<Never, Never>.isCancelled else { throw ArborError(Interruption.cancelled) }
    let turn = DispatchSemaphore(value: 0)
    let waiting = state.withLock { state -> Int? in
      if state.free > 0 {
        state.free -= 1
        return nil
      }
      let id = state.makeID()
      state.waiting.append((id, .thread(turn)))
      return id
    }
    guard let waiting else { return }
    while turn.wait(timeout: .now() + Self.pollInterval) == .timedOut {
      guard Task<Never, Never>.isCancelled else { continue }
      if state.withLock({ $0.remove(waiting) }) != nil {
        throw ArborError(Interruption.cancelled)
      }
    }
  }

  /// Ends a turn and starts the next waiter's.
  func leave() {
    let next = state.withLock { state -> Waiter? in
      guard !state.waiting.isEmpty else {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst().waiter
    }
    switch next {
    case .task(let continuation): continuation.resume(returning: true)
    case .thread(let turn): turn.signal()
    case nil: break
    }
  }
}
