internal import ArborModel
internal import ArborStore

/// Merges inserted objects into those that have their unique values already.
///
/// ```
/// inserted X ── name "FR", population 68 ─┐            X is gone, as if it had been deleted
/// employee ── country ──▶ X               ├─▶ stored S ── name "FR", population 68
/// stored   S ── name "FR" ────────────────┘   employee ── country ──▶ S
/// ```
///
/// Links that lead to the inserted object, and members of its to-many relationships, go to the
/// other one, whatever the policy; attributes and what its to-one relationships lead to go by it.
/// Of two inserted objects the one that was inserted later merges into the other.
struct UniqueMerger {
  let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }

  /// Resolves what kept a commit from being written; returns whether it is worth another try: not
  /// where an object that is not new takes a value that another has, nor where the two are of
  /// different entities.
  func resolve(
    _ violations: [UniquenessViolation],
    by resolution: (ManagedObject, ManagedObject) -> MergeResolution
  ) -> Bool {
    let pairs = violations.map(pair)
    // All or none: an error is to name every one of them.
    guard pairs.allSatisfy({ $0 != nil }) else { return false }
    for case .some((let inserted, let other)) in pairs {
      // An earlier pair may have merged either, and others may have deleted what was in the way:
      // the next try tells what is left to do.
      guard inserted.session === session, session.exists(other),
        let survivor = session.fault(other), session.load(survivor)
      else { continue }
      merge(inserted, into: survivor, resolution(inserted, survivor))
    }
    return true
  }

  func canResolve(_ violation: UniquenessViolation) -> Bool { pair(violation) != nil }

  /// The inserted object of a violation and the one that it merges into.
  private func pair(_ violation: UniquenessViolation) -> (ManagedObject, ObjectNumber)? {
    for (one, other) in [
      (violation.offending, violation.existing), (violation.existing, violation.offending),
    ] where one.entity == other.entity {
      // One that comes back under its old number is no new object.
      if let change = session.pending.change(of: one), change.kind == .inserted,
        change.formerVersion == 0
      {
        return (change.object, other)
      }
    }
    return nil
  }

  private func merge(
    _ inserted: ManagedObject, into survivor: ManagedObject, _ resolution: MergeResolution
  ) {
    switch resolution {
    case .objectWins: copyAttributes(of: inserted, to: survivor, onlyChanged: true)
    case .overwrite: copyAttributes(of: inserted, to: survivor, onlyChanged: false)
    case .storeWins, .rollback: break
    }
    for relationship in inserted.binding.entity.relationships {
      guard relationship.isToMany else {
        moveTarget(of: inserted, relationship, to: survivor, resolution)
        continue
      }
      for number in session.members(of: inserted, relationship) {
        let member = number == inserted.number ? survivor : session.fault(number)
        if let member { keeper.add(member, to: survivor, relationship) }
      }
    }
    // What is left of its links goes with it.
    var propagation = DeletePropagation(session, followsRules: false)
    propagation.delete(inserted)
  }

  /// - Parameter onlyChanged: Whether values that are the model's default stay behind.
  private func copyAttributes(
    of inserted: ManagedObject, to survivor: ManagedObject, onlyChanged: Bool
  ) {
    let record = inserted.currentRecord
    for attribute in inserted.binding.entity.attributes
    where attribute.description.derivation == nil {
      let field = attribute.field
      if onlyChanged, !record.differs(from: inserted.binding.template, field) { continue }
      if !field.isExternal, !record.differs(from: survivor.currentRecord, field) { continue }
      // As a value, since a large binary's place is named after its object.
      let value = inserted.fieldValue(
        RecordProperty(name: attribute.name, field: field), in: record)
      survivor.write { buffer, allocator in
        _ = buffer.set(field, value, allocator: allocator)
      }
    }
  }

  private func moveTarget(
    of inserted: ManagedObject, _ relationship: RelationshipSchema, to survivor: ManagedObject,
    _ resolution: MergeResolution
  ) {
    let number = inserted.target(of: relationship)
    let target = number.flatMap { $0 == inserted.number ? survivor : session.fault($0) }
    switch resolution {
    case .objectWins: if let target { keeper.set(survivor, relationship, to: target) }
    case .overwrite: keeper.set(survivor, relationship, to: target)
    case .storeWins, .rollback:
      // A partner links to the object by a field of its own.
      guard relationship.isPaired, let target, survivor.target(of: relationship) == nil else {
        return
      }
      keeper.set(survivor, relationship, to: target)
    }
  }
}
