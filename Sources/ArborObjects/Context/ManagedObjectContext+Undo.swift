internal import ArborModel
internal import ArborStore

extension ManagedObjectContext {
  /// Runs `body` and makes what it changes one undo group, which ends with it also where it throws;
  /// what it changed until then stays, and can be undone.
  ///
  /// ```swift
  /// try context.withUndoGroup(named: "Merge Companies") {
  ///   try merge(small, into: large)
  /// }
  /// ```
  ///
  /// Without an ``undoHistory`` it only runs the body.
  public func withUndoGroup<R, E: Error>(
    named name: String = "", _ body: () throws(E) -> R
  ) throws(E) -> R {
    let history = undoHistory
    history?.beginGroup(named: name)
    defer { history?.endGroup() }
    return try body()
  }

  /// Ends a round of changes: what changes from now on belongs to another undo group, unless an
  /// explicit one is open.
  public func processPendingChanges() { undoHistory?.closeGroup() }

  /// Takes back the last undo group of ``undoHistory``; see ``UndoHistory/undo()``.
  public func undo() { undoHistory?.undo() }

  /// Brings the group again that was undone last; see ``UndoHistory/redo()``.
  public func redo() { undoHistory?.redo() }

  /// Attaches a history in place of another one.
  func adopt(_ history: UndoHistory?, insteadOf former: UndoHistory?) {
    guard history !== former else { return }
    keepsRetiredBlobs = history != nil
    former?.removeAll()
    former?.context = nil
    guard let history else { return }
    precondition(
      history.context == nil,
      "An undo history belongs to one context; make another for the second one.")
    history.context = self
    // The next change of each object is noted.
    epoch &+= 1
  }
}

/// What the store knows, for everything that goes by numbers. Never fails; the context remembers
/// the error.
extension ManagedObjectContext {
  /// Whether there is an object, with all pending changes.
  func exists(_ number: ObjectNumber) -> Bool {
    if let change = pending.change(of: number) { return change.kind != .deleted }
    return known(false) { snapshot throws(StoreError) in try snapshot.exists(number) }
  }

  /// Whether the store has a member in a relationship that is kept as links.
  func isStored(_ member: ObjectNumber, in relation: Relation, of owner: ObjectNumber) -> Bool {
    guard !isNew(owner), !isNew(member) else { return false }
    return known(false) { snapshot throws(StoreError) in
      try snapshot.contains(member, in: relation.schema, of: owner)
    }
  }

  /// The record that the store has of an object, in memory that the slab keeps; nil where it has
  /// none.
  func storedRecord(of number: ObjectNumber) -> (record: RecordView, slab: RecordSlab)? {
    let record = known(RecordView?.none) { snapshot throws(StoreError) in
      try snapshot.record(number, allocator: allocator)
    }
    return record.map { ($0, allocator.slab) }
  }

  private func known<R>(
    _ otherwise: R, _ read: (StoreSnapshot) throws(StoreError) -> R
  ) -> R {
    do throws(ArborError) { return try peek(read) } catch {
      note(error)
      return otherwise
    }
  }
}
