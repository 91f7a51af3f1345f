package import ArborModel
internal import ArborStore

/// Prefetching relationships of fetched objects, level by level: the members of all owners in one
/// pass over the relationship, then their records in one pass over the entity.
extension Session {
  /// Prefetches the objects at the end of a path of relationships.
  func prefetch(
    _ path: [RelationshipSchema], of owners: [ManagedObject], on snapshot: StoreSnapshot,
    _ fetched: inout FetchedObjects
  ) throws(StoreError) {
    var owners = owners
    for (slots, hop) in path.enumerated() {
      let targets = try targets(of: owners, hop, on: snapshot)
      try load(targets, on: snapshot, &fetched)
      if slots + 1 < path.count { owners = targets.compactMap { registry.object($0) } }
    }
  }

  /// Returns the targets of a relationship from several objects, ascending and without duplicates.
  private func targets(
    of owners: [ManagedObject], _ hop: RelationshipSchema, on snapshot: StoreSnapshot
  ) throws(StoreError) -> [ObjectNumber] {
    var raw: [UInt64] = []
    if hop.isToMany {
      let numbers = owners.map(\.number).sorted()
      let table = try snapshot.members(hop, of: numbers)
      memberships.keep(table, of: hop, at: snapshot.sequence)
      raw = table.members.map(\.rawValue)
      if links.hasEdits {
        for owner in owners {
          let relationship = owner.binding.entity.relationships[hop.slot]
          guard links.hasEdits(of: owner, relationship) else { continue }
          raw += members(of: owner, relationship).map(\.rawValue)
        }
      }
    } else {
      // Uses the concrete entity's relationship, because the position of the field differs between
      // entities.
      raw = owners.compactMap { $0.target(of: $0.binding.entity.relationships[hop.slot])?.rawValue }
    }
    SortedNumbers.sortUnique(&raw)
    return raw.map { ObjectNumber(rawValue: $0) }
  }

  /// Loads the objects with the given ascending numbers that aren't registered or whose records
  /// haven't been loaded.
  func load(
    _ numbers: [ObjectNumber], on snapshot: StoreSnapshot, _ fetched: inout FetchedObjects
  ) throws(StoreError) {
    let (missing, areNew) = registry.unread(numbers)
    guard !missing.isEmpty else { return }
    registry.reserve(missing.count)
    try snapshot.readRecords(of: missing, allocator: allocator) { records throws(StoreError) in
      _ = try materialise(records, on: snapshot, &fetched, areNew: areNew)
    }
  }

  /// Prefetches a relationship of several objects, so that following it doesn't access the store
  /// until another commit is merged.
  ///
  /// - Throws: ``ArborError`` if the store cannot be read.
  /// - Complexity: One pass over the relationship and one over its destination entity.
  /// - Precondition: The objects have the relationship and are not deleted.
  package func prefetch(atSlot slot: Int, of owners: [ManagedObject]) throws(ArborError) {
    guard let hop = owners.first?.binding.entity.relationships[slot] else { return }
    var fetched = FetchedObjects()
    try onSnapshot { snapshot throws(StoreError) in
      try prefetch([hop], of: owners, on: snapshot, &fetched)
    }
    fetched.awake()
  }
}
