public import ArborModel

/// A to-many relationship as it stands, without its members being read.
///
/// A view counts, tests, adds and removes at the cost of the members concerned, however many there
/// are; a `Set` or an array reads them all. It stays current: what is asked of it is answered with
/// all changes of the context. Members are read when they are iterated over, some hundreds at a
/// time.
///
/// ```swift
/// @Relationship(inverse: "company") var employees: ToMany<Employee>
///
/// company.employees.insert(ada)
/// if company.employees.contains(ada), company.employees.count > 1_000_000 { … }
/// for employee in company.employees.prefix(10) { … }
/// ```
///
/// Changing the members while they are iterated over is allowed: the iteration goes through those
/// that were members when it began. A view stays with its object's context.
public struct ToMany<Member: ManagedObject> {
  let owner: ManagedObject
  let slot: Int

  /// The number of members. Its cost does not depend on it.
  public var count: Int { owner.countOfMany(slot) }

  /// Whether there is no member.
  public var isEmpty: Bool { count == 0 }

  /// Whether an object is a member. The cost does not depend on the number of members.
  public func contains(_ member: Member) -> Bool { owner.manyContains(slot, member) }

  /// Makes an object a member; the inverse follows at once. Nothing happens where it is one.
  ///
  /// - Precondition: The object belongs to the same context.
  public func insert(_ member: Member) { owner.addToMany(slot, member) }

  /// Makes several objects members.
  public func formUnion(_ members: some Sequence<Member>) { members.forEach(insert) }

  /// Ends an object's membership; the inverse follows at once. Nothing happens where it is none.
  public func remove(_ member: Member) { owner.removeFromMany(slot, member) }

  /// Ends the membership of all.
  public func removeAll() { owner._setToMany(slot, [] as Set<Member>) }

  /// Makes objects the members, and no others; in their order where the relationship has one.
  public func replaceAll(with members: some Sequence<Member>) {
    owner._setOrderedToMany(slot, Array(members))
  }

  /// The identities of the members, in their order where the relationship has one, else ascending,
  /// without reading the members.
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

@available(*, unavailable, message: "A view stays with its object's context.")
extension ToMany: Sendable {}

extension ToMany: Sequence {
  /// Iterates over the members, reading some hundreds at a time.
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
      owner.session?.readAhead(from: owner, relationship, mostOfEach: Self.batch)
      numbers = members.numbers[...]
    }

    /// The next member; nil behind the last one, and once the context has gone.
    public mutating func next() -> Member? {
      // Others may have deleted all members of a batch by now.
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

  /// An iteration over those that are members now.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Nothing is counted in advance.
  public var underestimatedCount: Int { 0 }
}

extension ToMany: RelationshipValue {
  /// The class at the other end.
  public typealias Destination = Member
  /// Any number of objects.
  public static var isToMany: Bool { true }
  /// The members have no order.
  public static var isOrdered: Bool { false }
}

/// A view of members, by what a typed predicate may ask of it.
protocol MemberView {
  static var countPath: AnyKeyPath { get }
  static var isEmptyPath: AnyKeyPath { get }
}

extension ToMany: MemberView {
  static var countPath: AnyKeyPath { \ToMany.count }
  static var isEmptyPath: AnyKeyPath { \ToMany.isEmpty }
}
