internal import ArborModel

/// A pass that fills the properties that start empty in the copy of a store, without custom code.
/// It copies each value and each link of the original that fits the newer model.
struct PropertyPass {
  let migration: MigrationManager

  /// Fills all properties. Values and links that do not fit are added to the journal's problems.
  func run() throws {
    let works = PropertyWork.all(migration.models, migration.oldContext.session.schema)
    for work in works { try pass(work) { try fill($0, from: $1, work) } }
  }

  private func pass(
    _ work: PropertyWork, _ body: (_ new: ManagedObject, _ old: ManagedObject) throws -> Void
  ) throws {
    try migration.call { lastDone in
      try migration.pass(over: work.former.name, [work.former], behind: lastDone) { old, new in
        if let new { try body(new, old) }
      }
    }
  }

  private func fill(_ new: ManagedObject, from old: ManagedObject, _ work: PropertyWork) throws {
    try work.check(old) { problem(old, $0, $1) }
    for attribute in work.attributes {
      let value = try old.value(forKey: attribute.source)
      if value.isNull {
        if attribute.isOptional { try new.setValue(.null, forKey: attribute.name) }
      } else if let converted = attribute.converted(value, { _ in }) {
        try new.setValue(converted, forKey: attribute.name)
      }
    }
    for relationship in work.relationships {
      let members = try members(of: old, relationship)
      if relationship.isToMany {
        try new.objects(forKey: relationship.name).replaceAll(with: members)
      } else if members.count <= 1 {
        try new.setObject(members.first, forKey: relationship.name)
      }
    }
    if work.isDerived { migration.newContext.session.recomputed.insert(new.number) }
  }

  /// Returns the counterparts of a relationship's members, without those that are removed or don't
  /// fit.
  private func members(
    of old: ManagedObject, _ relationship: PropertyWork.Relationship
  ) throws -> [ManagedObject] {
    let ids = try relationship.members(of: old).compactMap(migration.newID)
    return try migration.newContext.objects(
      with: ids.filter { relationship.kinds.contains($0.entityName) })
  }

  private func problem(_ old: ManagedObject, _ property: String, _ what: String) {
    migration.journal.problems.note(
      MigrationProblem(entity: old.objectID.entityName, property: property, what: what),
      old.objectID.number)
  }
}
