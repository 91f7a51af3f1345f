public import ArborModel

/// A group of managers that are committed and rolled back together.
///
/// ```swift
/// let group = DataManagerGroup()
/// let orders = try DataManager(modelNamed: "Orders", in: models, group: group)
/// let stock = try DataManager(modelNamed: "Stock", in: models, group: group)
/// try group.commitAll()
/// ```
///
/// A group belongs to one thread, like its managers. It does not keep them alive.
public final class DataManagerGroup {
  private struct Member {
    weak var manager: DataManager?
  }

  private var members: [Member] = []

  /// Creates an empty group. Managers join when they are created.
  public init() {}

  /// The managers that still exist, in order of creation.
  public var managers: [DataManager] { members.compactMap(\.manager) }

  /// Commits every manager, in order of creation.
  ///
  /// Each store has its own transactions. If a commit throws, stores committed earlier keep their
  /// commits, and the failed and all later managers keep their changes pending, so the call can be
  /// repeated once the cause is resolved.
  ///
  /// - Throws: The same errors as ``DataManager/commit()``.
  public func commitAll() throws(ArborError) {
    for manager in managers { try manager.commit() }
  }

  /// Discards the pending changes of every manager.
  public func rollbackAll() {
    for manager in managers { manager.rollback() }
  }

  func add(_ manager: DataManager) {
    members.removeAll { $0.manager == nil }
    members.append(Member(manager: manager))
  }
}

@available(*, unavailable, message: "A group belongs to the context of its managers.")
extension DataManagerGroup: Sendable {}
