internal import ArborFoundation
internal import ArborLocks
internal import Dispatch

/// The background thread that builds a store's unfinished indexes.
///
/// There is at most one per open store. It keeps the store open until it has ended. Closing the
/// store waits for it, which takes up to one batch or about ten milliseconds.
final class BackgroundIndexBuild: Sendable {
  private struct State {
    /// The semaphore that is signaled when the thread has ended, or `nil` if there is no thread.
    var ended: DispatchSemaphore?
    var failure: StoreError?
    var largestBatch = 0
  }

  private let state = Lock(State())
  /// Whether the thread should end. Written under the lock.
  private let isStopped = Atomic(false)

  /// The error that ended the last thread before its work was done.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Starts the thread unless it is already running.
  func begin(_ store: StoreEngine, largestBatch: Int) {
    let ended = state.withLock { state -> DispatchSemaphore? in
      guard state.ended == nil else { return nil }
      let ended = DispatchSemaphore(value: 0)
      state = State(ended: ended, largestBatch: largestBatch)
      isStopped.store(false, ordering: .relaxed)
      return ended
    }
    guard let ended else { return }
    detachThread { [self] in
      var failure: StoreError?
      do throws(StoreError) {
        try OnlineIndexBuilder(store, largestBatch: largestBatch).run {
          isStopped.load(ordering: .relaxed)
        }
      } catch {
        failure = error
      }
      state.withLock { [failure] in ($0.ended, $0.failure) = (nil, failure) }
      ended.signal()
    }
  }

  /// Stops the thread at the end of its batch and waits for it.
  func stop() {
    state.withLock { _ in isStopped.store(true, ordering: .relaxed) }
    waitForEnd()
  }

  /// Runs `body` while the thread is stopped, then restarts the thread if it was running.
  func paused<R>(_ store: StoreEngine, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let state = state.withLock { $0 }
    stop()
    defer {
      if state.ended != nil, !store.hasEnded { begin(store, largestBatch: state.largestBatch) }
    }
    return try body()
  }

  /// Waits until the thread has ended.
  func waitForEnd() { state.withLock { $0.ended }?.pass() }
}
