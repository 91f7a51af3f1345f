import ArborLocks
import ArborStore

/// What a scrub reports, as it comes.
final class LockedSteps: Sendable {
  private let steps = Lock<[StoreScrubProgress]>([])

  func append(_ step: StoreScrubProgress) { steps.withLock { $0.append(step) } }

  var all: [StoreScrubProgress] { steps.withLock { $0 } }
}
