internal import ArborModel
internal import ArborStore

/// Records the changes in a context, round by round, for the lifetime of the context.
///
/// Keeps one edit per changed object of the current round in memory.
package final class RoundRecorder: ChangeListener {
  private unowned let session: Session
  private var edits: [Edit] = []

  /// Creates a recorder and begins the first round.
  package init(_ context: ManagedObjectContext) {
    session = context.session
    session.listeners.append(self)
    session.beginListening()
  }

  var isOver: Bool { false }

  func note(_ edit: Edit) { edits.append(edit) }
  func noteReplaced(_ object: ManagedObject) {}

  /// Begins another round and discards the recorded edits.
  package func beginRound() {
    edits.removeAll()
    session.beginListening()
  }

  /// Returns the changes of the current round and begins the next one. The time is proportional to
  /// the number of edits.
  package func takeRound() -> ChangeRound {
    guard !edits.isEmpty else { return ChangeRound() }
    let round = changes()
    beginRound()
    return round
  }

  private func changes() -> ChangeRound {
    var round = ChangeRound()
    var seen: Set<ManagedObject> = []
    for edit in edits {
      switch edit {
      case .object(let edit):
        // The first edit holds the object's state at the beginning of the round.
        if seen.insert(edit.object).inserted { add(edit, to: &round) }
      case .link(let edit): addOwner(edit.owner, edit.relationship, seen, to: &round)
      case .order(let owner, let relationship, _): addOwner(owner, relationship, seen, to: &round)
      case .sequence, .none: break
      }
    }
    round.updated.subtract(round.created)
    return round
  }

  private func addOwner(
    _ number: ObjectNumber, _ relationship: RelationshipSchema, _ seen: Set<ManagedObject>,
    to round: inout ChangeRound
  ) {
    guard !relationship.isHidden, let owner = session.registry.object(number), owner.isUpdated,
      !seen.contains(owner)
    else { return }
    round.updated.insert(owner)
  }

  private func add(_ edit: ObjectEdit, to round: inout ChangeRound) {
    let object = edit.object
    let wasKnown = edit.former != .absent
    switch (object.change?.kind, wasKnown) {
    case (.inserted, false): round.created.insert(object)
    case (.inserted, true), (.updated, _): round.updated.insert(object)
    case (.deleted, true) where edit.former != .deleted: round.deleted.insert(object)
    case (nil, true) where object.state.isOver: round.deleted.insert(object)
    // Committed in the meantime.
    case (nil, false) where object.session != nil: round.created.insert(object)
    case (nil, true) where hasChanged(since: edit): round.updated.insert(object)
    default: break
    }
  }

  /// Returns whether an object without pending changes has different values than before the edit.
  private func hasChanged(since edit: ObjectEdit) -> Bool {
    guard let former = edit.record, let present = edit.object.heldRecord else { return false }
    return present.changedFields(since: former, in: edit.object.binding.entity.layout) != 0
  }
}

/// The objects that changed in a context within one round. Each is in exactly one of the sets.
///
/// Changes that were reverted within the round are not reported.
package struct ChangeRound {
  /// The objects inserted in the round and not deleted since.
  package var created: Set<ManagedObject> = []
  /// The objects with changes of properties or relationship members.
  package var updated: Set<ManagedObject> = []
  /// The objects deleted in the round and inserted before it.
  package var deleted: Set<ManagedObject> = []

  package init() {}

  package var isEmpty: Bool { created.isEmpty && updated.isEmpty && deleted.isEmpty }
}
