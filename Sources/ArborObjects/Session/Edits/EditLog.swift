internal import ArborModel

/// Edits in the order in which they were made: those of a context since its last undo group or
/// savepoint, or those of a closed undo group.
///
/// Records are never copied for a savepoint: a working record that it finds is left as it is, and
/// the next change to it goes into a new one.
final class EditLog {
  var edits: ContiguousArray<Edit> = []
  /// How many edits know what they changed.
  var sealedCount = 0

  init(_ edits: ContiguousArray<Edit> = [], sealed sealedCount: Int = 0) {
    self.edits = edits
    self.sealedCount = sealedCount
  }

  var count: Int { edits.count }
  var isSealed: Bool { sealedCount == edits.count }

  func append(_ edit: consuming Edit) { edits.append(edit) }

  /// Adds the edits of a slice that were made after these.
  func append(_ log: EditLog) { edits += log.edits }

  func removeLast() -> Edit {
    defer { sealedCount = min(sealedCount, edits.count) }
    return edits.removeLast()
  }

  /// Forgets the edits behind a position.
  func truncate(to count: Int) {
    guard count < edits.count else { return }
    edits.removeLast(edits.count - count)
    sealedCount = min(sealedCount, count)
  }

  /// Takes the edits behind a position out, without those that undo does not take back.
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

  /// Releases what only a savepoint needed, which began at a position and has ended.
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

  /// Whether there is anything to take back behind a position. Known of sealed edits.
  func hasEffect(from start: Int = 0) -> Bool {
    start < edits.count && edits[start...].contains { $0.hasEffect }
  }

  // MARK: Sealing

  /// Finds out what the edits changed that do not know it yet, while the context still shows it.
  ///
  /// Edits that are sealed together know what became of all of them: what was changed and changed
  /// back is nothing to take back, whatever concurrent commits make of it afterwards.
  func seal(in session: Session) {
    var hasTurned = false
    var vanished: Set<ObjectNumber> = []
    for index in sealedCount..<edits.count where edits[index].isUndoable {
      let isOfObject = edits[index].changeObjectEdit { edit in
        edit.seal()
        if edit.before == nil, case .none = edit.effect { vanished.insert(edit.object.number) }
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

  /// Nothing that was done to objects which came and went is left to take back.
  private func sealVanished(_ vanished: Set<ObjectNumber>) {
    for index in sealedCount..<edits.count {
      guard let object = edits[index].object, vanished.contains(object.number) else { continue }
      edits[index].changeObjectEdit { $0.effect = .none }
    }
  }

  /// Of several edits of one link the first tells whether they changed it together.
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

  /// Forgets what the edits from a position on changed: it has been taken back.
  func unseal(from count: Int) {
    guard count < sealedCount else { return }
    for index in count..<edits.count {
      edits[index].changeObjectEdit { $0.effect = .open }
    }
    // What links became is found out anew.
    sealedCount = count
  }
}

extension Session {
  /// Whether a link is there now.
  fileprivate func isMember(_ edit: LinkEdit) -> Bool {
    switch links.edit(edit.owner, edit.relationship)?[edit.member] ?? .unmentioned {
    case .added: true
    case .removed: false
    case .unmentioned: isStored(edit.member, in: edit.relationship, of: edit.owner)
    }
  }
}
