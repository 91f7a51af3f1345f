internal import ArborFoundation
internal import ArborLocks
internal import Dispatch

/// The low-priority thread that scrubs a store in the background; see ``StoreScrub``.
///
/// There is at most one per open store. It holds only a snapshot, and only while it reads. Closing
/// the store waits about ten milliseconds for it to release the snapshot, plus a small commit that
/// saves its progress. If another process is scrubbing the file, the thread waits for it and
/// continues only if that process has not completed the scrub.
final class BackgroundScrub: Sendable {
  private struct State {
    /// The semaphore that is signaled when the thread has ended, or `nil` if there is no thread.
    var ended: DispatchSemaphore?
    /// The semaphore that is signaled to end the thread.
    var stop = DispatchSemaphore(value: 0)
    /// Whether the thread starts without a delay.
    var isUrgent = false
    /// The time of the last complete scrub when this one was requested.
    var former: Date?
  }

  private let state = Lock(State())

  /// The delay before a scrub that is not urgent, in milliseconds, so that it doesn't compete with
  /// the application right after opening.
  private static let delay = 2000

  /// The interval for checking whether another process is still scrubbing, in milliseconds.
  private static let waiting = 30_000

  /// Starts the thread unless it is already running.
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
    detachThread { [self, weak store] in
      let pause = { stop.wait(timeout: .now() + .milliseconds($0)) == .success }
      var delay = isUrgent ? 0 : Self.delay
      while !pause(delay), let store, !store.hasEnded, !scrub(store, after: former, report, pause) {
        delay = waiting
      }
      state.withLock { $0.ended = nil }
      ended.signal()
    }
  }

  /// Scrubs a store, unless another process is doing so or has done so.
  ///
  /// - Parameters:
  ///   - former: The time of the last complete scrub when this one was requested.
  ///   - pause: Waits for a number of milliseconds and returns whether the scrub has to end.
  /// - Returns: Whether nothing is left to do. `false` if another process is scrubbing.
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
      // Damage has been recorded. Other errors will surface in code that reads the store.
      return true
    }
  }

  /// Stops the thread and waits for it.
  func stop() {
    state.withLock { state in
      state.stop.signal()
      return state.ended
    }?.pass()
  }

  /// Runs `body` while the thread is stopped, then restarts the thread if it was running.
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

  /// Waits until the thread has ended.
  func waitForEnd() { state.withLock { $0.ended }?.pass() }
}

extension DispatchSemaphore {
  /// Waits for a signal and passes it on to the next waiter.
  func pass() {
    wait()
    signal()
  }
}
