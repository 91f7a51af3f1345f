internal import ArborModel

extension EditLog {
  /// Finds out what the edits changed that do not know it yet, while the context still shows it.
  ///
  /// Edits that are sealed together know what became of all of them: what was changed and changed
  /// back is nothing to take back, whatever concurrent commits make of it afterwards.
  package func seal(in work: Workspace) {
    var hasTurned = false
    var vanished: Set<ObjectNumber> = []
    for index in sealedCount..<edits.count where edits[index].isUndoable {
      switch edits[index] {
      case .object(var edit):
        edit.seal()
        edits[index] = .object(edit)
        if edit.before == nil, case .none = edit.effect { vanished.insert(edit.object.number) }
      case .link(var edit):
        edit.effect = work.isMember(edit) == edit.wasMember ? .none : .changed
        if edit.effect == .none { hasTurned = true }
        edits[index] = .link(edit)
      case .sequence(var edit):
        let list = work.links.edit(edit.owner, edit.relation)
        edit.seal { list?.members(over: $0) ?? $0 }
        edits[index] = .sequence(edit)
      case .order, .none: break
      }
    }
    if hasTurned { sealTurns() }
    if !vanished.isEmpty { sealVanished(vanished) }
    sealedCount = edits.count
  }

  /// Nothing that was done to objects which came and went is left to take back.
  private func sealVanished(_ vanished: Set<ObjectNumber>) {
    for index in sealedCount..<edits.count {
      guard case .object(var edit) = edits[index], vanished.contains(edit.object.number) else {
        continue
      }
      edit.ignore()
      edits[index] = .object(edit)
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
  package func unseal(from count: Int) {
    guard count < sealedCount else { return }
    for index in count..<edits.count {
      guard case .object(var edit) = edits[index] else { continue }
      edit.unseal()
      edits[index] = .object(edit)
    }
    // What links became is found out anew.
    sealedCount = count
  }
}

extension Workspace {
  /// Whether a link is there now.
  fileprivate func isMember(_ edit: LinkEdit) -> Bool {
    switch links.edit(edit.owner, edit.relation)?[edit.member] ?? .unmentioned {
    case .added: true
    case .removed: false
    case .unmentioned: isStored(edit.member, in: edit.relation, of: edit.owner)
    }
  }
}
