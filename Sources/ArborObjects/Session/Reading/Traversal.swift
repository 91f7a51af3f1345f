internal import ArborModel

/// Recognises programs that read one to-many relationship of one object after the other, as loops
/// over fetched objects do, and says how many objects to read it of at once.
///
/// Each read of its own waits for memory or the disk at every step; one pass over the relationship
/// and one over the members' entity read the same in a third of the time. Twice as many objects as
/// the time before are read ahead whenever those of the last time have been passed, so that a loop
/// that ends early has read at most twice what it used.
struct Traversal {
  /// The relationship: the entity that declares it, and its slot there.
  private var current: (declaringEntity: Int, slot: Int)?
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
    _ owner: ObjectNumber, _ relationship: RelationshipSchema, isKept: (ObjectNumber) -> Bool
  ) -> Int {
    let isSame =
      current.map { $0 == (relationship.declaringEntity, relationship.slot) } ?? false
    width = isSame && follows(owner, isKept) ? min(width * 2, Self.mostOwners) : 1
    current = (relationship.declaringEntity, relationship.slot)
    last = owner
    return width
  }

  /// Notes up to which object the relationship has been read ahead.
  mutating func reach(_ owner: ObjectNumber) { last = owner }

  /// Begins from scratch.
  mutating func end() { self = Traversal() }

  /// Whether an object is the next one that the context keeps.
  private func follows(_ owner: ObjectNumber, _ isKept: (ObjectNumber) -> Bool) -> Bool {
    guard owner.entity == last.entity, owner > last,
      owner.rawValue - last.rawValue <= Self.widestGap
    else { return false }
    return !(last.rawValue + 1..<owner.rawValue).contains { isKept(ObjectNumber(rawValue: $0)) }
  }
}
