internal import ArborModel

/// Deletes objects with all that their delete rules ask for.
///
/// Cascades work through a list, not by recursion: a chain of a million objects is as good as a
/// fan. An object is marked before its links are followed, so cycles end.
struct DeletePropagation {
  private let context: ManagedObjectContext
  private let keeper: InverseKeeper
  private var worklist: [ManagedObject] = []

  init(_ context: ManagedObjectContext) {
    self.context = context
    keeper = InverseKeeper(context: context)
  }

  /// Deletes an object and what goes with it.
  mutating func delete(_ object: ManagedObject) {
    worklist.append(object)
    context.withPinnedSnapshot { drain() }
  }

  /// Applies the rules again for an object that is deleted already, since others linked to it.
  mutating func propagateAgain(from object: ManagedObject) {
    context.withPinnedSnapshot {
      for (relationship, targets) in links(of: object) { apply(relationship, targets, object) }
      drain()
    }
  }

  private mutating func drain() {
    while let object = worklist.popLast() {
      guard isAlive(object) else { continue }
      object.prepareForDeletion()
      // The hook may have deleted it.
      guard isAlive(object), context.load(object) else { continue }
      let links = links(of: object)
      let wasInserted = object.change?.kind == .inserted
      mark(object)
      for (relationship, targets) in links { apply(relationship, targets, object) }
      if wasInserted { forget(object) }
    }
  }

  private func isAlive(_ object: ManagedObject) -> Bool {
    object.owner === context && object.change?.kind != .deleted
  }

  /// What each relationship leads to, hidden inverses included.
  private func links(of object: ManagedObject) -> [(RelationshipSchema, [ObjectNumber])] {
    let record = object.currentRecord
    return object.binding.entity.relationships.compactMap { relationship in
      guard let field = object.binding.entity.field(of: relationship) else {
        let members = context.members(of: object, relationship)
        return members.isEmpty ? nil : (relationship, members)
      }
      return record.reference(field).map { (relationship, [$0]) }
    }
  }

  private func mark(_ object: ManagedObject) {
    context.noteStep(.object(ObjectStep(object)))
    guard let change = object.change else {
      let change = ObjectChange(object, .deleted, epoch: context.epoch)
      change.committed = object.currentRecord
      change.committedSlab = object.slab
      return context.pending.add(change)
    }
    change.kind = .deleted
    change.mutations &+= 1
  }

  /// An object that was never committed leaves no trace.
  private func forget(_ object: ManagedObject) {
    for relationship in object.binding.entity.relationships where relationship.isOrdered {
      keeper.forgetOrder(of: object.number, relationship)
    }
    if let change = object.change { context.pending.drop(change) }
    object.detach(.gone)
    context.registry.unregister(object)
  }

  private mutating func apply(
    _ relationship: RelationshipSchema, _ targets: [ObjectNumber], _ object: ManagedObject
  ) {
    let rule = relationship.deleteRule
    // The members that forbid the deletion stay linked, for the commit to find them.
    guard rule != .deny || !relationship.isToMany else { return }
    let entity = object.binding.entity
    let isLink = relationship.isToMany && isToManyInverse(of: relationship)
    if rule == .cascade {
      let alive = targets.filter { !context.isDeleted($0) }
      // Read together on one snapshot, since each of them is needed to be deleted.
      worklist.append(contentsOf: context.objects(alive))
    }
    for target in targets {
      if isLink {
        unlink(object, entity, relationship, target)
      } else if !relationship.isToMany {
        keeper.leave(object.number, at: target, slot: relationship.inverseSlot)
      } else if rule != .cascade, !context.isDeleted(target) {
        nullify(target, relationship, isQuiet: rule == .noAction)
      }
    }
  }

  /// Whether links of a to-many relationship lie outside of all records.
  private func isToManyInverse(of relationship: RelationshipSchema) -> Bool {
    context.schema.entities[relationship.destination]
      .relationships[relationship.inverseSlot].isToMany
  }

  private func unlink(
    _ object: ManagedObject, _ entity: EntitySchema, _ relationship: RelationshipSchema,
    _ target: ObjectNumber
  ) {
    keeper.leaveLink(target, at: object.number, relationship)
    guard target != object.number else { return }
    keeper.leave(object.number, at: target, slot: relationship.inverseSlot)
  }

  private func nullify(
    _ target: ObjectNumber, _ relationship: RelationshipSchema, isQuiet: Bool
  ) {
    let member = context.fault(target)
    let wasQuiet = member.change?.isQuiet ?? true
    keeper.set(member, member.binding.entity.inverse(of: relationship), to: nil)
    if isQuiet, wasQuiet, let change = member.change { change.quietMutations = change.mutations }
  }
}
