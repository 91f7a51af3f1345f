internal import ArborLocks

/// Whether one use of a store's file is still open, shared with what may outlive the store.
///
/// Others may have the file open, so that nothing in it tells.
package final class OpenState: Sendable {
  private let closed = Atomic(false)

  package init() {}

  package var isClosed: Bool { closed.load(ordering: .relaxed) }

  /// Ends the use; returns whether it was open.
  @discardableResult
  package func end() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }
}
