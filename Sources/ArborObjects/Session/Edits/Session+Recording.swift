internal import ArborModel

/// Recording edits before they are made.
extension Session {
  /// Whether edits have to be recorded.
  @inline(__always)
  private var recordsEdits: Bool { isInSavepoint || !listeners.isEmpty || undo != nil }

  /// Records that an object is about to change.
  ///
  /// - Parameter isKnown: Whether the object already belongs to the context.
  @inline(__always)
  func recordEdit(of object: ManagedObject, isKnown: Bool = true) {
    if recordsEdits { record(object, isKnown: isKnown) }
  }

  @inline(never)
  private func record(_ object: ManagedObject, isKnown: Bool) {
    previews?.withdraw(object)
    var edit = ObjectEdit(
      object, isKnown: isKnown, isInSavepoint: isInSavepoint, isUndoable: recordsUndo)
    // Listeners get a copy, which is more expensive than checking whether there are any.
    if !listeners.isEmpty { notify(of: .object(edit)) }
    guard edit.isUndoable || isInSavepoint else { return }
    if !isInSavepoint, let undo { edit.settle(undo.allocator) }
    append(.object(edit))
  }

  /// Records that the pending membership of an object is about to change.
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
    if !isMerge { notify(of: edit) }
    if isUndoable || isInSavepoint { append(edit) }
  }

  /// Records that the pending order of members is about to change. Undo reverts the sequence
  /// itself.
  func recordOrder(_ list: PendingMembers, notifiesListeners: Bool = true) {
    guard isInSavepoint || !listeners.isEmpty else { return }
    let edit = Edit.order(owner: list.owner, list.relationship, list.order?.copy)
    if notifiesListeners { notify(of: edit) }
    if isInSavepoint { append(edit) }
  }

  /// Records the sequence of an ordered relationship's members for undo, before the first of them
  /// is removed or moved.
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

  /// Records that an object's changes are about to be merged with a concurrent commit. The merge
  /// isn't undoable.
  func recordMerge(of object: ManagedObject) {
    previews?.withdraw(object)
    guard isInSavepoint || !listeners.isEmpty else { return }
    let edit = Edit.object(ObjectEdit(object, isInSavepoint: isInSavepoint))
    if isInSavepoint { append(edit) }
    notify(of: edit)
    noteReplaced(object)
  }

  /// Runs `body` without recording its changes for undo.
  func withoutUndo<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let wasSuspended = undo?.isSuspended ?? false
    undo?.isSuspended = true
    defer {
      undo?.isSuspended = wasSuspended
      // Changed objects were not recorded, so their next change must be.
      if undo != nil { beginEpoch() }
    }
    return try body()
  }

  private var recordsUndo: Bool { undo?.isRecording ?? false }

  private func append(_ edit: consuming Edit) {
    if edit.isUndoable { undo?.noteEdit(at: log.count) }
    log.append(edit)
  }

  /// Notifies listeners that an object's state is about to be replaced.
  @inline(__always)
  func noteReplaced(_ object: ManagedObject) {
    guard !listeners.isEmpty else { return }
    notifyListeners { $0.noteReplaced(object) }
  }

  private func notify(of edit: Edit) { notifyListeners { $0.note(edit) } }

  /// Calls `body` with each listener, and removes those that are over.
  @inline(__always)
  func notifyListeners(_ body: (any ChangeListener) -> Void) {
    if !listeners.isEmpty { notifyEach(body) }
  }

  @inline(never)
  private func notifyEach(_ body: (any ChangeListener) -> Void) {
    let wasNotifying = isNotifyingListeners
    isNotifyingListeners = true
    defer { isNotifyingListeners = wasNotifying }
    var isAnyOver = false
    for listener in listeners {
      if listener.isOver { isAnyOver = true } else { body(listener) }
    }
    if isAnyOver { listeners.removeAll(where: \.isOver) }
  }

  /// Notifies the listeners that a relationship is about to change. Nothing has changed yet, so
  /// they may read objects.
  @inline(never)
  func tellWillChange(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {
    for listener in listeners where !listener.isOver {
      listener.willChange(linksOf: owner, relationship)
    }
  }

  /// Notifies the listeners that the reported changes are complete.
  func settleListeners() {
    for listener in listeners where !listener.isOver { listener.settle() }
  }

  /// Causes the next change of each object to be reported to the listeners, even if an earlier one
  /// has been.
  func beginListening() { beginEpoch() }
}
