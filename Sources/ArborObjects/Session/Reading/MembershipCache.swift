internal import ArborModel
internal import ArborStore

/// The committed members of relationships that were prefetched or read ahead, so that traversing
/// them doesn't access the store.
///
/// The contents are as old as the commits merged into the context. Every commit, its own or a
/// merged one, clears the cache.
struct MembershipCache {
  private struct Relationship: Hashable {
    let declaringEntity: Int
    let slot: Int
  }

  private var tables: [Relationship: MemberTable] = [:]
  /// Members read ahead for a traversal. Only the latest are kept for each relationship.
  private var ahead: [Relationship: MemberTable] = [:]
  private var sequence: UInt64 = 0
  /// The members that were last changed in place, or `nil`.
  var kept: KeptMembers?

  /// Stores the members of owners, read at a commit's sequence.
  ///
  /// - Parameter isAhead: Whether they were read ahead.
  mutating func keep(
    _ table: MemberTable, of relationship: RelationshipSchema, at sequence: UInt64,
    isAhead: Bool = false
  ) {
    if sequence != self.sequence { removeAll() }
    self.sequence = sequence
    let key = Relationship(declaringEntity: relationship.declaringEntity, slot: relationship.slot)
    if isAhead { ahead[key] = table } else { tables[key] = table }
  }

  @inline(__always)
  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> ArraySlice<
    ObjectNumber
  >? {
    guard !tables.isEmpty || !ahead.isEmpty else { return nil }
    return find(owner, relationship)
  }

  @inline(never)
  private func find(_ owner: ObjectNumber, _ relationship: RelationshipSchema) -> ArraySlice<
    ObjectNumber
  >? {
    let key = Relationship(declaringEntity: relationship.declaringEntity, slot: relationship.slot)
    return tables[key]?[owner] ?? ahead[key]?[owner]
  }

  mutating func removeAll() {
    if !tables.isEmpty { tables = [:] }
    if !ahead.isEmpty { ahead = [:] }
    kept = nil
  }
}
