internal import ArborModel
internal import LMDB

/// Checks for links that the former model does not allow when a migration is reverted.
extension MigrationChecks {
  /// Adds obstacles for the objects of an entity that have links to objects that the former model
  /// doesn't allow as their targets.
  ///
  /// Visits the links of relationships that have fewer possible destinations in the former model.
  func checkDestinations(
    _ plan: CatalogEvolution.Entity, _ present: EntitySchema, _ obstacles: inout [MigrationObstacle]
  ) throws(StoreError) {
    guard migration.isReversal, let entity = migration.new.entity(named: plan.name) else { return }
    for relationship in entity.relationships where !relationship.isHidden {
      guard let source = plan.relationships[relationship.name],
        let since = present.relationships.first(where: { $0.name == source })
      else { continue }
      let strange = strangeEntities(relationship, since)
      guard !strange.isEmpty else { continue }
      var tally = ObjectTally()
      var last: ObjectNumber?
      try forEachLink(of: since, present) { owner, member in
        guard owner != last, strange.contains(member.entity) else { return }
        last = owner
        tally.add(owner)
      }
      let destination = migration.new.entities[relationship.destination].name
      obstacles += obstacle(
        plan.name, relationship.name, tally, present,
        " with links to objects that don't belong to \(destination), the destination in the former "
          + "model"
      ) { "\($0). Change the links with the newer model" }
    }
  }

  /// Returns the numbers of the entities in both models that only the newer one allows as the
  /// destination of a relationship.
  private func strangeEntities(
    _ relationship: RelationshipSchema, _ since: RelationshipSchema
  ) -> Set<UInt16> {
    let (old, new) = (migration.old, migration.new)
    let allowed = new.entities[relationship.destination].concreteFamily.map {
      new.entities[$0].number
    }
    return Set(old.entities[since.destination].concreteFamily.map { old.entities[$0].number })
      .intersection(new.entities.map(\.number)).subtracting(allowed)
  }

  /// Calls `body` with both ends of each link, grouped by owner.
  private func forEachLink(
    of relationship: RelationshipSchema, _ present: EntitySchema,
    _ body: (_ owner: ObjectNumber, _ member: ObjectNumber) -> Void
  ) throws(StoreError) {
    if case .field(let index) = relationship.storage {
      let field = present.layout.fields[index]
      return try forEachRecord(of: present) { number, record in
        if let member = record.reference(field) { body(number, member) }
      }
    }
    guard let own = present.own(relationship),
      let relationshipIndex = databases.relationshipIndex(entity: present.index, slot: own.slot)
    else { return }
    let stored = databases.relationships[relationshipIndex]
    try reader.forEachEntry(of: stored.members, limit) { found in
      let owner = ObjectNumber(rawValue: found.integerKey)
      guard owner.entity == present.number else { return }
      let member =
        stored.order == nil
        ? stored.members.numbers.number(found.value) : OrderedMembers.pair(found.value).0
      body(owner, ObjectNumber(rawValue: member))
    }
  }
}
