internal import ArborModel
internal import ArborStore

/// Merges inserted objects into existing objects with the same unique values.
///
/// ```
/// inserted X ── name "FR", population 68 ─┐            X is gone, as if it had been deleted
/// employee ── country ──▶ X               ├─▶ stored S ── name "FR", population 68
/// stored   S ── name "FR" ────────────────┘   employee ── country ──▶ S
/// ```
///
/// Links to the inserted object and members of its to-many relationships are always transferred to
/// the other object. Attributes and the targets of its to-one relationships are resolved by the
/// policy. If both objects were inserted, the later one is merged into the other.
struct UniqueMerger {
  let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }

  /// Resolves the uniqueness violations of a commit. Returns whether the commit should be retried.
  /// It is not retried if an existing object takes a value of another, or if the two objects have
  /// different entities.
  func resolve(
    _ violations: [UniquenessViolation],
    by resolution: (MergePolicy, ManagedObject, ManagedObject) -> MergeResolution
  ) -> Bool {
    // All or none, because an error must report every violation.
    guard violations.allSatisfy(canResolve) else { return false }
    for violation in violations {
      guard let (inserted, other) = pair(violation) else { continue }
      // An earlier pair may have merged either object, and another commit may have deleted the
      // other one. The next attempt detects what is left to do.
      guard inserted.session === session, session.exists(other),
        let survivor = session.fault(other), session.load(survivor)
      else { continue }
      merge(inserted, into: survivor, resolution(policy(of: violation), inserted, survivor))
    }
    return true
  }

  func canResolve(_ violation: UniquenessViolation) -> Bool {
    pair(violation) != nil && policy(of: violation).merges
  }

  /// Returns the policy of a violation's objects: that of the closest entity with a policy of its
  /// own, or the context's.
  func policy(of violation: UniquenessViolation) -> MergePolicy {
    var entity = session.schema.entity(of: violation.offending)?.description.name
    while let name = entity {
      if let policy = session.uniquenessPolicies[name] { return policy }
      entity = session.schema.entity(named: name)?.description.parent
    }
    return session.mergePolicy
  }

  /// Returns the inserted object of a violation and the object to merge it into, or `nil` if
  /// neither was inserted or their entities differ.
  private func pair(_ violation: UniquenessViolation) -> (ManagedObject, ObjectNumber)? {
    for (one, other) in [
      (violation.offending, violation.existing), (violation.existing, violation.offending),
    ] where one.entity == other.entity {
      // A restored object with its old number isn't new.
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
        guard let member else { continue }
        keeper.add(member, to: survivor, relationship)
        // Members with this rule would forbid the deletion.
        if relationship.keepsMembersOfDeleted {
          keeper.remove(member, from: inserted, relationship)
        }
      }
    }
    // Its remaining links are removed with it.
    var propagation = DeletePropagation(session, followsRules: false)
    propagation.delete(inserted)
    session.mergedObjects.append((inserted, survivor.number))
  }

  /// - Parameter onlyChanged: Whether to skip values equal to the model's defaults.
  private func copyAttributes(
    of inserted: ManagedObject, to survivor: ManagedObject, onlyChanged: Bool
  ) {
    let record = inserted.currentRecord
    for attribute in inserted.binding.entity.attributes
    where attribute.description.derivation == nil {
      let field = attribute.field
      if onlyChanged, !record.differs(from: inserted.binding.template, field) { continue }
      if !field.isExternal, !record.differs(from: survivor.currentRecord, field) { continue }
      // Copied as a value, because the storage location of a large binary value depends on its
      // object.
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
      // A one-to-one partner stores the link in a field of its own.
      guard relationship.isPaired, let target, survivor.target(of: relationship) == nil else {
        return
      }
      keeper.set(survivor, relationship, to: target)
    }
  }
}

extension Session {
  /// Returns the inserted objects that the commit has merged, and the IDs of the remaining objects.
  /// The inserted ones refuse changes from now on.
  func takeMergedObjects() -> [ObjectID: ObjectID] {
    var survivors: [ObjectID: ObjectID] = [:]
    // An object may have been merged into one that was then merged into another.
    for (inserted, survivor) in mergedObjects.reversed() {
      let id = objectID(survivor)
      survivors[inserted.objectID] = survivors[id] ?? id
      if inserted.session == nil {
        inserted.state = .merged
        inserted.binding.session = self
      }
    }
    mergedObjects = []
    return survivors
  }
}
