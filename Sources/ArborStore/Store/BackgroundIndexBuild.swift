internal import ArborLocks
internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The thread that fills a store's unfinished indexes behind it.
///
/// There is one for each open store at most. It keeps the store open until it has ended, which
/// closing the store waits for: a batch, or some ten milliseconds.
final class BackgroundIndexBuild: Sendable {
  private struct State {
    /// Signalled when the thread has ended; nil where there is none.
    var ended: DispatchSemaphore?
    var failure: StoreError?
  }

  private let state = Lock(State())
  /// Whether the thread is to end. Written under the lock.
  private let isStopped = Atomic(false)

  /// What ended the last thread before its work was done.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Begins to build, unless a thread does so already.
  func begin(_ store: StoreFile) {
    let ended = state.withLock { state -> DispatchSemaphore? in
      guard state.ended == nil else { return nil }
      let ended = DispatchSemaphore(value: 0)
      state = State(ended: ended)
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
        try OnlineIndexBuilder(store).run(isStopped: { isStopped.load(ordering: .relaxed) })
      } catch {
        failure = error
      }
      state.withLock { [failure] in $0 = State(failure: failure) }
      ended.signal()
    }
  }

  /// Ends the thread at the end of its batch, and waits for that.
  ///
  /// - Returns: Whether there was a thread.
  @discardableResult
  func stop() -> Bool {
    state.withLock { _ in isStopped.store(true, ordering: .relaxed) }
    return waitForEnd()
  }

  /// Waits until the thread has done what it can; returns whether there was one.
  @discardableResult
  func waitForEnd() -> Bool {
    guard let ended = state.withLock({ $0.ended }) else { return false }
    ended.wait()
    ended.signal()
    return true
  }
}
