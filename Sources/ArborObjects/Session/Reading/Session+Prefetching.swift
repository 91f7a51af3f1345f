package import ArborModel
internal import ArborStore

/// Reading along what relationships of fetched objects lead to, level by level: the members of all
/// owners in one pass over the relationship, then their records in one pass over the entity.
extension Session {
  /// Reads what a path of relationships leads to from some objects.
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

  /// Returns the objects that a relationship leads to from some objects, ascending and each once.
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
      // The concrete entity's own form, since the field lies elsewhere in its records.
      raw = owners.compactMap { $0.target(of: $0.binding.entity.relationships[hop.slot])?.rawValue }
    }
    SortedNumbers.sortUnique(&raw)
    return raw.map { ObjectNumber(rawValue: $0) }
  }

  /// Makes objects of ascending numbers whose records are not at hand.
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

  /// Reads what a relationship leads to from some objects, so that following it asks the store
  /// nothing until another commit is merged.
  ///
  /// - Precondition: The objects have the relationship and are not deleted.
  /// - Throws: ``ArborError``: what the store reports.
  /// - Complexity: One pass over the relationship and one over the entity that it leads to.
  package func prefetch(atSlot slot: Int, of owners: [ManagedObject]) throws(ArborError) {
    guard let hop = owners.first?.binding.entity.relationships[slot] else { return }
    var fetched = FetchedObjects()
    try onSnapshot { snapshot throws(StoreError) in
      try prefetch([hop], of: owners, on: snapshot, &fetched)
    }
    fetched.awake()
  }
}
