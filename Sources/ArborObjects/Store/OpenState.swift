internal import ArborLocks

/// Whether one use of a store's file is still open. Shared with objects that may outlive the store.
///
/// The file itself doesn't indicate this, because it may be in use elsewhere.
final class OpenState: Sendable {
  private let closed = Atomic(false)

  init() {}

  var isClosed: Bool { closed.load(ordering: .relaxed) }

  /// Ends the use. Returns whether it was open.
  @discardableResult
  func end() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }
}
