internal import ArborModel

/// The pending changes of to-many relationships in a context, by owner.
///
/// For relationships whose inverse is to-one they only repeat what the members' changes say, so
/// that the owner's side is right at once. They are a function of these, and are made anew whenever
/// one of them becomes another one — the record, what it is compared with, or whether it is a
/// deletion: see ``Session/withMemberships(of:_:)``. The store derives such a
/// relationship by itself, unless it is ordered.
///
/// For all others they are the truth, and the commit submits them. What is said of a pair is the
/// context's last word on it, whatever others commit, and holds until the commit or the end of one
/// of the two objects. A deletion says it of the links that it finds; links that others commit to
/// an object whose deletion waits here are hidden as long as it does, and are there again when it
/// is undone.
///
/// Who is a member is said in the same way where the members have an order; their sequence is a
/// matter of its own, an ``PendingOrder``.
///
/// A change of a link costs two look-ups and no read of the store.
final class PendingMemberships {
  /// By the index of the declaring entity, then by slot: edits by owner. A relationship has one
  /// table for its declaring entity and all that inherit it. Empty before the first edit, since
  /// most contexts make none.
  private var tables: [[Table?]] = []
  private let schema: ModelSchema
  private let isDeleted: (ObjectNumber) -> Bool
  /// The edits, which the tables refer to unretained.
  private var edits: ContiguousArray<PendingMembers> = []

  private final class Table {
    let map = NumberMap()
  }

  init(_ schema: ModelSchema, _ pending: PendingObjects) {
    self.schema = schema
    isDeleted = { pending.change(of: $0)?.kind == .deleted }
  }

  /// Whether there are any. Edits that cancelled out may still count.
  var hasEdits: Bool { edits.contains { !$0.isEmpty } }

  /// Whether there may be any of ordered relationships.
  private(set) var hasOrders = false

  /// Whether there may be any that hide members.
  private var hidesMembers = false

  /// Whether an owner that fulfils a condition has other members than in the store.
  func hasEdits(ofOwner condition: (ObjectNumber) -> Bool) -> Bool {
    edits.contains { !$0.isSilent && condition($0.owner) }
  }

  @inline(__always)
  func edit(_ owner: ObjectNumber, _ relationship: RelationshipSchema) -> PendingMembers? {
    guard !edits.isEmpty,
      let word = tables[relationship.declaringEntity][relationship.slot]?.map[owner],
      let pointer = UnsafeRawPointer(bitPattern: word)
    else { return nil }
    return Unmanaged<PendingMembers>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The edit of an owner's relationship, made where there is none.
  func makeEdit(_ owner: ObjectNumber, _ relationship: RelationshipSchema) -> PendingMembers {
    if let edit = edit(owner, relationship) { return edit }
    let edit = PendingMembers(owner, relationship, isDeleted: isDeleted)
    edits.append(edit)
    if relationship.isOrdered { hasOrders = true }
    if tables.isEmpty {
      tables = schema.entities.map { Array(repeating: nil, count: $0.relationships.count) }
    }
    let table: Table
    if let present = tables[relationship.declaringEntity][relationship.slot] {
      table = present
    } else {
      table = Table()
      tables[relationship.declaringEntity][relationship.slot] = table
    }
    table.map.set(owner, UInt(bitPattern: Unmanaged.passUnretained(edit).toOpaque()))
    return edit
  }

  /// Derives the membership of a member at an owner from the member's change, nil where it has
  /// none. For relationships whose inverse is to-one. See ``PendingObject/membership(at:_:)``.
  @inline(__always)
  func derive(
    _ member: ObjectNumber, _ change: PendingObject?, at owner: ObjectNumber,
    _ relationship: RelationshipSchema
  ) {
    makeEdit(owner, relationship)[member] =
      change?.membership(at: owner, relationship) ?? .unmentioned
  }

  /// Calls `body` with every edit that is not empty.
  func forEach<E: Error>(_ body: (PendingMembers) throws(E) -> Void) throws(E) {
    for edit in edits where !edit.isEmpty { try body(edit) }
  }

  /// Calls `body` with every edit that makes the members others than the store's.
  func forEachDeviation(_ body: (PendingMembers) -> Void) {
    for edit in edits where !edit.isSilent { body(edit) }
  }

  /// Records that there was a concurrent commit.
  func noteConcurrent() {
    guard hasOrders else { return }
    for edit in edits { edit.order?.isBehind = true }
  }

  /// Leaves an object whose deletion waits here out of what others have linked to it.
  func hide(_ member: ObjectNumber, from owner: ObjectNumber, _ relationship: RelationshipSchema) {
    makeEdit(owner, relationship).hidden.append(member)
    hidesMembers = true
  }

  /// Calls `body` with every edit that hides an object as long as its deletion waits. Linear in the
  /// number of edits.
  func forEach(hiding member: ObjectNumber, _ body: (PendingMembers) -> Void) {
    guard hidesMembers else { return }
    for edit in edits where edit.hidden.contains(member) { body(edit) }
  }

  /// Calls `body` with the owner of every edit of a relationship that users see; an owner may come
  /// more than once.
  func forEachOwner(_ body: (ObjectNumber) -> Void) {
    for edit in edits where !edit.isEmpty && !edit.relationship.isHidden { body(edit.owner) }
  }

  func hasEdits(of object: ManagedObject, _ relationship: RelationshipSchema) -> Bool {
    edit(object.number, relationship).map { !$0.isEmpty } ?? false
  }

  /// Whether any relationship of an object that users see has an edit.
  func hasEdits(of object: ManagedObject) -> Bool {
    guard !edits.isEmpty else { return false }
    return object.binding.entity.relationships.contains {
      $0.isToMany && !$0.isHidden && hasEdits(of: object, $0)
    }
  }

  /// Forgets what is said of pairs with an object that is gone: both sides, so that they agree
  /// where others bring it back; and of the sequence of its members. Linear in the number of edits.
  ///
  /// - Parameter tell: Called with each edit that is about to change, and the members it concerns.
  func forget<E: Error>(
    where isGone: (ObjectNumber) throws(E) -> Bool,
    telling tell: (PendingMembers, [ObjectNumber]) -> Void
  ) throws(E) {
    for edit in edits {
      let isInverseToMany = edit.relationship.isInverseToMany
      guard edit.order != nil || isInverseToMany && !edit.isEmpty else { continue }
      let isOwnerGone = try isGone(edit.owner)
      var lost: [ObjectNumber] = []
      // Who points at its owner by itself says so by itself.
      if isInverseToMany {
        for member in edit.added.numbers + edit.removed.numbers {
          var isLost = isOwnerGone
          if !isLost { isLost = try isGone(member) }
          if isLost { lost.append(member) }
        }
      }
      guard !lost.isEmpty || isOwnerGone else { continue }
      tell(edit, lost)
      for member in lost { edit[member] = .unmentioned }
      guard isOwnerGone else { continue }
      if isInverseToMany { edit.clear() } else { edit.order = nil }
    }
  }

  func removeAll() {
    guard !edits.isEmpty else { return }
    edits.removeAll(keepingCapacity: edits.capacity <= PendingObjects.fewChanges)
    for tables in tables { for table in tables { table?.map.removeAll() } }
    hasOrders = false
    hidesMembers = false
  }
}
