internal import ArborModel
internal import ArborStore

/// Reading ahead along a relationship.
extension Session {
  /// Returns the members of a to-many relationship as objects, including pending changes, in their
  /// order if it is ordered, otherwise ascending. Never fails; the context keeps the error.
  func memberObjects(of owner: ManagedObject, _ relationship: RelationshipSchema) -> [ManagedObject]
  {
    readAhead(from: owner, relationship)
    let link = LinkSource(owner: owner.number, relationship: relationship)
    guard pinned == nil, owner.change?.kind != .inserted,
      memberships.members(of: owner.number, relationship) == nil
    else { return objects(members(of: owner, relationship), of: link) }
    // Reads the list and its members from the same commit.
    var objects: [ManagedObject] = []
    var fetched = FetchedObjects()
    withOneSnapshot(merging: false) {
      objects = self.objects(members(of: owner, relationship), of: link, &fetched)
    }
    fetched.awake()
    return objects
  }

  /// Reads the members of the objects that follow `owner` together with its own, if objects are
  /// being traversed in order. See ``Traversal``.
  ///
  /// Never fails: the actual read reports errors.
  ///
  /// - Parameter maximumMembersPerOwner: The maximum number of members to read per object, on
  ///   average.
  func readAhead(
    from owner: ManagedObject, _ relationship: RelationshipSchema,
    maximumMembersPerOwner: Int = Traversal.maximumMembers
  ) {
    guard owner.change == nil, memberships.members(of: owner.number, relationship) == nil else {
      return
    }
    let width = traversal.pass(owner.number, relationship) { registry.map.contains($0) }
    guard width > 1 else { return }
    var fetched = FetchedObjects()
    do throws(StoreError) {
      let snapshot: StoreSnapshot
      if let pinned = pinned {
        snapshot = pinned
      } else {
        snapshot = try engine.snapshot(reportsFindings: false)
      }
      defer { if pinned == nil { snapshot.close() } }
      // The cached members must be as old as the merged commits.
      guard snapshot.sequence == sequence else { return }
      let owners = successors(of: owner.number, count: width)
      let table = try snapshot.members(
        relationship, of: owners,
        limit: min(Traversal.maximumMembers, width * maximumMembersPerOwner))
      guard let last = owners.last(where: { table[$0] != nil }) else { return traversal.end() }
      memberships.keep(table, of: relationship, at: sequence, isAhead: true)
      traversal.reach(last)
      var members = table.members.map(\.rawValue)
      SortedNumbers.sortUnique(&members)
      try load(members.map { ObjectNumber(rawValue: $0) }, on: snapshot, &fetched)
    } catch {
      traversal.end()
    }
    fetched.awake()
  }

  /// Returns an object and the registered objects that follow it in numeric order.
  private func successors(of owner: ObjectNumber, count: Int) -> [ObjectNumber] {
    var owners = [owner]
    owners.reserveCapacity(count)
    var (next, gap) = (owner.rawValue &+ 1, 0)
    while owners.count < count, gap < Traversal.widestGap {
      let number = ObjectNumber(rawValue: next)
      if registry.map.contains(number), number.entity == owner.entity {
        owners.append(number)
        gap = 0
      } else {
        gap += 1
      }
      next &+= 1
    }
    return owners
  }
}
