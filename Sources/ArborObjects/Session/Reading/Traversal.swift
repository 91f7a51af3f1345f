internal import ArborModel

/// Detects programs that read a to-many relationship of one object after another, as loops over
/// fetched objects do, and determines for how many objects to read it at once.
///
/// Individual reads wait for memory or the disk at every step. One pass over the relationship and
/// one over the members' entity take a third of the time. The number of objects read ahead is
/// doubled each time the previous ones have been passed, so a loop that ends early has read at most
/// twice what it used.
struct Traversal {
  /// The relationship being traversed, as its declaring entity and slot, or `nil` if there is none.
  private var current: (declaringEntity: Int, slot: Int)?
  /// The last object whose members were read, possibly ahead.
  private var last = ObjectNumber(rawValue: 0)
  /// The number of objects read at once.
  private var width = 1

  private static let maximumOwners = 4096
  /// The maximum number of members to read ahead: about 55 MB with their objects.
  static let maximumMembers = 1 << 18
  /// The maximum distance between the numbers of consecutive objects. The numbers of objects
  /// inserted together have gaps only after deletions.
  static let widestGap = 64

  /// Records that an object's relationship is being read.
  ///
  /// - Parameter isKept: A closure that returns whether the context holds the object with a number.
  /// - Returns: The number of objects for which to read it, including this one.
  mutating func pass(
    _ owner: ObjectNumber, _ relationship: RelationshipSchema, isKept: (ObjectNumber) -> Bool
  ) -> Int {
    let isSame =
      current.map { $0 == (relationship.declaringEntity, relationship.slot) } ?? false
    width = isSame && follows(owner, isKept) ? min(width * 2, Self.maximumOwners) : 1
    current = (relationship.declaringEntity, relationship.slot)
    last = owner
    return width
  }

  /// Records the last object for which the relationship was read ahead.
  mutating func reach(_ owner: ObjectNumber) { last = owner }

  /// Resets the detection.
  mutating func end() { self = Traversal() }

  /// Returns whether an object is the next one that the context holds.
  private func follows(_ owner: ObjectNumber, _ isKept: (ObjectNumber) -> Bool) -> Bool {
    guard owner.entity == last.entity, owner > last,
      owner.rawValue - last.rawValue <= Self.widestGap
    else { return false }
    return !(last.rawValue + 1..<owner.rawValue).contains { isKept(ObjectNumber(rawValue: $0)) }
  }
}
