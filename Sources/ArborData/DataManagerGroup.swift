public import ArborModel

/// Managers that are committed and rolled back together.
///
/// ```swift
/// let group = DataManagerGroup()
/// let orders = try DataManager(modelNamed: "Orders", in: models, group: group)
/// let stock = try DataManager(modelNamed: "Stock", in: models, group: group)
/// try group.commitAll()
/// ```
///
/// A group belongs to one thread, as its managers do. It does not keep them alive.
public final class DataManagerGroup {
  private struct Member {
    weak var manager: DataManager?
  }

  private var members: [Member] = []

  /// A group without managers; managers join when they are made.
  public init() {}

  /// The managers that still exist, in the order in which they were made.
  public var managers: [DataManager] { members.compactMap(\.manager) }

  /// Commits every manager, in the order in which they were made.
  ///
  /// Each store has transactions of its own: where a commit throws, the stores before it keep what
  /// they have committed, and the managers from it on keep their changes pending, so that the call
  /// can be repeated once the reason is gone.
  ///
  /// - Throws: ``ArborError``, as ``DataManager/commit()`` does.
  public func commitAll() throws(ArborError) {
    for manager in managers { try manager.commit() }
  }

  /// Drops the pending changes of every manager.
  public func rollbackAll() {
    for manager in managers { manager.rollback() }
  }

  func add(_ manager: DataManager) {
    members.removeAll { $0.manager == nil }
    members.append(Member(manager: manager))
  }
}

@available(*, unavailable, message: "A group stays with its managers.")
extension DataManagerGroup: Sendable {}
