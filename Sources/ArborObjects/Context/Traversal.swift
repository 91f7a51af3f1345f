internal import ArborModel
internal import ArborStore
internal import ArborWork

/// Recognises programs that read one to-many relationship of one object after the other, as loops
/// over fetched objects do, and says how many objects to read it of at once.
///
/// Each read of its own waits for memory or the disk at every step; one pass over the relationship
/// and one over the members' entity read the same in a third of the time. Twice as many objects as
/// the time before are read ahead whenever those of the last time have been passed, so that a loop
/// that ends early has read at most twice what it used.
struct Traversal {
  /// The relationship: the entity that declares it, and its slot there.
  private var relationship: (declaringEntity: Int, slot: Int)?
  /// The last object whose members were read, be it ahead.
  private var last = ObjectNumber(rawValue: 0)
  /// How many objects were read at once.
  private var width = 1

  private static let mostOwners = 4096
  /// The most members to be read ahead: some 55 MB with their objects.
  static let mostMembers = 1 << 18
  /// How far apart the numbers of two objects may be that come one after the other. Those of
  /// objects that were inserted together have no gaps but for what has been deleted since.
  static let widestGap = 64

  /// Notes that an object's relationship is read.
  ///
  /// - Parameter isKept: Whether the context keeps the object of a number.
  /// - Returns: Of how many objects it should be read, this one among them.
  mutating func pass(
    _ owner: ObjectNumber, _ relation: Relation, isKept: (ObjectNumber) -> Bool
  ) -> Int {
    let isSame =
      relationship.map { $0 == (relation.declaringEntity, relation.slot) } ?? false
    width = isSame && follows(owner, isKept) ? min(width * 2, Self.mostOwners) : 1
    relationship = (relation.declaringEntity, relation.slot)
    last = owner
    return width
  }

  /// Notes up to which object the relationship has been read ahead.
  mutating func reach(_ owner: ObjectNumber) { last = owner }

  /// Begins anew.
  mutating func end() { self = Traversal() }

  /// Whether an object is the next one that the context keeps.
  private func follows(_ owner: ObjectNumber, _ isKept: (ObjectNumber) -> Bool) -> Bool {
    guard owner.entity == last.entity, owner > last,
      owner.rawValue - last.rawValue <= Self.widestGap
    else { return false }
    return !(last.rawValue + 1..<owner.rawValue).contains { isKept(ObjectNumber(rawValue: $0)) }
  }
}

extension ManagedObjectContext {
  /// The members of a to-many relationship with all pending changes, as objects: in their order
  /// where it is ordered, else ascending. Never fails; the context remembers the error.
  func memberObjects(of owner: ManagedObject, _ relation: Relation) -> [ManagedObject] {
    readAhead(from: owner, relation)
    return objects(
      work.members(of: owner, relation), of: LinkSource(owner: owner.number, relation: relation))
  }

  /// Reads the members of the objects that come after `owner` along with its own, where one after
  /// the other is asked for them. See ``Traversal``.
  ///
  /// A failure is nobody's yet: whoever reads what cannot be read is told.
  ///
  /// - Parameter mostOfEach: How many members of each the program may read in any case.
  func readAhead(
    from owner: ManagedObject, _ relation: Relation, mostOfEach: Int = Traversal.mostMembers
  ) {
    guard owner.change == nil, work.memberships.members(of: owner.number, relation) == nil else {
      return
    }
    let width = traversal.pass(owner.number, relation) { work.registry.map.contains($0) }
    guard width > 1 else { return }
    var fetched = FetchedObjects()
    do throws(StoreError) {
      let snapshot: StoreSnapshot
      if let pinned = work.pinned {
        snapshot = pinned
      } else {
        snapshot = try store.file.quietSnapshot()
      }
      defer { if work.pinned == nil { snapshot.close() } }
      // What is kept is as old as the commits that have been taken in.
      guard snapshot.sequence == work.sequence else { return }
      let owners = successors(of: owner.number, count: width)
      let table = try snapshot.members(
        relation.schema, of: owners, limit: min(Traversal.mostMembers, width * mostOfEach))
      guard let last = owners.last(where: { table[$0] != nil }) else { return traversal.end() }
      work.memberships.keep(table, of: relation.schema, at: work.sequence, isAhead: true)
      traversal.reach(last)
      var members = table.members.map(\.rawValue)
      SortedNumbers.sortUnique(&members)
      try load(members.map { ObjectNumber(rawValue: $0) }, on: snapshot, &fetched)
    } catch {
      traversal.end()
    }
    fetched.awake()
  }

  /// An object and those after it that the context keeps, by their numbers.
  private func successors(of owner: ObjectNumber, count: Int) -> [ObjectNumber] {
    var owners = [owner]
    owners.reserveCapacity(count)
    var (next, gap) = (owner.rawValue &+ 1, 0)
    while owners.count < count, gap < Traversal.widestGap {
      let number = ObjectNumber(rawValue: next)
      if work.registry.map.contains(number), number.entity == owner.entity {
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
