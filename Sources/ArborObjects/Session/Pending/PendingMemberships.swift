internal import ArborModel

/// The pending changes of to-many relationships in a context, by owner.
///
/// For relationships whose inverse is to-one, they only mirror the members' changes, so that the
/// owner's side is immediately correct. They are derived from these changes, and recomputed when a
/// change's record, committed record or kind is replaced: see ``Session/withMemberships(of:_:)``.
/// The store derives such a relationship by itself, unless it is ordered.
///
/// For all others, they are the source of truth and are submitted by the commit. The context's last
/// change of a pair determines its state, regardless of other commits, until the commit or the
/// removal of one of the two objects. A deletion sets the state of the links that exist at that
/// time. Links that other commits create to an object whose deletion is pending in this context are
/// hidden, and reappear when the deletion is undone.
///
/// Membership is represented in the same way for ordered relationships. The order is represented
/// separately by ``PendingOrder``.
///
/// A change of a link costs two lookups and doesn't read the store.
final class PendingMemberships {
  /// Edits by owner, indexed by declaring entity and slot. A relationship has one table for its
  /// declaring entity and all subentities. Empty before the first edit, because most contexts don't
  /// edit links.
  private var tables: [[Table?]] = []
  private let schema: ModelSchema
  private let isDeleted: (ObjectNumber) -> Bool
  /// The edits, to which the tables hold unretained references.
  private var edits: ContiguousArray<PendingMembers> = []

  private final class Table {
    let map = NumberMap()
  }

  init(_ schema: ModelSchema, _ pending: PendingObjects) {
    self.schema = schema
    isDeleted = { pending.change(of: $0)?.kind == .deleted }
  }

  /// Whether there are any edits. Edits that cancel each other out may be included.
  var hasEdits: Bool { edits.contains { !$0.isEmpty } }

  /// Whether there may be edits of ordered relationships.
  private(set) var hasOrders = false

  /// Whether there may be edits that hide members.
  private var hidesMembers = false

  /// Returns whether an owner that satisfies a condition has members that differ from the store's.
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

  /// Returns the edit of an owner's relationship, creating it if necessary.
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

  /// Derives the membership of a member from its change, or from `nil` if it has none. Only for
  /// relationships whose inverse is to-one. See ``PendingObject/membership(at:_:)``.
  @inline(__always)
  func derive(
    _ member: ObjectNumber, _ change: PendingObject?, at owner: ObjectNumber,
    _ relationship: RelationshipSchema
  ) {
    makeEdit(owner, relationship)[member] =
      change?.membership(at: owner, relationship) ?? .unmentioned
  }

  /// Calls `body` with every nonempty edit.
  func forEach<E: Error>(_ body: (PendingMembers) throws(E) -> Void) throws(E) {
    for edit in edits where !edit.isEmpty { try body(edit) }
  }

  /// Calls `body` with every edit whose members differ from the stored ones.
  func forEachDeviation(_ body: (PendingMembers) -> Void) {
    for edit in edits where !edit.isSilent { body(edit) }
  }

  /// Records that there was a concurrent commit.
  func noteConcurrent() {
    guard hasOrders else { return }
    for edit in edits { edit.order?.isBehind = true }
  }

  /// Hides an object whose deletion is pending from a relationship in which another commit has
  /// added it.
  func hide(_ member: ObjectNumber, from owner: ObjectNumber, _ relationship: RelationshipSchema) {
    makeEdit(owner, relationship).hidden.append(member)
    hidesMembers = true
  }

  /// Calls `body` with every edit that hides an object as long as its deletion is pending. Takes
  /// time linear in the number of edits.
  func forEach(hiding member: ObjectNumber, _ body: (PendingMembers) -> Void) {
    guard hidesMembers else { return }
    for edit in edits where edit.hidden.contains(member) { body(edit) }
  }

  /// Calls `body` with the owner of every edit of a public relationship. Owners may be repeated.
  func forEachOwner(_ body: (ObjectNumber) -> Void) {
    for edit in edits where !edit.isEmpty && !edit.relationship.isHidden { body(edit.owner) }
  }

  func hasEdits(of object: ManagedObject, _ relationship: RelationshipSchema) -> Bool {
    edit(object.number, relationship).map { !$0.isEmpty } ?? false
  }

  /// Returns whether any public relationship of an object has an edit.
  func hasEdits(of object: ManagedObject) -> Bool {
    guard !edits.isEmpty else { return false }
    return object.binding.entity.relationships.contains {
      $0.isToMany && !$0.isHidden && hasEdits(of: object, $0)
    }
  }

  /// Discards the pending links from and to objects that are gone, on both sides, so that both are
  /// consistent if another commit restores such an object. Also discards the order of its members.
  /// Takes time linear in the number of edits.
  ///
  /// - Parameters:
  ///   - keepsRemoval: Returns whether a removed link stays removed, given the other object.
  ///   - tell: A closure that is called before each edit changes, with the affected members.
  func forget<E: Error>(
    where isGone: (ObjectNumber) throws(E) -> Bool,
    unless keepsRemoval: (ObjectNumber) -> Bool = { _ in false },
    telling tell: (PendingMembers, [ObjectNumber]) -> Void
  ) throws(E) {
    for edit in edits {
      let isInverseToMany = edit.relationship.isInverseToMany
      guard edit.order != nil || isInverseToMany && !edit.isEmpty else { continue }
      let isOwnerGone = try isGone(edit.owner)
      var lost: [ObjectNumber] = []
      // Links stored at the member are handled through the member's own change.
      if isInverseToMany {
        for member in edit.added.numbers + edit.removed.numbers {
          var isLost = isOwnerGone
          if !isLost { isLost = try isGone(member) }
          guard isLost else { continue }
          let other = isOwnerGone ? member : edit.owner
          if edit[member] == .removed, keepsRemoval(other) { continue }
          lost.append(member)
        }
      }
      guard !lost.isEmpty || isOwnerGone else { continue }
      tell(edit, lost)
      for member in lost { edit[member] = .unmentioned }
      guard isOwnerGone else { continue }
      if isInverseToMany, edit.removed.numbers.isEmpty { edit.clear() } else { edit.order = nil }
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
