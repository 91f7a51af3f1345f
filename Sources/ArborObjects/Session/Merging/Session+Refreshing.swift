internal import ArborModel
internal import ArborStore

/// Refreshing objects.
extension Session {
  /// Makes an object take its values from the store again; see
  /// ``ManagedObjectContext/refresh(_:mergeChanges:)``.
  func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    memberships.removeAll()
    defer { settleListeners() }
    do throws(ArborError) {
      try mergeKnownCommits()
      forgetLost(of: object.number)
      guard object.session === self else { return }
      guard let change = object.change else {
        noteReplaced(object)
        return object.becomeFault()
      }
      guard change.kind == .updated else { return }
      noteReplaced(object)
      if mergeChanges {
        try merge(object)
      } else {
        takeBack(change)
        // What is read of the object from here on may be what others have made of it.
        undo?.seal()
        yield(object, to: change.concurrent == .deleted ? .deleted : .changed)
      }
    } catch {
      note(error)
    }
  }

  /// Puts the changes of an object on top of what the store has.
  private func merge(_ object: ManagedObject) throws(ArborError) {
    try onPinnedSnapshot { snapshot throws(ArborError) in
      let record = try engine.reporting(
        snapshot.record(object.number, allocator: allocator))
      let slab = allocator.slab
      guard let change = object.change, change.kind == .updated else { return }
      guard let record else {
        // By what was changed here it lives on.
        return withMemberships(of: object) { change.concurrent = .deleted }
      }
      undo?.seal()
      ChangeMerger(self).rebase(change, onto: record, slab, .objectWins)
      mendLinks()
    }
  }
}
