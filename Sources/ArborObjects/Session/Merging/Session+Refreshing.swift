internal import ArborModel
internal import ArborStore

extension Session {
  /// Causes an object to reload its values from the store. See
  /// ``ManagedObjectContext/refresh(_:mergeChanges:)``.
  func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    memberships.removeAll()
    defer { settleListeners() }
    do throws(ArborError) {
      try mergeKnownCommits()
      forgetLost(of: object.number)
      guard object.session === self else { return }
      if !mergeChanges { discardChanges(of: object) }
      guard object.session === self else { return }
      guard let change = object.change else {
        noteReplaced(object)
        return object.becomeFault()
      }
      guard change.kind == .updated, mergeChanges else { return }
      noteReplaced(object)
      try merge(object)
    } catch {
      note(error)
    }
  }

  /// Applies the changes of an object to its stored state.
  private func merge(_ object: ManagedObject) throws(ArborError) {
    try onPinnedSnapshot { snapshot throws(ArborError) in
      let record = try engine.reporting(
        snapshot.record(object.number, allocator: allocator))
      let slab = allocator.slab
      guard let change = object.change, change.kind == .updated else { return }
      guard let record else {
        // The object continues to exist because of its changes.
        return withMemberships(of: object) { change.concurrent = .deleted }
      }
      undo?.seal()
      ChangeMerger(self).rebase(change, onto: record, slab, .objectWins)
      mendLinks()
    }
  }
}
