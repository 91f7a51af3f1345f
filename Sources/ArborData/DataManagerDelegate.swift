public import ArborObjects

/// Who is told what changes in a manager's context. Every requirement has a default.
public protocol DataManagerDelegate: AnyObject {
  /// Called once for a round of changes: after an operation on the manager that changed objects,
  /// and at ``DataManager/processPendingChanges()``.
  ///
  /// An object is in one of the sets at most. Changes made in the call belong to the next round.
  ///
  /// - Parameters:
  ///   - manager: The manager whose context changed.
  ///   - created: The objects inserted since the last round.
  ///   - updated: The objects changed since the last round.
  ///   - deleted: The objects deleted since the last round.
  func dataManager(
    _ manager: DataManager, created: Set<ManagedObject>, updated: Set<ManagedObject>,
    deleted: Set<ManagedObject>)
}

extension DataManagerDelegate {
  /// Does nothing.
  public func dataManager(
    _ manager: DataManager, created: Set<ManagedObject>, updated: Set<ManagedObject>,
    deleted: Set<ManagedObject>
  ) {}
}
