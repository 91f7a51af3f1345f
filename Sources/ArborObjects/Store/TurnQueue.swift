internal import ArborLocks
internal import ArborModel
internal import Dispatch

/// Lets no more than a number of tasks and threads go on at once, the others in the order they
/// came.
///
/// A task that waits stops waiting when it is cancelled; so does a thread whose task is.
///
/// ```swift
/// try await turns.enter()
/// defer { turns.leave() }
/// ```
final class TurnQueue: Sendable {
  /// How often a thread that waits looks whether its task is cancelled.
  private static let pollInterval = DispatchTimeInterval.milliseconds(10)

  private enum Waiter {
    case task(CheckedContinuation<Bool, Never>)
    case thread(DispatchSemaphore)
  }

  private struct State {
    var free: Int
    var nextID = 0
    var waiting: [(id: Int, waiter: Waiter)] = []
    /// The tasks that were cancelled before they began to wait.
    var cancelled: Set<Int> = []

    mutating func makeID() -> Int {
      nextID += 1
      return nextID
    }

    /// Takes a waiter out; nil where it has its turn already.
    mutating func remove(_ id: Int) -> Waiter? {
      guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
      return waiting.remove(at: index).waiter
    }
  }

  private let state: Lock<State>

  /// - Parameter count: How many may go on at once.
  init(count: Int) { state = Lock(State(free: count)) }

  /// Waits for a turn, without keeping a thread.
  ///
  /// - Parameter isolation: Where the task goes on when it has its turn. What other threads may
  ///   wait for with ``enterAndWait()`` has to go on somewhere else than on these.
  /// - Throws: ``ArborError`` `cancelled` where the task is; it has no turn then.
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
  /// - Throws: ``ArborError`` `cancelled` where the thread's task is; it has no turn then.
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

  /// Ends a turn: the next of those who wait has his.
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
