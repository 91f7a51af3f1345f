internal import ArborWork

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
  /// Begins to record what changes, for ``takeRound()``; what was recorded before is forgotten.
  package func beginRound() {
    if let round {
      round.edits.removeAll()
    } else {
      let recorder = RoundRecorder()
      round = recorder
      work.listeners.append(recorder)
    }
    work.beginListening()
  }

  /// What changed since the round began, and the beginning of the next one. Time in proportion to
  /// the changes of the round.
  ///
  /// Nothing where ``beginRound()`` has never been called: recording costs an edit for each object.
  package func takeRound() -> ChangeRound {
    guard let round, !round.edits.isEmpty else { return ChangeRound() }
    let changes = round.changes(in: work)
    beginRound()
    return changes
  }
}
