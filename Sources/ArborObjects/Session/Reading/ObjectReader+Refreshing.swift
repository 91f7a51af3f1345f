internal import ArborModel
internal import ArborStore

/// Objects read anew.
extension ObjectReader {
  /// Lets an object of the context take its values from the store anew; see
  /// ``ManagedObjectContext/refresh(_:mergeChanges:)``.
  func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    work.memberships.removeAll()
    defer { work.settleListeners() }
    do throws(ArborError) {
      try takeInKnownCommits()
      work.forgetLost(of: object.number)
      guard object.owner === context else { return }
      guard let change = object.change else {
        work.noteReplaced(object)
        return object.becomeFault()
      }
      guard change.kind == .updated else { return }
      work.noteReplaced(object)
      if mergeChanges {
        try merge(object)
      } else {
        work.takeBack(change)
        // What is read of the object from here on may be what others have made of it.
        work.undo?.seal()
        work.yield(object, to: change.concurrent == .deleted ? .deleted : .changed)
      }
    } catch {
      note(error)
    }
  }

  /// Puts the changes of an object on top of what the store has.
  private func merge(_ object: ManagedObject) throws(ArborError) {
    try onPinnedSnapshot { snapshot throws(ArborError) in
      let record = try work.file.reporting(
        snapshot.record(object.number, allocator: work.allocator))
      let slab = work.allocator.slab
      guard let change = object.change, change.kind == .updated else { return }
      guard let record else {
        // By what was changed here it lives on.
        return work.withMemberships(of: object) { change.concurrent = .deleted }
      }
      work.undo?.seal()
      ChangeMerger(work).rebase(change, onto: record, slab, .objectWins)
      work.mendLinks()
    }
  }
}
