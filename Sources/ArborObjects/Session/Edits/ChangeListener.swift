internal import ArborModel
internal import ArborStore

/// An observer of a session's edits, which is notified before each edit.
///
/// Listeners only record notifications. They must neither read nor change objects.
protocol ChangeListener: AnyObject {
  /// Whether the listener is no longer needed and can be removed.
  var isOver: Bool { get }

  /// Called before the context changes an object or a link.
  func note(_ edit: Edit)

  /// Called before an object's state is replaced by that of a concurrent commit or by an earlier
  /// state.
  func noteReplaced(_ object: ManagedObject)

  /// Called before the context changes the members of an object's relationship.
  func willChange(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema)

  /// Called before the members of an object's relationship are restored to an earlier state.
  func noteReplaced(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema)

  /// Called for each change of a concurrent commit, whether the object is registered or not.
  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool)

  func noteCommitted()

  /// Called when anything may have changed. Registered objects are also reported individually.
  func noteAnything()

  /// Called when the reported changes are complete.
  func settle()
}

extension ChangeListener {
  func noteReplaced(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {}
  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool) {}
  func noteCommitted() {}
  func noteAnything() {}
  func willChange(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {}
  func settle() {}
}
