internal import ArborLocks

/// A flag that indicates whether a store has been closed. Shared with objects that may outlive the
/// store.
///
/// The engine can't report this, because other stores may share it.
final class OpenState: Sendable {
  private let closed = Atomic(false)

  init() {}

  var isClosed: Bool { closed.load(ordering: .relaxed) }

  /// Marks the store as closed. Returns whether it was open.
  @discardableResult
  func end() -> Bool { !closed.exchange(true, ordering: .acquiringAndReleasing) }
}
