internal import ArborModel
internal import ArborStore

/// Somebody who is told of the steps that change a context's objects, each before it is made.
///
/// Listeners only take down what they are told: they read nothing and change nothing meanwhile.
protocol ChangeListener: AnyObject {
  /// Whether nobody is interested any more: the context forgets the listener.
  var isOver: Bool { get }

  /// The context is about to change an object or a link.
  func note(_ entry: ChangeJournal.Entry)

  /// An object's state is about to be replaced: by what others have committed, or by what it was
  /// before.
  func noteReplaced(_ object: ManagedObject)

  /// The members of an object's relationship are about to be what they were before.
  func noteReplaced(linksOf owner: ObjectNumber, _ relation: Relation)

  /// Others have committed a change, of an object that the context keeps or of one that it does
  /// not.
  func noteForeign(_ change: HistoryEntry.Change, isRegistered: Bool)

  /// The context has committed its changes.
  func noteCommitted()

  /// Anything may have changed; the objects that the context keeps are told of by themselves.
  func noteAnything()
}

extension ChangeListener {
  func noteReplaced(_ object: ManagedObject) {}
  func noteReplaced(linksOf owner: ObjectNumber, _ relation: Relation) {}
  func noteForeign(_ change: HistoryEntry.Change, isRegistered: Bool) {}
  func noteCommitted() {}
  func noteAnything() {}
}

extension ManagedObjectContext {
  /// Notes a step for whoever may have to undo or to report it.
  @inline(__always)
  func noteStep(_ entry: @autoclosure () -> ChangeJournal.Entry) {
    guard journal != nil || !listeners.isEmpty || undoHistory != nil else { return }
    let entry = entry()
    journal?.entries.append(entry)
    tellListeners { $0.note(entry) }
    undoHistory?.note(entry)
  }

  /// Notes that the changes of an object are put on top of what others have committed, which is
  /// nothing to undo.
  func noteMerge(of object: ManagedObject) {
    guard journal != nil || !listeners.isEmpty else { return }
    let entry = ChangeJournal.Entry.object(ObjectStep(object))
    journal?.entries.append(entry)
    tellListeners { $0.note(entry) }
    noteReplaced(object)
  }

  /// Notes that an object's state is about to be replaced.
  @inline(__always)
  func noteReplaced(_ object: ManagedObject) {
    guard !listeners.isEmpty else { return }
    tellListeners { $0.noteReplaced(object) }
  }

  /// Calls `body` with all listeners; the last thing that those do who are over.
  @inline(__always)
  func tellListeners(_ body: (any ChangeListener) -> Void) {
    if !listeners.isEmpty { tell(body) }
  }

  @inline(never)
  private func tell(_ body: (any ChangeListener) -> Void) {
    let wasTelling = isTellingListeners
    isTellingListeners = true
    defer { isTellingListeners = wasTelling }
    var isAnyOver = false
    for listener in listeners {
      if listener.isOver { isAnyOver = true } else { body(listener) }
    }
    if isAnyOver { listeners.removeAll(where: \.isOver) }
  }

  /// From the next change of any object on, the listeners are told of it again.
  func beginListening() { beginEpoch() }
}
