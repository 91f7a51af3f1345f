internal import ArborModel

/// Changes links and keeps both sides of every relationship in agreement, at once.
///
/// Four forms of a side follow from how the store keeps it: a field of the record (to-one), nothing
/// of its own (an unordered to-many whose inverse is to-one: only the link edits repeat the change),
/// a set of link edits (many-to-many), or a list (ordered).
struct InverseKeeper {
  let context: ManagedObjectContext

  /// Points a to-one relationship at another object, or at none.
  func set(_ object: ManagedObject, _ relationship: RelationshipSchema, to target: ManagedObject?) {
    guard let field = object.binding.entity.field(of: relationship) else { return }
    let former = object.currentRecord.reference(field)
    guard former != target?.number else { return }
    guard write(object, field, target?.number) else { return }
    if let former { leave(object.number, at: former, slot: relationship.inverseSlot) }
    if let target { arrive(object, at: target, slot: relationship.inverseSlot, from: field) }
  }

  /// Links a member to a to-many relationship.
  func add(_ member: ManagedObject, to owner: ManagedObject, _ relationship: RelationshipSchema) {
    let inverse = member.binding.entity.inverse(of: relationship)
    guard inverse.isToMany else { return set(member, inverse, to: owner) }
    arriveLink(member.number, at: owner.number, relationship)
    // An object in a relationship that is its own inverse may be its own member: one link.
    guard member !== owner || !isSame(relationship, inverse) else { return }
    arriveLink(owner.number, at: member.number, inverse)
  }

  /// Unlinks a member from a to-many relationship.
  func remove(
    _ member: ManagedObject, from owner: ManagedObject, _ relationship: RelationshipSchema
  ) {
    let inverse = member.binding.entity.inverse(of: relationship)
    guard inverse.isToMany else {
      guard let field = member.binding.entity.field(of: inverse),
        member.currentRecord.reference(field) == owner.number
      else { return }
      return set(member, inverse, to: nil)
    }
    leaveLink(member.number, at: owner.number, relationship)
    guard member !== owner || !isSame(relationship, inverse) else { return }
    leaveLink(owner.number, at: member.number, inverse)
  }

  /// Makes objects the members of a to-many relationship, in that order where it is ordered.
  func replace(
    _ owner: ManagedObject, _ relationship: RelationshipSchema, with members: [ManagedObject]
  ) {
    let former = MemberList(context.members(of: owner, relationship))
    var wanted = MemberList()
    for member in members { wanted.append(member.number) }
    for number in former.numbers where !wanted.contains(number) {
      remove(context.fault(number), from: owner, relationship)
    }
    for member in members where !former.contains(member.number) {
      add(member, to: owner, relationship)
    }
    guard relationship.isOrdered else { return }
    let order = wanted.numbers
    changeOrder(of: owner.number, relationship, unless: { $0.numbers == order }) { $0 = wanted }
  }

  // MARK: One side

  /// Tells a former target that it is none any more.
  func leave(_ member: ObjectNumber, at owner: ObjectNumber, slot: Int) {
    guard let entity = context.schema.entity(of: owner) else { return }
    let relationship = entity.relationships[slot]
    switch relationship.storage {
    case .field(let index):
      guard !context.isDeleted(owner) else { return }
      let object = context.fault(owner)
      let field = entity.layout.fields[index]
      if object.currentRecord.reference(field) == member { write(object, field, nil) }
    case .derived: context.links.leave(member, at: owner, relationship)
    case .links:
      if !context.isDeleted(owner) { leaveLink(member, at: owner, relationship) }
    }
  }

  /// Tells a new target that it is one.
  private func arrive(
    _ member: ManagedObject, at owner: ManagedObject, slot: Int, from memberField: RecordField
  ) {
    let relationship = owner.binding.entity.relationships[slot]
    switch relationship.storage {
    case .field(let index):
      let field = owner.binding.entity.layout.fields[index]
      let former = owner.currentRecord.reference(field)
      write(owner, field, member.number)
      guard let former, former != member.number, !context.isDeleted(former) else { return }
      let object = context.fault(former)
      let formerField = object.binding.entity.field(
        of: object.binding.entity.inverse(of: relationship))
      // In a relationship that is its own inverse it may have been pointed elsewhere by now.
      if let formerField, object.currentRecord.reference(formerField) == owner.number {
        write(object, formerField, nil)
      }
    case .derived: context.links.arrive(member.number, at: owner.number, relationship)
    case .links: arriveLink(member.number, at: owner.number, relationship)
    }
  }

  @discardableResult
  private func write(
    _ object: ManagedObject, _ field: RecordField, _ target: ObjectNumber?
  ) -> Bool {
    object.write { buffer, _ in
      if let target {
        buffer.store(field, target.rawValue)
      } else {
        buffer.setNull(field)
      }
    }
    return object.currentRecord.reference(field) == target
  }

  /// Whether two sides are one: a relationship that is its own inverse.
  private func isSame(_ one: RelationshipSchema, _ other: RelationshipSchema) -> Bool {
    one.slot == other.slot && one.declaringEntity == other.declaringEntity
  }

  // MARK: Links

  private func arriveLink(
    _ member: ObjectNumber, at owner: ObjectNumber, _ relationship: RelationshipSchema
  ) {
    guard !relationship.isOrdered else {
      return changeOrder(of: owner, relationship, unless: { $0.contains(member) }) {
        $0.append(member)
      }
    }
    setLink(member, at: owner, relationship, .added)
  }

  func leaveLink(
    _ member: ObjectNumber, at owner: ObjectNumber, _ relationship: RelationshipSchema
  ) {
    guard !relationship.isOrdered else {
      return changeOrder(of: owner, relationship, unless: { !$0.contains(member) }) {
        $0.remove(member)
      }
    }
    setLink(member, at: owner, relationship, .removed)
  }

  private func setLink(
    _ member: ObjectNumber, at owner: ObjectNumber, _ relationship: RelationshipSchema,
    _ standing: LinkEdit.Standing
  ) {
    let edit = context.links.makeEdit(owner, relationship)
    let former = edit[member]
    guard former != standing else { return }
    context.noteStep(.link(edit, member, former))
    // Between objects of which one was never committed, a link that goes leaves nothing to remove.
    let isNew = context.isNew(owner) || context.isNew(member)
    edit[member] = isNew && standing == .removed ? .unmentioned : standing
  }

  /// Changes the list of an ordered relationship, which is read from the store the first time.
  private func changeOrder(
    of owner: ObjectNumber, _ relationship: RelationshipSchema,
    unless isDone: (MemberList) -> Bool, _ body: (inout MemberList) -> Void
  ) {
    let edit = context.links.makeEdit(owner, relationship)
    if edit.order == nil {
      let stored = MemberList(context.storedMembers(of: owner, relationship))
      guard !isDone(stored) else { return }
      context.noteStep(.order(edit, nil))
      edit.order = stored
    } else {
      guard edit.order.map(isDone) != true else { return }
      noteOrder(edit)
    }
    edit.orderEpoch = context.epoch
    if edit.order != nil { body(&edit.order!) }
  }

  /// Forgets the list of an object that was inserted and is deleted again.
  func forgetOrder(of owner: ObjectNumber, _ relationship: RelationshipSchema) {
    guard let edit = context.links.edit(owner, relationship), edit.order != nil else { return }
    context.noteStep(.order(edit, edit.order?.copy))
    edit.order = nil
  }

  private func noteOrder(_ edit: LinkEdit) {
    guard edit.orderEpoch != context.epoch else { return }
    context.noteStep(.order(edit, edit.order?.copy))
  }
}
