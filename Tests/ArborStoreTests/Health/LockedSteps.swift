import ArborLocks
import ArborStore

/// A thread-safe list of the progress that a scrub reports.
final class LockedSteps: Sendable {
  private let steps = Lock<[StoreScrubProgress]>([])

  func append(_ step: StoreScrubProgress) { steps.withLock { $0.append(step) } }

  var all: [StoreScrubProgress] { steps.withLock { $0 } }
}
