internal import ArborWork

/// Telling what changed since somebody last asked.
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
