internal import ArborModel

/// Edits in the order in which they were made: those of a context since its last undo group or
/// savepoint, or those of a closed undo group.
///
/// Savepoints never copy records. A working record that exists when a savepoint begins is left
/// unchanged, and the next change is made to a new one.
final class EditLog {
  var edits: ContiguousArray<Edit> = []
  /// The number of sealed edits, whose effects are known.
  var sealedCount = 0

  init(_ edits: ContiguousArray<Edit> = [], sealed sealedCount: Int = 0) {
    self.edits = edits
    self.sealedCount = sealedCount
  }

  var count: Int { edits.count }
  var isSealed: Bool { sealedCount == edits.count }

  func append(_ edit: consuming Edit) { edits.append(edit) }

  /// Returns the objects that the edits after a position have changed: their values, or the members
  /// of one of their relationships on either side.
  func changedObjects(from start: Int) -> Set<ObjectNumber> {
    var numbers: Set<ObjectNumber> = []
    for edit in edits[min(start, edits.count)...] {
      switch edit {
      case .object(let edit): numbers.insert(edit.object.number)
      case .link(let edit): numbers.formUnion([edit.owner, edit.member])
      case .order(let owner, _, _): numbers.insert(owner)
      case .sequence, .none: break
      }
    }
    return numbers
  }

  /// Appends the edits of a later slice.
  func append(_ log: EditLog) { edits += log.edits }

  func removeLast() -> Edit {
    defer { sealedCount = min(sealedCount, edits.count) }
    return edits.removeLast()
  }

  /// Removes the edits after a position.
  func truncate(to count: Int) {
    guard count < edits.count else { return }
    edits.removeLast(edits.count - count)
    sealedCount = min(sealedCount, count)
  }

  /// Removes the edits after a position and returns those that undo reverts.
  func take(from start: Int) -> EditLog {
    guard start < edits.count else { return EditLog() }
    let isSealed = isSealed
    let slice: ContiguousArray<Edit>
    if start == 0 {
      slice = edits
      edits = []
      sealedCount = 0
    } else {
      slice = ContiguousArray(edits[start...])
      truncate(to: start)
    }
    let undoable = slice.allSatisfy(\.isUndoable) ? slice : slice.filter(\.isUndoable)
    return EditLog(undoable, sealed: isSealed ? undoable.count : 0)
  }

  /// Releases data that was only needed by a savepoint that began at a position and has ended.
  func endSavepoint(from start: Int, _ allocator: SlabAllocator) {
    for index in start..<max(start, edits.count) {
      guard edits[index].isUndoable else {
        edits[index] = .none
        continue
      }
      edits[index].changeObjectEdit { $0.settle(allocator) }
    }
    while edits.count > start, case .none = edits[edits.count - 1] { edits.removeLast() }
    sealedCount = min(sealedCount, edits.count)
  }

  /// Returns whether any edits after a position can be reverted. They must be sealed.
  func hasEffect(from start: Int = 0) -> Bool {
    start < edits.count && edits[start...].contains { $0.hasEffect }
  }

  // MARK: Memory

  /// Changes the edits of objects after a position.
  func changeObjectEdits(from start: Int, _ body: (inout ObjectEdit) -> Void) {
    for index in edits.indices.dropFirst(start) { edits[index].changeObjectEdit(body) }
  }

  /// The number of bytes that the edits hold, apart from long records.
  var heldBytes: Int {
    edits.reduce(edits.count * MemoryLayout<Edit>.stride) { bytes, edit in
      switch edit {
      case .object(let edit): bytes + edit.heldBytes
      case .sequence(let edit): bytes + edit.before.count * MemoryLayout<ObjectNumber>.stride
      case .link, .order, .none: bytes
      }
    }
  }

  /// The number of bytes that long records of the edits hold.
  var longRecordBytes: Int {
    edits.reduce(0) { bytes, edit in bytes + (edit.longRecord?.0.heldBytes ?? 0) }
  }

  // MARK: Sealing

  /// Determines the effects of unsealed edits while they are still visible in the context.
  ///
  /// The effects are determined for all of them together: changes that were reverted in the
  /// meantime have no effect, regardless of later concurrent commits.
  func seal(in session: Session) {
    var hasTurned = false
    var vanished: Set<ObjectNumber> = []
    for index in sealedCount..<edits.count where edits[index].isUndoable {
      let isOfObject = edits[index].changeObjectEdit { edit in
        edit.seal()
        if !edit.hasBefore, case .none = edit.effect { vanished.insert(edit.object.number) }
      }
      guard !isOfObject else { continue }
      switch edits[index] {
      case .link(var edit):
        edit.effect = session.isMember(edit) == edit.wasMember ? .none : .changed
        if edit.effect == .none { hasTurned = true }
        edits[index] = .link(edit)
      case .sequence(var edit):
        let list = session.links.edit(edit.owner, edit.relationship)
        edit.seal { list?.members(over: $0) ?? $0 }
        edits[index] = .sequence(edit)
      case .object, .order, .none: break
      }
    }
    if hasTurned { sealTurns() }
    if !vanished.isEmpty { sealVanished(vanished) }
    sealedCount = edits.count
  }

  /// Clears the effects of edits of objects that were inserted and deleted again.
  private func sealVanished(_ vanished: Set<ObjectNumber>) {
    for index in sealedCount..<edits.count {
      guard let object = edits[index].object, vanished.contains(object.number) else { continue }
      edits[index].changeObjectEdit { $0.effect = .none }
    }
  }

  /// Clears the effects of a link's edits if the first has no effect, because together they haven't
  /// changed the link.
  private func sealTurns() {
    var effects: [OwnedLink: LinkEdit.Effect] = [:]
    for index in sealedCount..<edits.count {
      guard case .link(var edit) = edits[index], edit.isUndoable else { continue }
      if let first = effects[edit.link] {
        edit.effect = first == .none ? .none : edit.effect
        edits[index] = .link(edit)
      } else {
        effects[edit.link] = edit.effect
      }
    }
  }

  /// Resets the effects of edits from a position on, because they have been reverted.
  func unseal(from count: Int) {
    guard count < sealedCount else { return }
    for index in count..<edits.count {
      edits[index].changeObjectEdit { $0.effect = .open }
    }
    // The effects on links will be determined again.
    sealedCount = count
  }
}

extension Session {
  /// Returns whether a link currently exists.
  fileprivate func isMember(_ edit: LinkEdit) -> Bool {
    switch links.edit(edit.owner, edit.relationship)?[edit.member] ?? .unmentioned {
    case .added: true
    case .removed: false
    case .unmentioned: isStored(edit.member, in: edit.relationship, of: edit.owner)
    }
  }
}
