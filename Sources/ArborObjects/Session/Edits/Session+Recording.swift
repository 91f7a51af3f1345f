internal import ArborModel

/// Recording edits, each before it is made.
extension Session {
  /// Whether anything is interested in edits.
  @inline(__always)
  private var recordsEdits: Bool { isInSavepoint || !listeners.isEmpty || undo != nil }

  /// Records that an object is about to change.
  ///
  /// - Parameter isKnown: Whether the context knows it already.
  @inline(__always)
  func recordEdit(of object: ManagedObject, isKnown: Bool = true) {
    if recordsEdits { record(object, isKnown: isKnown) }
  }

  @inline(never)
  private func record(_ object: ManagedObject, isKnown: Bool) {
    var edit = ObjectEdit(
      object, isKnown: isKnown, isInSavepoint: isInSavepoint, isUndoable: recordsUndo)
    // Listeners get a copy, which costs more than to look whether there are any.
    if !listeners.isEmpty { tell(of: .object(edit)) }
    guard edit.isUndoable || isInSavepoint else { return }
    if !isInSavepoint, let undo { edit.settle(undo.allocator) }
    append(.object(edit))
  }

  /// Records that what is pending of a member is about to change.
  @inline(__always)
  func recordEdit(of list: PendingMembers, _ member: ObjectNumber, isMerge: Bool = false) {
    if recordsEdits { record(list, member, isMerge: isMerge) }
  }

  @inline(never)
  private func record(_ list: PendingMembers, _ member: ObjectNumber, isMerge: Bool) {
    let former = list[member]
    let isUndoable = !isMerge && recordsUndo
    let wasMember =
      switch former {
      case .added: true
      case .removed: false
      case .unmentioned: isUndoable && isStored(member, in: list.relationship, of: list.owner)
      }
    let edit = Edit.link(
      LinkEdit(
        owner: list.owner, relationship: list.relationship, member: member, former: former,
        wasMember: wasMember, isUndoable: isUndoable))
    if !isMerge { tell(of: edit) }
    if isUndoable || isInSavepoint { append(edit) }
  }

  /// Records that what is pending of the sequence of members is about to change. What undo takes
  /// back is the sequence itself.
  func recordOrder(_ list: PendingMembers, tellsListeners: Bool = true) {
    guard isInSavepoint || !listeners.isEmpty else { return }
    let edit = Edit.order(owner: list.owner, list.relationship, list.order?.copy)
    if tellsListeners { tell(of: edit) }
    if isInSavepoint { append(edit) }
  }

  /// Records the sequence of an ordered relationship's members for undo, before the first of them
  /// leaves or is moved.
  func recordSequence(_ list: PendingMembers) {
    let stored = storedMembers(of: list.owner, list.relationship)
    var members = list.isSilent ? stored : list.members(over: stored)
    if let joined = list.order?.joined(in: epoch), !joined.isEmpty {
      members.removeAll(where: joined.contains)
    }
    append(
      .sequence(
        SequenceEdit(
          owner: list.owner, relationship: list.relationship, before: members, stored: stored)))
  }

  /// Records that the changes of an object are put on top of a concurrent commit, which is nothing
  /// to undo.
  func recordMerge(of object: ManagedObject) {
    guard isInSavepoint || !listeners.isEmpty else { return }
    let edit = Edit.object(ObjectEdit(object, isInSavepoint: isInSavepoint))
    if isInSavepoint { append(edit) }
    tell(of: edit)
    noteReplaced(object)
  }

  /// Runs `body`, whose changes are nothing to undo.
  func withoutUndo<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let wasSuspended = undo?.isSuspended ?? false
    undo?.isSuspended = true
    defer {
      undo?.isSuspended = wasSuspended
      // Objects that it has changed were not recorded: their next change has to be.
      if undo != nil { beginEpoch() }
    }
    return try body()
  }

  private var recordsUndo: Bool { undo?.isRecording ?? false }

  private func append(_ edit: consuming Edit) {
    if edit.isUndoable { undo?.noteEdit(at: log.count) }
    log.append(edit)
  }

  /// Notes that an object's state is about to be replaced.
  @inline(__always)
  func noteReplaced(_ object: ManagedObject) {
    guard !listeners.isEmpty else { return }
    tellListeners { $0.noteReplaced(object) }
  }

  private func tell(of edit: Edit) { tellListeners { $0.note(edit) } }

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

  /// Tells the listeners that a relationship is about to change: everything is in place still, so
  /// they may read what they like.
  @inline(never)
  func tellWillChange(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {
    for listener in listeners where !listener.isOver {
      listener.willChange(linksOf: owner, relationship)
    }
  }

  /// Notifies the listeners that the changes they were notified of are in place.
  func settleListeners() {
    for listener in listeners where !listener.isOver { listener.settle() }
  }

  /// Notifies the listeners of the next change of each object again.
  func beginListening() { beginEpoch() }
}
