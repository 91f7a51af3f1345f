internal import ArborModel
internal import ArborStore

/// An observer of a session's edits, which is notified of each before it is made.
///
/// Listeners only record what they are notified of: they neither read nor change anything.
protocol ChangeListener: AnyObject {
  /// Whether the listener is no longer needed, so that the session removes it.
  var isOver: Bool { get }

  /// The context is about to change an object or a link.
  func note(_ edit: Edit)

  /// An object's state is about to be replaced: by that of a concurrent commit, or by what it was
  /// before.
  func noteReplaced(_ object: ManagedObject)

  /// The members of an object's relationship are about to be changed by the context.
  func willChange(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema)

  /// The members of an object's relationship are about to be what they were before.
  func noteReplaced(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema)

  /// A concurrent commit has made a change, of an object that the context keeps or of one that it
  /// does not.
  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool)

  func noteCommitted()

  /// Anything may have changed. Registered objects are reported one by one as well.
  func noteAnything()

  /// The reported changes are in place.
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
