internal import ArborLocks
internal import Foundation

/// The thread that fills a store's unfinished indexes behind it.
///
/// There is one for each open store at most. It keeps the store open until it has ended, which
/// closing the store waits for: a batch, or some ten milliseconds.
final class BackgroundIndexBuild: Sendable {
  private struct State {
    /// Signalled when the thread has ended; nil where none exists.
    var ended: DispatchSemaphore?
    var failure: StoreError?
    var largestBatch = 0
  }

  private let state = Lock(State())
  /// Whether the thread is to end. Written under the lock.
  private let isStopped = Atomic(false)

  /// What ended the last thread before its work was done.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Begins to build, unless a thread does so already.
  func begin(_ store: StoreEngine, largestBatch: Int) {
    let ended = state.withLock { state -> DispatchSemaphore? in
      guard state.ended == nil else { return nil }
      let ended = DispatchSemaphore(value: 0)
      state = State(ended: ended, largestBatch: largestBatch)
      isStopped.store(false, ordering: .relaxed)
      return ended
    }
    guard let ended else { return }
    Thread.detachNewThread { [self] in
      #if canImport(Glibc)
        // On Linux this concerns the calling thread alone.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      #endif
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

  /// Stops the thread at the end of its current batch, and waits until it has ended.
  func stop() {
    state.withLock { _ in isStopped.store(true, ordering: .relaxed) }
    waitForEnd()
  }

  /// Runs `body` while there is no thread. One that there was is begun anew.
  func paused<R>(_ store: StoreEngine, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let state = state.withLock { $0 }
    stop()
    defer {
      if state.ended != nil, !store.hasEnded { begin(store, largestBatch: state.largestBatch) }
    }
    return try body()
  }

  /// Waits until the thread has done what it can.
  func waitForEnd() { state.withLock { $0.ended }?.pass() }
}
