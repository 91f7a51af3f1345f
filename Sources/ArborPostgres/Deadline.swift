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
