internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// Computes the derived attributes of one commit or validation. `now()` returns the same date
/// throughout.
struct AttributeDerivation {
  let session: Session
  let date = Date()

  /// Computes the derived attributes of all objects to be written and of all objects that depend on
  /// them. Different values become pending changes.
  ///
  /// - Returns: The basis of the values, for the store to check, or `nil` if they depend only on
  ///   objects to be written.
  func derive() throws(ArborError) -> ChangeSet.Basis? {
    guard session.schema.hasDerivations else { return nil }
    let plan = try session.schema.derivationPlan()
    // All reads use the newest snapshot, against which the commit is checked.
    return try session.pinning(session.engine.reporting(session.engine.snapshot())) {
      () throws(ArborError) in
      session.memberships.removeAll()
      var attributes = DerivedAttributes(session, plan, now: date)
      return try attributes.compute()
    }
  }

  /// Resolves conflicts in which one of the two commits changed only derived values of an object.
  /// These are recomputed, and the changes of the other commit are kept.
  ///
  /// - Returns: The remaining conflicts.
  func resolve(_ conflicts: [CommitConflict]) -> [CommitConflict] {
    guard session.schema.hasDerivations, let plan = try? session.schema.derivationPlan() else {
      return conflicts
    }
    // An edit of an ordered relationship changes its owner without changing a field.
    var reordered: Set<ObjectNumber> = []
    session.links.forEach { if $0.changesOwner { reordered.insert($0.owner) } }
    let merger = ChangeMerger(session)
    return conflicts.filter { conflict in
      guard !reordered.contains(conflict.number),
        let change = session.pending.change(of: conflict.number), let committed = change.committed
      else { return true }
      let entity = change.object.binding.entity
      let derived = plan.derivations[entity.index].map { entity.attributes[$0.slot].fieldIndex }
      func isOnlyDerived(_ record: RecordView) -> Bool {
        !record.differs(from: committed, besides: derived, entity)
      }
      if change.kind == .updated, isOnlyDerived(change.object.currentRecord) {
        merger.resolve(conflict, .rollback)
        return false
      }
      guard let current = conflict.currentRecord else { return true }
      let isTheirsDerived = current.withUnsafeBytes { bytes in
        bytes.baseAddress.map { base in
          let record = RecordView(base: base, count: bytes.count)
          return isOnlyDerived(record)
            && derived.contains { record.differs(from: committed, entity.layout.fields[$0]) }
        } ?? false
      }
      guard isTheirsDerived else { return true }
      merger.resolve(conflict, .objectWins)
      return false
    }
  }
}

/// A single computation of derived attributes. See ``AttributeDerivation/derive()``.
private struct DerivedAttributes {
  private let session: Session
  private let plan: DerivationPlan
  private let environment: PredicateEnvironment
  private var owners: Set<ObjectNumber> = []
  /// The owners whose values are all computed from scratch.
  private var rewritten: Set<ObjectNumber> = []
  /// For each owner, the objects that have become members or ceased to be members, and members that
  /// were changed.
  private var touched: [ObjectNumber: Set<ObjectNumber>] = [:]
  /// The owners of ordered relationships with changed members, which are written, too.
  private var reordered: Set<ObjectNumber> = []
  /// The catalog numbers of the entities that values or the selection of owners depend on.
  private var entities: Set<UInt16> = []
  /// The readers of derived values, by concrete entity index.
  private var readers: [Int: [ValueReader]] = [:]

  init(_ session: Session, _ plan: DerivationPlan, now date: Date) {
    self.session = session
    self.plan = plan
    environment = PredicateEnvironment(
      schema: session.schema, storeID: session.engine.id, now: date)
  }

  mutating func compute() throws(ArborError) -> ChangeSet.Basis? {
    gather()
    // The commit detects objects that other commits have deleted in the meantime, and the policy
    // resolves that.
    owners = owners.filter(isThere)
    try session.throwFailure()
    let objects = session.objects(owners.sorted(), of: nil)
    for object in objects { try prepareReaders(object.binding.entity) }
    for object in objects { _ = object.currentRecord }
    try session.throwFailure()
    let values = try values(of: objects)
    for (object, values) in zip(objects, values) {
      try store(values, in: object)
    }
    guard !entities.isEmpty, let sequence = session.pinned?.sequence else { return nil }
    return ChangeSet.Basis(sequence: sequence, entities: entities)
  }

  // MARK: Affected owners

  private mutating func gather() {
    owners = session.recomputed
    rewritten = owners
    gatherChanged()
    gatherRelinked()
    for owner in owners {
      guard let entity = session.schema.entity(of: owner) else { continue }
      for derivation in plan.derivations[entity.index] {
        entities.formUnion(derivation.entities(in: session.schema))
      }
    }
  }

  /// Adds the owners of values that depend on changed objects.
  private mutating func gatherChanged() {
    // Traversal loads records, whose hooks may add changes.
    for change in session.pending.all {
      let object = change.object
      let entity = object.binding.entity
      switch change.kind {
      case .inserted:
        guard !plan.derivations[entity.index].isEmpty else { continue }
        owners.insert(object.number)
        rewritten.insert(object.number)
      case .updated:
        guard let committed = change.committed else { continue }
        let record = object.currentRecord
        for trigger in plan.triggers[entity.index] {
          guard let field = field(trigger.property, of: object),
            record.differs(from: committed, field)
          else { continue }
          traverse(from: object.number, back: trigger)
        }
        guard !plan.derivations[entity.index].isEmpty,
          record.changedFields(since: committed, in: entity.layout) != 0
        else { continue }
        owners.insert(object.number)
        // Values written by an earlier computation for the same commit don't count as changes.
        let derived = plan.derivations[entity.index].map { entity.attributes[$0.slot].fieldIndex }
        if record.differs(from: committed, besides: derived, entity) {
          rewritten.insert(object.number)
        }
      case .deleted, .dropped: break
      }
    }
  }

  /// Adds the owners of values that depend on the members of changed relationships.
  private mutating func gatherRelinked() {
    var edited: [(ObjectNumber, RelationshipSchema)] = []
    session.links.forEach { edit in
      guard !session.isDeleted(edit.owner) else { return }
      edited.append((edit.owner, edit.relationship))
      touched[edit.owner, default: []].formUnion(edit.addedMembers + edit.removedMembers)
      if edit.changesOwner { reordered.insert(edit.owner) }
    }
    for (owner, relationship) in edited {
      guard let entity = session.schema.entity(of: owner) else { continue }
      for trigger in plan.triggers[entity.index] {
        guard case .members(let counted) = trigger.property, counted.slot == relationship.slot
        else { continue }
        traverse(from: owner, back: trigger)
      }
      if reordered.contains(owner), !plan.derivations[entity.index].isEmpty {
        owners.insert(owner)
      }
    }
  }

  private func field(
    _ property: DerivationRead.Property, of object: ManagedObject
  ) -> RecordField? {
    switch property {
    case .attribute(let slot): object.binding.entity.attributes[slot].field
    case .toOne(let relationship): object.binding.entity.relationships[relationship.slot].field
    case .members: nil
    }
  }

  /// Adds the objects from which a changed object is reachable through a trigger's relationships.
  private mutating func traverse(from changed: ObjectNumber, back trigger: DerivationPlan.Trigger) {
    var front: Set<ObjectNumber> = [changed]
    for hop in trigger.hops.reversed() {
      var next: Set<ObjectNumber> = []
      for number in front where isThere(number) {
        guard let inverse = session.relationship(of: number, hop.inverseSlot),
          let object = session.fault(number)
        else { continue }
        if inverse.isToMany {
          next.formUnion(session.members(of: object, inverse))
        } else if let target = object.target(of: inverse) {
          next.insert(target)
        }
      }
      front = next
    }
    if trigger.hops.count == 1 {
      for owner in front { touched[owner, default: []].insert(changed) }
    }
    entities.formUnion(trigger.entities)
    owners.formUnion(front.filter { !session.isDeleted($0) })
  }

  /// Returns whether an object exists in the context or the store, so that its values can be read.
  private func isThere(_ number: ObjectNumber) -> Bool {
    switch session.pending.change(of: number)?.kind {
    case .inserted: return true
    case .deleted: return false
    case .updated, .dropped, nil: break
    }
    return session.known(false) { snapshot throws(StoreError) in
      try snapshot.exists(number)
    }
  }

  // MARK: Values

  private mutating func prepareReaders(_ entity: EntitySchema) throws(ArborError) {
    guard readers[entity.index] == nil else { return }
    readers[entity.index] = try plan.derivations[entity.index].map {
      (derivation) throws(ArborError) in
      try PredicateCompiler.reader(
        for: derivation.expression, arguments: [], of: entity, environment: environment)
    }
  }

  private func values(of objects: [ManagedObject]) throws(ArborError) -> [[PropertyValue]] {
    try session.engine.reporting(
      session.peek { snapshot throws(StoreError) in
        try snapshot.resolving(overlay: session.overlay, readsDeleted: false) {
          present throws(StoreError) in
          try snapshot.resolving(overlay: nil) { stored in
            objects.map { values(of: $0, stored: stored, present: present) }
          }
        }
      })
  }

  private func values(
    of object: ManagedObject, stored: any RecordResolver, present: any RecordResolver
  ) -> [PropertyValue] {
    let index = object.binding.entity.index
    let isRewritten = rewritten.contains(object.number)
    let touched = touched[object.number] ?? []
    return zip(plan.derivations[index], readers[index, default: []]).map { derivation, read in
      if !isRewritten,
        let value = derivation.aggregate?.value(
          of: object.number, touching: touched, in: environment.schema, stored: stored,
          present: present)
      {
        return value
      }
      return read(object.currentRecord, object.number, present)
    }
  }

  /// Stores the values that differ. Values that use `now()` are stored only once it is known that
  /// the object will be written.
  private func store(_ values: [PropertyValue], in object: ManagedObject) throws(ArborError) {
    let derivations = plan.derivations[object.binding.entity.index]
    var timed: [(AttributeSchema, PropertyValue)] = []
    for (derivation, value) in zip(derivations, values) {
      let attribute = object.binding.entity.attributes[derivation.slot]
      guard let fitting = attribute.description.type.fittingDerived(value) else {
        throw ArborError(
          .validation,
          "The derived value of \(object.binding.entity.name).\(attribute.name) doesn't fit the "
            + "attribute's type. Expected \(attribute.description.type.expectation). Change the "
            + "type."
        ).with(
          entity: object.binding.entity.name, objectID: object.objectID, keyPath: attribute.name,
          offending: "\(value)")
      }
      if derivation.usesNow {
        timed.append((attribute, fitting))
      } else {
        set(attribute.field, fitting, in: object)
      }
    }
    guard let change = object.change, !timed.isEmpty else { return }
    if change.kind == .inserted || isWritten(change, besides: timed.map(\.0.fieldIndex)) {
      for (attribute, value) in timed { set(attribute.field, value, in: object) }
    } else if let committed = change.committed {
      for (attribute, _) in timed {
        set(attribute.field, committed.value(attribute.field), in: object)
      }
    }
  }

  private func isWritten(_ change: PendingObject, besides timed: [Int]) -> Bool {
    guard let committed = change.committed else { return true }
    if reordered.contains(change.object.number) { return true }
    return change.object.currentRecord.differs(
      from: committed, besides: timed, change.object.binding.entity)
  }

  private func set(_ field: RecordField, _ value: PropertyValue, in object: ManagedObject) {
    guard object.currentRecord.value(field) != value else { return }
    // The object wasn't changed by the program, so hooks and validation that weren't needed are
    // still not needed.
    let isQuiet = object.change?.isQuiet ?? true
    object.write { buffer, allocator in _ = buffer.set(field, value, allocator: allocator) }
    if isQuiet, let change = object.change { change.quietMutations = change.mutations }
  }
}

extension RecordView {
  /// Returns whether any field differs, except those with the given indexes.
  fileprivate func differs(
    from other: RecordView, besides indexes: [Int], _ entity: EntitySchema
  ) -> Bool {
    entity.layout.fields.enumerated().contains { index, field in
      !indexes.contains(index) && differs(from: other, field)
    }
  }
}

extension AttributeType {
  /// Converts a computed value to the form stored by this type. Returns `nil` if it doesn't fit.
  /// Sums and averages are decimals or doubles, so integral values are accepted as integers.
  fileprivate func fittingDerived(_ value: PropertyValue) -> PropertyValue? {
    if let fitting = fitting(value) { return fitting }
    let isWhole = self == .integer16 || self == .integer32 || self == .integer64
    switch (self, value) {
    case (_, .double(let number)) where isWhole:
      return Int64(exactly: number).flatMap { fitting(.integer($0)) }
    case (_, .decimal) where isWhole:
      return value.int64.flatMap { fitting(.integer($0)) }
    case (.float, .decimal(let number)), (.double, .decimal(let number)):
      return fitting(.double(Double(number.description) ?? .nan))
    case (_, .boolean(let flag)) where isWhole: return .integer(flag ? 1 : 0)
    case (.boolean, .integer(0)): return .boolean(false)
    case (.boolean, .integer(1)): return .boolean(true)
    default: return nil
    }
  }
}
