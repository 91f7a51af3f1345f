internal import ArborLocks

/// Whether one use of a store's file is still open, shared with what may outlive the store.
///
/// Others may have the file open, so that nothing in it tells.
final class OpenState: Sendable {
  private let closed = Atomic(false)

  init() {}

  var isClosed: Bool { closed.load(ordering: .relaxed) }

  /// Ends the use; returns whether it was open.
  @discardableResult
  func end() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }
}
