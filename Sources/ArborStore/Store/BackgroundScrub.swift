internal import ArborLocks
internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The thread of low priority that scrubs a store behind it; see ``StoreScrub``.
///
/// There is one for each open store at most. It holds no more than a snapshot, and only while it
/// reads; closing the store waits for some ten milliseconds for it to let go.
final class BackgroundScrub: Sendable {
  private struct State {
    /// Signalled when the thread has ended; nil where there is none.
    var ended: DispatchSemaphore?
    /// Signalled when the thread is to end.
    var stop = DispatchSemaphore(value: 0)
    /// Whether it works without a delay.
    var isUrgent = false
  }

  private let state = Lock(State())

  /// So long the thread waits before it begins, in milliseconds, where nothing is urgent: the
  /// moments after the opening are the application's.
  private static let delay = 2000

  /// Begins to scrub, unless a thread does so already.
  ///
  /// - Parameter isUrgent: Whether it begins at once.
  func begin(_ store: StoreFile, isUrgent: Bool) {
    let stop = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let isFirst = state.withLock { state in
      guard state.ended == nil else { return false }
      state = State(ended: ended, stop: stop, isUrgent: isUrgent)
      return true
    }
    guard isFirst else { return }
    Thread.detachNewThread { [self, weak store] in
      #if canImport(Glibc)
        // On Linux this concerns the calling thread alone.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      #endif
      let pause = { stop.wait(timeout: .now() + .milliseconds($0)) == .success }
      if !pause(isUrgent ? 0 : Self.delay), let store, !store.hasEnded {
        // What was found is noted; what else ended it will meet whoever reads.
        try? StoreScrub(store, .gentle, pause: pause).run(anew: false)
      }
      state.withLock { $0.ended = nil }
      ended.signal()
    }
  }

  /// Ends the thread, and waits for that.
  func stop() {
    guard
      let ended = state.withLock({
        $0.stop.signal(); return $0.ended
      })
    else { return }
    ended.wait()
    ended.signal()
  }

  /// Runs `body` while there is no thread. One that there was is begun anew.
  func paused<R>(
    _ store: StoreFile, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let state = state.withLock { $0 }
    stop()
    let result = try body()
    if state.ended != nil, !store.hasEnded { begin(store, isUrgent: state.isUrgent) }
    return result
  }

  /// Waits until the thread has done what it can.
  func waitForEnd() {
    guard let ended = state.withLock({ $0.ended }) else { return }
    ended.wait()
    ended.signal()
  }
}
