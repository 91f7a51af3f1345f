/// The reason an operation was stopped early.
@usableFromInline
package enum Interruption: Error, Sendable, Hashable {
  /// The task that runs the operation was cancelled.
  case cancelled
  /// The operation did not finish before its deadline.
  case deadlineExceeded
  /// The operation evaluated more collection elements than allowed.
  case elementsExceeded(Int)
  /// The operation did more work for computing values than allowed.
  case workExceeded(Int)
  /// Computed values would have exceeded the allowed number of bytes and elements.
  case valueTooLarge(Int)
  /// Matching a regular expression exceeded the limit of steps or memory.
  case expressionTooComplex
}

extension ArborError {
  /// Creates the public error for an interruption.
  package init(_ interruption: Interruption) {
    switch interruption {
    case .cancelled:
      self.init(.cancelled, "The task was cancelled before the operation finished.")
      underlying = CancellationError()
    case .deadlineExceeded:
      self.init(
        .deadlineExceeded,
        "The operation exceeded its deadline. Request less data, or extend the deadline.")
    case .elementsExceeded(let most):
      self.init(
        .limitExceeded,
        "The predicate evaluates more collection elements than its limit of \(most). Simplify it, "
          + "or raise maximumElements in its limits.")
    case .workExceeded(let most):
      self.init(
        .limitExceeded,
        "The predicate needs more work than its limit of \(most) units. Simplify it, or raise "
          + "maximumWork in its limits.")
    case .valueTooLarge(let most):
      self.init(
        .limitExceeded,
        "The predicate's computed values exceed its limit of \(most), counting bytes and collection "
          + "elements. Simplify it, or raise maximumValueSize in its limits.")
    case .expressionTooComplex:
      self.init(
        .limitExceeded,
        "A regular expression exceeds 20 million steps or 8 MB of memory for one string. Avoid "
          + "nested repetitions and alternatives with a common prefix.")
    }
  }
}
