internal import ArborModel
internal import ArborStore

/// Records what changes in a context, round by round, for as long as the context lives.
///
/// It costs an edit for each object of a round.
package final class RoundRecorder: ChangeListener {
  private unowned let session: Session
  private var edits: [Edit] = []

  /// Begins the first round.
  package init(_ context: ManagedObjectContext) {
    session = context.session
    session.listeners.append(self)
    session.beginListening()
  }

  var isOver: Bool { false }

  func note(_ edit: Edit) { edits.append(edit) }
  func noteReplaced(_ object: ManagedObject) {}

  /// Begins another round; what has been recorded is forgotten.
  package func beginRound() {
    edits.removeAll()
    session.beginListening()
  }

  /// What changed since the round began, and the beginning of the next one. Time in proportion to
  /// the edits.
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
        // The first edit tells what the object was when the round began.
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
    case (nil, true) where object.state == .gone: round.deleted.insert(object)
    // Committed since.
    case (nil, false) where object.session != nil: round.created.insert(object)
    case (nil, true) where hasChanged(since: edit): round.updated.insert(object)
    default: break
    }
  }

  /// Whether an object without pending changes holds other values than it did.
  private func hasChanged(since edit: ObjectEdit) -> Bool {
    guard let former = edit.record, let present = edit.object.heldRecord else { return false }
    return present.changedFields(since: former, in: edit.object.binding.entity.layout) != 0
  }
}

/// The objects that changed in a context within one round, each in one of the sets.
///
/// A round ends when somebody asks for it; what changed and changed back within one is not seen.
package struct ChangeRound {
  /// Inserted in the round and not deleted again.
  package var created: Set<ManagedObject> = []
  /// Changed in the round, in properties or in the members of relationships.
  package var updated: Set<ManagedObject> = []
  /// Deleted in the round, and inserted before it.
  package var deleted: Set<ManagedObject> = []

  /// A round without changes.
  package init() {}

  /// Whether nothing changed.
  package var isEmpty: Bool { created.isEmpty && updated.isEmpty && deleted.isEmpty }
}
