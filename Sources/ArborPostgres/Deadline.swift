internal import ArborLocks
internal import Dispatch

/// A moment at which something has to have ended, on a clock that nobody sets.
struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  init(_ time: Duration) { end = .now + time }

  private init(end: ContinuousClock.Instant) { self.end = end }

  /// The time until then; none once it is over.
  var left: Duration { max(.zero, end - .now) }

  var isOver: Bool { left == .zero }

  /// The time until then in whole milliseconds, rounded up, as `poll` takes it.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = left.components
    let whole = Int64(1_000_000_000_000_000)
    return Int32(clamping: seconds * 1000 + (attoseconds + whole - 1) / whole)
  }

  var dispatchTime: DispatchTime { .now() + .milliseconds(Int(milliseconds)) }

  /// This deadline, or the one in a time from now where that is earlier.
  func atMost(_ time: Duration) -> Deadline { Deadline(end: min(end, .now + time)) }
}

/// A call into the system that takes no time-out, such as the look-up of a host's name, and that
/// nobody waits for beyond a deadline.
///
/// It runs on a thread of its own. What comes too late is dropped there, and the thread ends with
/// it; so that those do not pile up where every look-up hangs, calls beyond ``mostAtOnce`` are not
/// begun.
struct BoundedCall: Sendable {
  /// How many calls of the process may be under way, those included that nobody waits for any more.
  static let mostAtOnce = 32
  static let shared = BoundedCall(atMost: mostAtOnce)

  private let slots: DispatchSemaphore

  init(atMost count: Int) { slots = DispatchSemaphore(value: count) }

  /// What a call gives; nil where the deadline is over before.
  func run<R: Sendable>(until deadline: Deadline, _ body: @escaping @Sendable () -> R) -> R? {
    guard slots.wait(timeout: deadline.dispatchTime) == .success else { return nil }
    let result = Lock<R?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    // A queue of its own is a thread of its own: those that hang keep nobody else waiting.
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
