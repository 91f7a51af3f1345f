internal import ArborModel

/// Discarding the pending changes of single objects.
extension Session {
  /// Discards the changes of an object. See ``ManagedObjectContext/rollback(_:)``.
  func rollback(_ object: ManagedObject) {
    defer { settleListeners() }
    do throws(ArborError) { try mergeKnownCommits() } catch { return note(error) }
    forgetLost(of: object.number)
    guard object.session === self else { return }
    discardChanges(of: object)
  }

  /// Makes the edits that return an object to its committed state, and drops changes that have no
  /// effect afterwards.
  func discardChanges(of object: ManagedObject) {
    guard object.change != nil || links.hasEdits(of: object) else { return }
    if let undo, undo.isRecording, !isInSavepoint {
      makeDiscardingEdits(object)
      // Together with earlier changes in the group, the edits may have no effect to be undone.
      undo.seal()
      return UndoReplay(session: self).settle(log)
    }
    // A savepoint records the edits, which tell what to drop.
    withSavepoint {
      let start = log.count
      makeDiscardingEdits(object)
      log.seal(in: self)
      UndoReplay(session: self).settle(log, from: start)
    }
  }

  private func makeDiscardingEdits(_ object: ManagedObject) {
    switch object.change?.kind {
    case .inserted:
      // Members can forbid a deletion, but not that an object was never inserted.
      for relationship in object.binding.entity.relationships
      where relationship.keepsMembersOfDeleted {
        InverseKeeper(self).replace(object, relationship, with: [ObjectNumber]())
      }
      var propagation = DeletePropagation(self, followsRules: false)
      propagation.delete(object)
    case .deleted:
      guard UndoReplay(session: self).restoreDeleted(object) else { break }
      restoreLinks(of: object, includesHidden: true)
    case .updated:
      restoreProperties(of: object)
      restoreLinks(of: object, includesHidden: false)
    case nil, .dropped: restoreLinks(of: object, includesHidden: false)
    }
    mendLinks()
  }

  /// Restores the committed values of attributes.
  private func restoreProperties(of object: ManagedObject) {
    guard let change = object.change, let committed = change.committed else { return }
    noteReplaced(object)
    withExtendedLifetime(change.committedSlab) {
      for field in object.binding.entity.layout.fields
      where field.kind != .reference && !field.isDerived {
        guard object.currentRecord.differs(from: committed, field) else { continue }
        object.write { buffer, allocator in
          buffer.copy(field, from: committed, allocator: allocator)
        }
      }
    }
  }

  /// Restores the committed links at both ends, except those to objects that are deleted.
  ///
  /// - Parameter includesHidden: Whether to restore links of other objects that have no inverse
  ///   relationship. They belong to the other objects, unless a deletion removed them.
  private func restoreLinks(of object: ManagedObject, includesHidden: Bool) {
    let keeper = InverseKeeper(self)
    for relationship in object.binding.entity.relationships {
      if let field = relationship.field {
        guard let change = object.change, let committed = change.committed else { continue }
        let target = committed.reference(field).flatMap {
          relationship.leads(to: $0) && exists($0) ? fault($0) : nil
        }
        let isFormer = object.target(of: relationship) == target?.number
        keeper.set(object, relationship, to: target)
        if let target, includesHidden || !isFormer {
          restorePosition(of: object, in: target.number, slot: relationship.inverseSlot)
        }
      } else if includesHidden || !relationship.isHidden,
        links.hasEdits(of: object, relationship)
      {
        let members = storedMembers(of: object.number, relationship).filter(exists)
        let former = Set(self.members(of: object, relationship))
        keeper.replace(object, relationship, with: members)
        for member in members where !former.contains(member) {
          restorePosition(of: object, in: member, slot: relationship.inverseSlot)
        }
      }
    }
  }

  /// Moves an object that has become a member of an ordered relationship again to its former
  /// position among the others.
  private func restorePosition(of object: ManagedObject, in owner: ObjectNumber, slot: Int) {
    guard let relationship = relationship(of: owner, slot), relationship.isOrdered,
      let edit = links.edit(owner, relationship)
    else { return }
    let stored = storedMembers(of: owner, relationship)
    let present = edit.members(over: stored)
    guard present.contains(object.number) else { return }
    let members = Set(present)
    let others = present.filter { $0 != object.number }
    InverseKeeper(self).arrange(
      others.insertingBefore(stored.filter(members.contains)), of: owner, relationship)
  }
}
