public import ArborObjects
public import Foundation

/// Who is told what changes in a manager's context. Every requirement has a default.
public protocol DataManagerDelegate: AnyObject {
  /// Asked once, when the manager is made: whether its context keeps an undo history. Yes by
  /// default; a history can be set and taken away at any time, as `manager.context.undoHistory`.
  func dataManagerSupportsUndo(_ manager: DataManager) -> Bool

  /// Asked before a store in a file opens: whether a file of another version of the model may be
  /// brought to the present one. Yes by default; no overrides what the options say.
  ///
  /// - Parameter url: The store's file.
  func dataManagerSupportsLightweightMigration(forStoreAt url: URL) -> Bool

  /// Called once for a round of changes, which ends at ``DataManager/processPendingChanges()``,
  /// ``DataManager/commit()``, ``DataManager/undo()`` and ``DataManager/redo()``; not after each
  /// operation, so that an object which is inserted and then filled is told of once, as created. A
  /// ``DataManager/rollback()`` ends a round of which nothing is told.
  ///
  /// An object is in one of the sets at most, and in none where it was inserted and deleted in one
  /// round. Changes made in the call belong to the next round.
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
  /// Yes.
  public func dataManagerSupportsUndo(_ manager: DataManager) -> Bool { true }

  /// Yes.
  public func dataManagerSupportsLightweightMigration(forStoreAt url: URL) -> Bool { true }

  /// Does nothing.
  public func dataManager(
    _ manager: DataManager, created: Set<ManagedObject>, updated: Set<ManagedObject>,
    deleted: Set<ManagedObject>
  ) {}
}
