internal import ArborLocks
internal import Dispatch

/// A point in time by which an operation has to be finished, on a monotonic clock.
struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  init(_ time: Duration) { end = .now + time }

  private init(end: ContinuousClock.Instant) { self.end = end }

  /// The remaining time, or zero if the deadline has passed.
  var left: Duration { max(.zero, end - .now) }

  var isOver: Bool { left == .zero }

  /// The remaining time in whole milliseconds, rounded up, for `poll`.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = left.components
    let whole = Int64(1_000_000_000_000_000)
    return Int32(clamping: seconds * 1000 + (attoseconds + whole - 1) / whole)
  }

  var dispatchTime: DispatchTime { .now() + .milliseconds(Int(milliseconds)) }

  /// Returns the earlier of this deadline and one after the given time from now.
  func atMost(_ time: Duration) -> Deadline { Deadline(end: min(end, .now + time)) }
}

/// A blocking system call without a timeout, such as resolving a host name, whose caller waits only
/// until a deadline.
///
/// Each call runs on its own thread. A late result is discarded. At most ``maximumConcurrentCalls``
/// calls run at once, which bounds the number of hanging threads; further calls wait for others to
/// end, until their own deadlines.
struct BoundedCall: Sendable {
  /// The maximum number of concurrent calls in the process, including abandoned ones.
  static let maximumConcurrentCalls = 32
  static let shared = BoundedCall(atMost: maximumConcurrentCalls)

  private let slots: DispatchSemaphore

  init(atMost count: Int) { slots = DispatchSemaphore(value: count) }

  /// Returns the result of a call, or `nil` if the deadline passes first.
  func run<R: Sendable>(until deadline: Deadline, _ body: @escaping @Sendable () -> R) -> R? {
    guard slots.wait(timeout: deadline.dispatchTime) == .success else { return nil }
    let result = Lock<R?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    // A queue per call, so that a hanging call doesn't block others.
    DispatchQueue(label: "ArborData.postgres.call").async { [slots] in
      let found = body()
      result.withLock { $0 = found }
      isDone.signal()
      slots.signal()
    }
    guard isDone.wait(timeout: deadline.dispatchTime) == .success else { return nil }
    return result.withLock { $0 }
  }
}
