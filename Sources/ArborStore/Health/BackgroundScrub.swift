internal import ArborLocks
internal import Foundation

/// The thread of low priority that scrubs a store behind it; see ``StoreScrub``.
///
/// There is one for each open store at most. It holds no more than a snapshot, and only while it
/// reads; closing the store waits for some ten milliseconds for it to let go, and for a small
/// commit that keeps how far it is. Where another process scrubs the file it waits for that one,
/// and goes on itself only if the other one has not completed it.
final class BackgroundScrub: Sendable {
  private struct State {
    /// Signalled when the thread has ended; nil where none exists.
    var ended: DispatchSemaphore?
    /// Signalled when the thread is to end.
    var stop = DispatchSemaphore(value: 0)
    /// Whether it works without a delay.
    var isUrgent = false
    /// When the last complete scrub was, as it was found when there was a reason for another.
    var former: Date?
  }

  private let state = Lock(State())

  /// So long the thread waits before it begins, in milliseconds, where nothing is urgent: the
  /// moments after the opening are the application's.
  private static let delay = 2000

  /// So long it waits between two looks whether another process still scrubs, in milliseconds.
  private static let waiting = 30_000

  /// Begins to scrub, unless a thread does so already.
  func begin(
    _ store: StoreEngine, isUrgent: Bool, waiting: Int = BackgroundScrub.waiting,
    _ report: StoreScrubProgress.Reporter? = nil
  ) {
    begin(store, isUrgent, waiting: waiting, after: try? store.completedScrub(), report)
  }

  private func begin(
    _ store: StoreEngine, _ isUrgent: Bool, waiting: Int, after former: Date?,
    _ report: StoreScrubProgress.Reporter?
  ) {
    let stop = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let isFirst = state.withLock { state in
      guard state.ended == nil else { return false }
      state = State(ended: ended, stop: stop, isUrgent: isUrgent, former: former)
      return true
    }
    guard isFirst else { return }
    Thread.detachNewThread { [self, weak store] in
      #if canImport(Glibc)
        // On Linux this concerns the calling thread alone.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      #endif
      let pause = { stop.wait(timeout: .now() + .milliseconds($0)) == .success }
      var delay = isUrgent ? 0 : Self.delay
      while !pause(delay), let store, !store.hasEnded, !scrub(store, after: former, report, pause) {
        delay = waiting
      }
      state.withLock { $0.ended = nil }
      ended.signal()
    }
  }

  /// Scrubs a store, unless another process does or has done so.
  ///
  /// - Parameters:
  ///   - former: When the last complete scrub was.
  ///   - pause: Waits for a number of milliseconds; returns `true` if the scrub has to end.
  /// - Returns: Whether nothing is left to do; false where another process scrubs.
  private func scrub(
    _ store: StoreEngine, after former: Date?, _ report: StoreScrubProgress.Reporter?,
    _ pause: @escaping (Int) -> Bool
  ) -> Bool {
    do throws(StoreError) {
      return try store.scrubAlone { () throws(StoreError) in
        let completed = try store.completedScrub()
        if store.isReadOnly || completed == former {
          try StoreScrub(store, .gentle, report, pause: pause).run(anew: false)
        }
      }
    } catch {
      // What was found is noted; what else ended it will meet code that reads.
      return true
    }
  }

  /// Ends the thread, and waits for that.
  func stop() {
    state.withLock { state in
      state.stop.signal()
      return state.ended
    }?.pass()
  }

  /// Runs `body` while there is no thread. One that there was is begun anew.
  func paused<R>(_ store: StoreEngine, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let state = state.withLock { $0 }
    stop()
    defer {
      if state.ended != nil, !store.hasEnded {
        begin(store, state.isUrgent, waiting: Self.waiting, after: state.former, nil)
      }
    }
    return try body()
  }

  /// Waits until the thread has done what it can.
  func waitForEnd() { state.withLock { $0.ended }?.pass() }
}

extension DispatchSemaphore {
  /// Waits for a signal that everybody waits for who asks.
  func pass() {
    wait()
    signal()
  }
}
