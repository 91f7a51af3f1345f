public import ArborObjects
public import Foundation

/// A delegate that is notified of changes in a manager's context. All requirements have default
/// implementations.
public protocol DataManagerDelegate: AnyObject {
  /// Asks whether the manager's context keeps an undo history. Called once, when the manager is
  /// created.
  ///
  /// Returns `true` by default. A history can be set or removed at any time through
  /// `manager.context.undoHistory`.
  func dataManagerSupportsUndo(_ manager: DataManager) -> Bool

  /// Asks whether a store file of another model version may be migrated to the current one. Called
  /// before a store file is opened.
  ///
  /// Returns `true` by default. Returning `false` overrides the migration options.
  ///
  /// - Parameter url: The URL of the store's file.
  func dataManagerSupportsLightweightMigration(forStoreAt url: URL) -> Bool

  /// Notifies the delegate of a round of changes.
  ///
  /// A round ends at ``DataManager/processPendingChanges()``, ``DataManager/commit()``,
  /// ``DataManager/undo()`` and ``DataManager/redo()``. The delegate is not called after each
  /// operation: an object that is inserted and then given values is reported once, as created. A
  /// ``DataManager/rollback()`` ends a round without a notification.
  ///
  /// An object is in at most one of the sets, and in none if it was inserted and deleted in the
  /// same round. Changes made during the call belong to the next round.
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
  /// Returns `true`.
  public func dataManagerSupportsUndo(_ manager: DataManager) -> Bool { true }

  /// Returns `true`.
  public func dataManagerSupportsLightweightMigration(forStoreAt url: URL) -> Bool { true }

  /// Does nothing.
  public func dataManager(
    _ manager: DataManager, created: Set<ManagedObject>, updated: Set<ManagedObject>,
    deleted: Set<ManagedObject>
  ) {}
}
