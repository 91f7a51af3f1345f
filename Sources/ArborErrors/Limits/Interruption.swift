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
      self.init(.cancelled, "The task was cancelled before the operation was done.")
      underlying = CancellationError()
    case .deadlineExceeded:
      self.init(
        .deadlineExceeded,
        "The operation was not done at its deadline; ask for less, or give it more time.")
    case .elementsExceeded(let most):
      self.init(
        .limitExceeded,
        "The predicate asks for more than \(most) elements of collections to be evaluated; ask for "
          + "less, or raise maximumElements of its limits.")
    case .valueTooLarge(let most):
      self.init(
        .limitExceeded,
        "The predicate computes values of more than \(most) bytes and elements. Ask for less, or "
          + "raise maximumValueSize of its limits.")
    case .expressionTooComplex:
      self.init(
        .limitExceeded,
        "A regular expression takes more than 20 million steps or 8 MB of memory for one text. "
          + "Avoid repetitions within repetitions in it, and alternatives that begin alike.")
    }
  }
}
