/// Why work was ended before it was done.
package enum Interruption: Error, Sendable, Hashable {
  /// The task that runs the work was cancelled.
  case cancelled
  /// The work was not done at its deadline.
  case deadlineExceeded
  /// More elements of collections had to be evaluated than are allowed.
  case elementsExceeded(Int)
  /// Computed values would have had more bytes and elements than are allowed.
  case valueTooLarge(Int)
  /// Matching a regular expression took too many steps or too much memory.
  case expressionTooComplex
}

extension ArborError {
  /// What the caller of interrupted work is told.
  package init(_ interruption: Interruption) {
    switch interruption {
    case .cancelled:
      self.init(.cancelled, "The task was cancelled before the operation finished.")
      underlying = CancellationError()
    case .deadlineExceeded:
      self.init(
        .deadlineExceeded,
        "The operation exceeded its deadline. Request less, or allow more time.")
    case .elementsExceeded(let most):
      self.init(
        .limitExceeded,
        "The predicate evaluates more than \(most) elements of collections. Simplify it, or raise "
          + "maximumElements of its limits.")
    case .valueTooLarge(let most):
      self.init(
        .limitExceeded,
        "The predicate computes values of more than \(most) bytes and elements. Simplify it, or "
          + "raise maximumValueSize of its limits.")
    case .expressionTooComplex:
      self.init(
        .limitExceeded,
        "A regular expression exceeds 20 million steps or 8 MB of memory for one string. Avoid "
          + "nested repetitions and alternatives with a common prefix.")
    }
  }
}
