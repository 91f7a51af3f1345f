internal import ArborLocks

/// Ends the operations of several contexts from outside, as the cancellation of their tasks does
/// from inside; see ``WorkLimit/revocation``.
package final class Revocation: Sendable {
  private let state = Atomic(false)

  package init() {}

  package var isRevoked: Bool { state.load(ordering: .relaxed) }

  /// Ends what runs and what comes.
  package func revoke() { state.store(true, ordering: .relaxed) }
}
