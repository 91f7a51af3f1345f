internal import ArborLocks
internal import Dispatch

/// Tells whenever somebody writes to a file, or takes its name away, in this process or another
/// one.
///
/// On Linux the kernel tells (`inotify`), and a file that nobody writes to costs nothing.
/// Elsewhere, and where the kernel has no watch left to give, it calls ten times a second: code
/// that is called has to look.
package final class FileWatch: Sendable {
  private static let interval = DispatchTimeInterval.milliseconds(100)

  private let ending: Lock<(@Sendable () -> Void)?>

  /// Watches a file until ``cancel()``.
  ///
  /// - Parameter notify: Called on a queue of the watch, after a write or without one; of several
  ///   writes in a row only the last is sure to be told.
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

  /// Ends the watch. A call that has begun may still be under way.
  package func cancel() {
    let end = ending.withLock { ending in
      defer { ending = nil }
      return ending
    }
    end?()
  }

  /// Calls `notify` time after time; returns what ends that.
  static func repeatedly(_ notify: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let hasEnded = Flag()
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + interval, repeating: interval, leeway: interval)
    // The handler keeps the timer until it is cancelled.
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
