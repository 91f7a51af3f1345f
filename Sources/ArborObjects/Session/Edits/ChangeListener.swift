internal import ArborModel
internal import ArborStore

/// What is told of a context's edits, each before it is made.
///
/// Listeners only record what they are told: they read nothing and change nothing meanwhile.
protocol ChangeListener: AnyObject {
  /// Whether nobody is interested any more: the context forgets the listener.
  var isOver: Bool { get }

  /// The context is about to change an object or a link.
  func note(_ edit: Edit)

  /// An object's state is about to be replaced: by that of a concurrent commit, or by what it was
  /// before.
  func noteReplaced(_ object: ManagedObject)

  /// The members of an object's relationship are about to be changed by the context.
  func willChange(linksOf owner: ObjectNumber, _ relation: Relation)

  /// The members of an object's relationship are about to be what they were before.
  func noteReplaced(linksOf owner: ObjectNumber, _ relation: Relation)

  /// A concurrent commit has made a change, of an object that the context keeps or of one that it
  /// does not.
  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool)

  func noteCommitted()

  /// Anything may have changed; the objects that the context keeps are told of by themselves.
  func noteAnything()

  /// What was told of is in place.
  func settle()
}

extension ChangeListener {
  func noteReplaced(linksOf owner: ObjectNumber, _ relation: Relation) {}
  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool) {}
  func noteCommitted() {}
  func noteAnything() {}
  func willChange(linksOf owner: ObjectNumber, _ relation: Relation) {}
  func settle() {}
}
