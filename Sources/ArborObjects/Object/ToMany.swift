public import ArborModel

/// A live view of a to-many relationship that doesn't load its members.
///
/// Counting, testing, adding and removing members through a view costs the same regardless of the
/// number of other members, whereas a `Set` or array loads them all. A view always reflects the
/// changes of its context. Iterating loads members a few hundred at a time.
///
/// ```swift
/// @Relationship(inverse: "company") var employees: ToMany<Employee>
///
/// company.employees.insert(ada)
/// if company.employees.contains(ada), company.employees.count > 1_000_000 { … }
/// for employee in company.employees.prefix(10) { … }
/// ```
///
/// Members can be changed during iteration, which covers the members at the time it started. A view
/// must be used where its object's context is used.
public struct ToMany<Member: ManagedObject> {
  let owner: ManagedObject
  let slot: Int

  /// The number of members.
  ///
  /// The cost depends on the relationship's pending changes, not on the number of members.
  public var count: Int { owner.countOfMany(slot) }

  /// A Boolean value that indicates whether there are no members.
  public var isEmpty: Bool { count == 0 }

  /// Returns whether an object is a member. The cost doesn't depend on the number of members.
  public func contains(_ member: Member) -> Bool { owner.manyContains(slot, member) }

  /// Adds a member and updates the inverse immediately. Does nothing if the object is already a
  /// member.
  ///
  /// - Precondition: The object belongs to the same context.
  public func insert(_ member: Member) { owner.addToMany(slot, member) }

  /// Adds several members.
  public func formUnion(_ members: some Sequence<Member>) { members.forEach(insert) }

  /// Removes a member and updates the inverse immediately. Does nothing if the object isn't a
  /// member.
  public func remove(_ member: Member) { owner.removeFromMany(slot, member) }

  /// Removes all members.
  public func removeAll() { owner._setToMany(slot, [] as Set<Member>) }

  /// Replaces all members, in the given order if the relationship is ordered.
  public func replaceAll(with members: some Sequence<Member>) {
    owner._setOrderedToMany(slot, Array(members))
  }

  /// The IDs of the members, in their order if the relationship is ordered, otherwise ascending.
  /// Doesn't load the members.
  public var ids: [ObjectID] { numbers.map { owner.id(of: $0) } }

  var numbers: [ObjectNumber] {
    let relationship = owner.binding.relationship(slot, of: owner)
    guard let session = owner.session else {
      owner.noteLostRead(relationship.name)
      return []
    }
    return session.members(of: owner, relationship)
  }
}

@available(*, unavailable, message: "A view belongs to its object's context. Pass its ids.")
extension ToMany: Sendable {}

extension ToMany: Sequence {
  /// An iterator over the members, which loads a few hundred at a time.
  public struct Iterator: IteratorProtocol {
    static var batch: Int { 256 }

    private let owner: ManagedObject
    private let slot: Int
    private let source: LinkSource
    private var numbers: ArraySlice<ObjectNumber>
    private var members: ArraySlice<ManagedObject> = []

    init(_ members: ToMany) {
      owner = members.owner
      slot = members.slot
      let relationship = owner.binding.relationship(slot)
      source = LinkSource(owner: owner.number, relationship: relationship)
      owner.session?.readAhead(from: owner, relationship, maximumMembersPerOwner: Self.batch)
      numbers = members.numbers[...]
    }

    /// Returns the next member, or `nil` at the end or if the context was deallocated or reset.
    public mutating func next() -> Member? {
      // Another commit may have deleted all members of a batch.
      while members.isEmpty {
        guard !numbers.isEmpty else { return nil }
        guard let session = owner.session else {
          owner.noteLostRead(source.relationship.name)
          return nil
        }
        members = session.objects(Array(numbers.prefix(Self.batch)), of: source)[...]
        numbers = numbers.dropFirst(Self.batch)
      }
      return members.popFirst().map { owner.member(slot, $0) }
    }
  }

  /// Returns an iterator over the current members.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Always 0, because counting in advance would require reading the store.
  public var underestimatedCount: Int { 0 }
}

extension ToMany: RelationshipValue {
  /// The class at the other end.
  public typealias Destination = Member
  /// Always `true`.
  public static var isToMany: Bool { true }
  /// Always `false`.
  public static var isOrdered: Bool { false }
}

/// A view of members, in the form needed by typed predicates.
protocol MemberView {
  static var countPath: AnyKeyPath { get }
  static var isEmptyPath: AnyKeyPath { get }
}

extension ToMany: MemberView {
  static var countPath: AnyKeyPath { \ToMany.count }
  static var isEmptyPath: AnyKeyPath { \ToMany.isEmpty }
}
