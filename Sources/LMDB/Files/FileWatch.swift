internal import ArborLocks
internal import Dispatch

/// Notifies a closure whenever a file is written or its name is removed, by any process.
///
/// On Linux this uses `inotify`, and a file that is not written costs nothing. Elsewhere, and if
/// the kernel has no watch available, the closure is called ten times a second, so it has to check
/// for changes itself.
package final class FileWatch: Sendable {
  private static let interval = DispatchTimeInterval.milliseconds(100)

  private let ending: Lock<(@Sendable () -> Void)?>

  /// Watches a file until ``cancel()``.
  ///
  /// - Parameter notify: A closure that is called on a queue of the watch, possibly without a
  ///   write. Of several consecutive writes, only the last is certain to be reported.
  package init(path: String, _ notify: @escaping @Sendable () -> Void) {
    #if os(Linux)
      if let end = FileNotifications.shared.watch(path, notify) {
        ending = Lock(end)
        return
      }
    #endif
    ending = Lock(Self.repeatedly(notify))
  }

  deinit { cancel() }

  /// Ends the watch. A call may still be in progress.
  package func cancel() {
    let end = ending.withLock { ending in
      defer { ending = nil }
      return ending
    }
    end?()
  }

  /// Calls `notify` at an interval. Returns a closure that ends the calls.
  static func repeatedly(_ notify: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let hasEnded = Flag()
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + interval, repeating: interval, leeway: interval)
    // The handler keeps the timer alive until it is cancelled.
    timer.setEventHandler {
      if hasEnded.isSet { timer.cancel() } else { notify() }
    }
    timer.resume()
    return { hasEnded.set() }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }
}
