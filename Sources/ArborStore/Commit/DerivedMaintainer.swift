internal import ArborFoundation
internal import ArborModel

/// Maintains the stored derived values that one change set affects, as an index is maintained:
/// collects the affected objects, then computes their values in the state after the set.
///
/// ```
/// records ── noteChange ─▶ due derivations, triggers ─┐
/// members of relationships ───────────────────────────┴─ gather ─▶ owners ── compute ─▶ records
/// ```
///
/// A value is compared with the stored one by its bytes. Derivations don't read derived values, so
/// one round suffices. Used only by the thread that leads the group commit, and reused across
/// commits.
final class DerivedMaintainer {
  let values: DerivedValues
  /// The store that owns the maintainer.
  private unowned let store: StoreEngine
  /// The bits of the derivations to compute, by index of the change in the set.
  private var due: [UInt64] = []
  /// The bits of the derivations to compute for objects outside the set.
  private var dueOutside: [ObjectNumber: UInt64] = [:]
  /// The members with a changed attribute, by owner.
  private var changedMembers: [ObjectNumber: [ObjectNumber]] = [:]
  /// The objects whose change fires a trigger, with the trigger's index among those of the entity.
  private var fired: [(number: ObjectNumber, entity: Int, trigger: Int)] = []
  /// The objects whose values are all computed from scratch.
  private var recomputed: Set<ObjectNumber> = []
  /// The memory of the records with computed values.
  private(set) var allocator = SlabAllocator(keepsSlabs: true)

  init(_ store: StoreEngine) throws(StoreError) {
    self.store = store
    values = try DerivedValues(store)
  }

  func begin(_ set: ChangeSet) {
    due = Array(repeating: 0, count: set.records.count)
    recomputed = Set(set.recomputed)
  }

  func removeAll() {
    due.removeAll(keepingCapacity: due.capacity < 1 << 12)
    dueOutside.removeAll()
    changedMembers.removeAll()
    fired.removeAll()
    recomputed.removeAll()
    allocator = SlabAllocator(keepsSlabs: true)
  }

  // MARK: Collecting

  /// Notes the derivations and triggers that a change affects.
  ///
  /// Insertions and deletions fire no triggers, because other objects reach them only through links
  /// that change, too.
  func noteChange(
    _ index: Int, _ change: ChangeSet.RecordChange, old: RecordView?, _ entity: EntitySchema
  ) {
    guard let new = change.record else { return }
    guard let old else {
      due[index] = .max
      return
    }
    for derivation in values.derivations(of: entity) {
      let isDue =
        derivation.isCommitDate
        || derivation.reads.contains { read in
          guard read.hops.isEmpty, let field = Self.field(read.property, of: entity) else {
            return false
          }
          return new.differs(from: old, field)
        }
      if isDue { due[index] |= derivation.bit }
    }
    for (trigger, found) in values.plan.triggers[entity.index].enumerated() {
      guard let field = Self.field(found.property, of: entity), new.differs(from: old, field) else {
        continue
      }
      fired.append((change.number, entity.index, trigger))
    }
  }

  private static func field(
    _ property: DerivationRead.Property, of entity: EntitySchema
  ) -> RecordField? {
    switch property {
    case .attribute(let slot): entity.attributes[slot].field
    case .toOne(let relationship): entity.relationships[relationship.slot].field
    case .members: nil
    }
  }

  /// Gathers the owners of affected values.
  func gather(_ preparation: CommitPreparation, _ resolver: ChangeSetResolver) {
    for number in recomputed { note(number, .max, preparation) }
    for (number, entity, trigger) in fired {
      traverse(
        from: number, back: values.plan.triggers[entity][trigger], preparation, resolver)
    }
    for (index, maintainer) in preparation.workspace.relationships.enumerated() {
      guard let maintainer else { continue }
      noteMembers(in: maintainer.run, index, preparation, resolver)
      noteMembers(in: maintainer.sweptRun, index, preparation, resolver)
    }
    for (index, ordered) in preparation.workspace.ordered.enumerated() {
      guard let ordered else { continue }
      for outcome in ordered.outcomes {
        noteMembers(of: outcome.owner, index, preparation, resolver)
      }
    }
  }

  private func noteMembers(
    in run: borrowing MemberRun, _ relationshipIndex: Int, _ preparation: CommitPreparation,
    _ resolver: ChangeSetResolver
  ) {
    var start = 0
    while start < run.count {
      noteMembers(of: run[start].owner, relationshipIndex, preparation, resolver)
      start = run.endOfOwner(start)
    }
  }

  /// Notes the owners of values that depend on an object's members.
  private func noteMembers(
    of owner: ObjectNumber, _ relationshipIndex: Int, _ preparation: CommitPreparation,
    _ resolver: ChangeSetResolver
  ) {
    guard let entity = store.schema.entity(of: owner) else { return }
    let slot = store.databases.relationships[relationshipIndex].schema.slot
    for trigger in values.plan.triggers[entity.index] {
      guard case .members(let relationship) = trigger.property, relationship.slot == slot else {
        continue
      }
      traverse(from: owner, back: trigger, preparation, resolver)
    }
  }

  /// Notes the objects from which a changed object is reachable through a trigger's relationships.
  ///
  /// The state after the set is sufficient: if a link on the path has changed as well, the owner is
  /// found through that link.
  private func traverse(
    from changed: ObjectNumber, back trigger: DerivationPlan.Trigger,
    _ preparation: CommitPreparation, _ resolver: ChangeSetResolver
  ) {
    var front: Set<ObjectNumber> = [changed]
    for hop in trigger.hops.reversed() {
      var next: Set<ObjectNumber> = []
      for number in front {
        guard let record = resolver.record(of: number),
          let entity = store.schema.entity(of: number),
          entity.relationships.indices.contains(hop.inverseSlot)
        else { continue }
        let inverse = entity.relationships[hop.inverseSlot]
        if inverse.isToMany {
          next.formUnion(resolver.members(of: number, inverse))
        } else if let field = inverse.field, let target = record.reference(field) {
          next.insert(target)
        }
      }
      front = next
    }
    let isMember = trigger.hops.count == 1
    for owner in front {
      if isMember { changedMembers[owner, default: []].append(changed) }
      note(owner, trigger.bits, preparation)
    }
  }

  private func note(_ owner: ObjectNumber, _ bits: UInt64, _ preparation: CommitPreparation) {
    if let index = preparation.index(of: owner) {
      due[index] |= bits
    } else {
      dueOutside[owner, default: 0] |= bits
    }
  }

  // MARK: Computing

  /// Computes the values of the set's object at an index.
  ///
  /// - Parameter old: The stored record, or `nil` for an inserted object.
  /// - Returns: The object's record with all derived values.
  func compute(
    _ index: Int, _ change: ChangeSet.RecordChange, _ record: RecordView, old: RecordView?,
    _ entity: EntitySchema, date: Date, _ resolver: ChangeSetResolver
  ) throws(StoreError) -> RecordView {
    var buffer = RecordBuffer(copying: record.bytes, into: allocator)
    for (position, derivation) in values.derivations(of: entity).enumerated() {
      if due[index] & derivation.bit != 0 {
        try compute(
          position, derivation, change.number, in: &buffer, isStored: old != nil, entity,
          date: date,
          resolver)
      } else if let old {
        buffer.copy(entity.attributes[derivation.slot].field, from: old, allocator: allocator)
      }
    }
    return buffer.view
  }

  /// The affected objects outside the set, in the order of their numbers.
  var owners: [ObjectNumber] { dueOutside.keys.sorted() }

  /// Computes the values of an object outside the set.
  ///
  /// - Returns: The object's record, or `nil` if no value has changed.
  func compute(
    _ owner: ObjectNumber, old: RecordView, _ entity: EntitySchema, date: Date,
    _ resolver: ChangeSetResolver
  ) throws(StoreError) -> RecordView? {
    let bits = dueOutside[owner] ?? 0
    var buffer = RecordBuffer(copying: old.bytes, into: allocator)
    for (position, derivation) in values.derivations(of: entity).enumerated()
    where bits & derivation.bit != 0 && !derivation.isCommitDate {
      try compute(
        position, derivation, owner, in: &buffer, isStored: true, entity, date: date, resolver)
    }
    return buffer.view.differsInDerivedFields(from: old, in: entity.layout) ? buffer.view : nil
  }

  private func compute(
    _ position: Int, _ derivation: Derivation, _ number: ObjectNumber,
    in record: inout RecordBuffer,
    isStored: Bool, _ entity: EntitySchema, date: Date, _ resolver: ChangeSetResolver
  ) throws(StoreError) {
    if derivation.isCommitDate {
      return try values.store(.date(date), position, of: entity, number, in: &record, allocator)
    }
    if isStored, let aggregate = derivation.aggregate, !recomputed.contains(number),
      let value = updatedValue(aggregate, number, resolver)
    {
      try values.store(value, position, of: entity, number, in: &record, allocator)
    } else {
      try values.compute(position, of: entity, number, in: &record, resolver, allocator)
    }
    try resolver.check()
  }

  /// Returns the value of an aggregate, computed from the changed members, or `nil` if all members
  /// have to be read or there are so few that it is faster.
  private func updatedValue(
    _ aggregate: DerivedAggregate, _ owner: ObjectNumber, _ resolver: ChangeSetResolver
  ) -> PropertyValue? {
    var touched = changedMembers[owner] ?? []
    guard let index = store.relationshipIndex(aggregate.relationship, of: owner) else { return nil }
    let workspace = resolver.workspace
    let memberCount = resolver.memberCount(of: owner, aggregate.relationship)
    if let run = workspace.relationships[index]?.run.range(of: owner), run.count >= memberCount {
      return nil
    }
    if let outcome = workspace.ordered[index]?.outcome(of: owner) {
      touched += outcome.joining
      let remaining = Set(outcome.members)
      touched += outcome.stored.lazy.map(\.member).filter { !remaining.contains($0) }
    } else if let maintainer = workspace.relationships[index] {
      for index in maintainer.run.range(of: owner) { touched.append(maintainer.run[index].member) }
      for index in maintainer.sweptRun.range(of: owner) {
        touched.append(maintainer.sweptRun[index].member)
      }
    }
    if touched.count > 1 { touched = Array(Set(touched)) }
    guard touched.count < memberCount else { return nil }
    return aggregate.value(
      of: owner, touching: touched, in: store.schema, stored: resolver.stored, present: resolver)
  }
}

extension CommitPreparation {
  /// Computes the derived values of the set's objects and of those that depend on them, and
  /// collects their index entries. The latter become changes that keep their version.
  ///
  /// - Parameter date: The date of the commit.
  mutating func derive(_ set: ChangeSet, date: Date) throws(StoreError) {
    guard let maintainer = workspace.derived else { return }
    let resolver = ChangeSetResolver(self, set)
    maintainer.gather(self, resolver)
    try resolver.check()
    var derived = changes
    for index in changes.indices {
      let change = changes[index]
      guard let record = change.record, let plan = plan(of: change.number),
        !plan.entity.layout.derivedFields.isEmpty
      else { continue }
      let old = try self.record(change.number, plan)
      let computed = try maintainer.compute(
        index, change, record, old: old, plan.entity, date: date, resolver)
      collectIndexes(change.number, old: old, new: computed, plan)
      derived[index] = change.computed(computed, old: old, plan.entity.layout)
    }
    for owner in maintainer.owners {
      guard let plan = plan(of: owner), let old = try record(owner, plan),
        let computed = try maintainer.compute(owner, old: old, plan.entity, date: date, resolver)
      else { continue }
      collectIndexes(owner, old: old, new: computed, plan)
      let change = ChangeSet.RecordChange.derive(
        owner, version: old.version, computed,
        changedProperties: computed.changedFields(since: old, in: plan.entity.layout))
      owners.append(change)
    }
    replaceChanges(owners.isEmpty ? derived : derived + owners)
  }

  private func collectIndexes(
    _ number: ObjectNumber, old: RecordView?, new: RecordView, _ plan: WritePlan
  ) {
    for index in plan.indexes {
      workspace.indexes[index.number].collect(number, old: old, new: new, plan: index)
    }
  }
}

extension ChangeSet.RecordChange {
  /// Returns the change with computed values in its record.
  fileprivate func computed(
    _ record: RecordView, old: RecordView?, _ layout: RecordLayout
  ) -> ChangeSet.RecordChange {
    var bits = changedProperties
    if let old {
      bits |=
        record.changedFields(since: old, in: layout)
        & ~record.editedFields(since: old, in: layout)
    }
    return ChangeSet.RecordChange(
      number: number, kind: kind, baseVersion: baseVersion, record: record, changedProperties: bits)
  }
}
