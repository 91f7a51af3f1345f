internal import ArborModel
internal import ArborStore

// A `Set` or array of members can be changed in place: `project.tags.insert(tag)`. Reading all members
// for that, and setting them again, would take time linear in their number. The accessors therefore
// keep the collection from one change to the next, and determine what has changed without a comparison
// of all members where that is possible.

/// The members of a to-many relationship while a program changes them in place as a set.
///
/// A set hashes each member that it inserts, removes or searches, so only members that were hashed in
/// the meantime can have joined or left. If the set's storage is another one, or its count doesn't
/// agree with these members, it was replaced, resized, or lost members that it didn't hash. Then all
/// members are set.
@_documentation(visibility: internal)
public struct MemberSet<Member: ManagedObject> {
  /// The members, which the program changes.
  public var members: Set<Member>
  private let change: MembersChange
  private let hashed: HashedObjects?
  private let formerCount: Int

  fileprivate init(_ change: MembersChange) {
    self.change = change
    members = change.takeKept() ?? change.owner._toMany(change.slot)
    formerCount = members.count
    // All empty sets share one storage.
    if change.isPossible, formerCount > 0, let storage = members.storage {
      hashed = HashedObjects(storage: storage, formerCount)
    } else {
      hashed = nil
    }
    if let hashed { change.session?.hashed.append(hashed) }
  }

  /// Sets the members that the program has left in the set, and updates the inverses.
  public mutating func finish() {
    if let hashed { change.session?.hashed.removeAll { $0 === hashed } }
    guard let difference = difference(), change.apply(difference) else {
      return change.owner._setToMany(change.slot, members)
    }
    change.keep(members)
  }

  /// Returns the members that joined and left, or `nil` if only a comparison of all members can tell.
  private func difference() -> MembersChange.Difference? {
    guard change.isCurrent, let hashed, let objects = hashed.objects,
      hashed.storage === members.storage
    else { return nil }
    var difference = MembersChange.Difference()
    for object in objects {
      let isMember = (object as? Member).map(members.contains) ?? false
      guard isMember != change.isMember(object) else { continue }
      if isMember { difference.joined.append(object) } else { difference.left.append(object) }
    }
    let count = formerCount + difference.joined.count - difference.left.count
    return count == members.count ? difference : nil
  }
}

/// The members of a to-many relationship while a program changes them in place as an array.
///
/// Members that were appended are found by comparing the identities of the former members. After any
/// other change all members are set.
@_documentation(visibility: internal)
public struct MemberArray<Member: ManagedObject> {
  /// The members, which the program changes.
  public var members: [Member]
  private let change: MembersChange
  private var former: [ObjectIdentifier]

  fileprivate init(_ change: MembersChange) {
    self.change = change
    if let kept: Kept = change.takeKept() {
      members = kept.members
      former = kept.identities
    } else {
      members = change.owner._orderedToMany(change.slot)
      former = members.map(ObjectIdentifier.init)
    }
  }

  private struct Kept {
    let members: [Member]
    let identities: [ObjectIdentifier]
  }

  /// Sets the members that the program has left in the array, and updates the inverses.
  public mutating func finish() {
    guard let appended = appended(), change.apply(.init(joined: appended)) else {
      return change.owner._setOrderedToMany(change.slot, members)
    }
    former += appended.map(ObjectIdentifier.init)
    change.keep(Kept(members: members, identities: former))
  }

  /// Returns the members that were appended, or `nil` if there was another change.
  private func appended() -> [ManagedObject]? {
    let members: [ManagedObject] = members
    guard change.isPossible, change.isCurrent, members.count >= former.count else { return nil }
    for (member, former) in zip(members, former) where ObjectIdentifier(member) != former {
      return nil
    }
    let appended = Array(members.dropFirst(former.count))
    var numbers = MemberList()
    let areNew = appended.allSatisfy { numbers.append($0.number) && !change.isMember($0) }
    return areNew ? appended : nil
  }
}

extension ManagedObject {
  /// Begins to change the members of the to-many relationship with the given slot in place.
  ///
  /// Inserting or removing a member costs the same regardless of the number of other members, except
  /// for the first change after a commit or after another change of the relationship.
  @_documentation(visibility: internal)
  public final func _changeToMany<T: ManagedObject>(_ slot: Int, _ type: Set<T>.Type) -> MemberSet<
    T
  > {
    MemberSet(MembersChange(self, slot))
  }

  /// Begins to change the members of the to-many relationship with the given slot in place, in their
  /// order if it is ordered.
  ///
  /// Appending a member compares one pointer for each of the others, except for the first change after
  /// a commit or after another change of the relationship.
  @_documentation(visibility: internal)
  public final func _changeOrderedToMany<T: ManagedObject>(
    _ slot: Int, _ type: [T].Type
  ) -> MemberArray<T> {
    MemberArray(MembersChange(self, slot))
  }
}

/// A change of the members of one relationship of one object, from the access to its end.
private struct MembersChange {
  let owner: ManagedObject
  let slot: Int
  private let relationship: RelationshipSchema
  /// The relationship's pending changes and their version at the beginning, or `nil` if the object
  /// cannot be changed.
  private let edit: PendingMembers?
  private let version: Int
  /// The sequence of the commit from which the stored members are read.
  private let sequence: UInt64

  struct Difference {
    var joined: [ManagedObject] = []
    var left: [ManagedObject] = []
  }

  init(_ owner: ManagedObject, _ slot: Int) {
    self.owner = owner
    self.slot = slot
    relationship = owner.binding.relationship(slot, of: owner)
    let isPossible =
      owner.session != nil && relationship.isToMany && owner.change?.kind != .deleted
    edit = isPossible ? owner.session?.links.makeEdit(owner.number, relationship) : nil
    version = edit?.version ?? 0
    sequence = owner.session?.known(0) { $0.sequence } ?? 0
  }

  var session: Session? { owner.session }

  var isPossible: Bool { edit != nil }

  /// Whether nothing else has changed the members since the beginning.
  var isCurrent: Bool {
    guard let edit, let session else { return false }
    return session.links.edit(owner.number, relationship) === edit && edit.version == version
      && edit.hidden.isEmpty
  }

  func isMember(_ object: ManagedObject) -> Bool {
    session?.isMember(object, of: owner, relationship) ?? false
  }

  /// Removes and returns the collection that an earlier change has kept, or returns `nil` if the
  /// members have changed since.
  func takeKept<Collection>() -> Collection? {
    guard let session, let kept = session.memberships.kept else { return nil }
    session.memberships.kept = nil
    guard let edit, edit === kept.edit, edit.version == kept.version, sequence == kept.sequence
    else { return nil }
    return kept.collection as? Collection
  }

  /// Keeps a collection of the present members for the next change.
  func keep(_ collection: Any) {
    guard let edit else { return }
    session?.memberships.kept = KeptMembers(
      edit: edit, version: edit.version, sequence: sequence, collection: collection)
  }

  /// Changes the members. Returns `false`, and changes nothing, if one of them cannot join.
  func apply(_ difference: Difference) -> Bool {
    guard let session else { return false }
    for member in difference.joined where owner.problem(of: member, relationship) != nil {
      return false
    }
    let keeper = InverseKeeper(session)
    for member in sorted(difference.left) { keeper.remove(member, from: owner, relationship) }
    for member in sorted(difference.joined) { keeper.add(member, to: owner, relationship) }
    return true
  }

  private func sorted(_ members: [ManagedObject]) -> [ManagedObject] {
    relationship.isOrdered ? members : members.sorted { $0.number < $1.number }
  }
}

/// A collection of the members of a relationship that was changed in place, for the next change.
struct KeptMembers {
  /// The relationship's pending changes, and their version when the collection was kept.
  let edit: PendingMembers
  let version: Int
  /// The sequence of the commit from which the stored members were read.
  let sequence: UInt64
  let collection: Any
}

/// The objects that were hashed while a program changes a set of members.
final class HashedObjects {
  /// The storage of the set. Kept from being freed, so that no other storage has its address, but not
  /// retained, so that the set isn't copied.
  private(set) weak var storage: AnyObject?
  private var noted: [ManagedObject] = []
  private let maximum: Int

  init(storage: AnyObject, _ count: Int) {
    self.storage = storage
    maximum = max(count, 16)
  }

  /// The objects, each once, or `nil` if they are more than the former members: then comparing all
  /// members costs less.
  var objects: [ManagedObject]? {
    guard noted.count <= maximum else { return nil }
    var numbers = MemberList()
    return noted.filter { numbers.append($0.number) }
  }

  func note(_ object: ManagedObject) {
    if noted.count <= maximum { noted.append(object) }
  }
}

extension Set where Element: ManagedObject {
  /// The object that holds the elements, whose identity tells whether the set was replaced. `nil`
  /// where it is unknown: then all members are compared.
  ///
  /// Memory safety: where there is no Objective-C, a set is a frozen structure that consists of one
  /// strong reference to a native object. Elsewhere the reference may be tagged, and is not read.
  fileprivate var storage: AnyObject? {
    #if canImport(ObjectiveC)
      nil
    #else
      MemoryLayout<Self>.size == MemoryLayout<AnyObject>.size
        ? unsafeBitCast(self, to: AnyObject.self) : nil
    #endif
  }
}
