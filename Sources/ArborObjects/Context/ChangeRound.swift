internal import ArborModel

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

extension ManagedObjectContext {
  /// Begins to take down what changes, for ``takeRound()``; what was taken down before is
  /// forgotten.
  package func beginRound() {
    if let round {
      round.entries.removeAll()
    } else {
      let journal = ChangeJournal()
      round = journal
      listeners.append(journal)
    }
    beginListening()
  }

  /// What changed since the round began, and the beginning of the next one. Time in proportion to
  /// the changes of the round.
  ///
  /// Nothing where ``beginRound()`` has never been called: noting costs a step for each object.
  package func takeRound() -> ChangeRound {
    guard let entries = round?.entries, !entries.isEmpty else { return ChangeRound() }
    beginRound()
    var result = ChangeRound()
    var seen: Set<ManagedObject> = []
    for entry in entries {
      switch entry {
      case .object(let step):
        // The first step tells what the object was when the round began.
        guard seen.insert(step.object).inserted else { continue }
        add(step, to: &result)
      case .link(let edit, _, _), .order(let edit, _):
        guard let owner = registry.object(edit.owner), !edit.relation.isHidden else { continue }
        if owner.isUpdated, !seen.contains(owner) { result.updated.insert(owner) }
      }
    }
    result.updated.subtract(result.created)
    return result
  }

  private func add(_ step: ObjectStep, to round: inout ChangeRound) {
    let object = step.object
    switch (object.change?.kind, step.existed) {
    case (.inserted, false): round.created.insert(object)
    case (.inserted, true), (.updated, _): round.updated.insert(object)
    case (.deleted, true) where step.kind != .deleted: round.deleted.insert(object)
    case (nil, true) where object.state == .gone: round.deleted.insert(object)
    // Committed since.
    case (nil, false) where object.owner != nil: round.created.insert(object)
    case (nil, true) where hasChanged(since: step): round.updated.insert(object)
    default: break
    }
  }

  /// Whether an object without pending changes holds other values than it did.
  private func hasChanged(since step: ObjectStep) -> Bool {
    guard let former = step.record, let base = step.object.base else { return false }
    let present = RecordView(base: base, count: Int(step.object.count))
    return present.changedFields(since: former, in: step.object.binding.entity.layout) != 0
  }
}
