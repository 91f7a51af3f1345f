import ArborModel
import ArborObjects
import Testing

/// Persons P and Q with ordered members that are named by letters.
struct OrderedWorld {
  /// The kind of inverse: ordered to-many, or to-one.
  enum Kind: String, CaseIterable {
    case favourites, notes

    var member: String { self == .notes ? "Note" : "Skill" }
    var inverse: String { self == .notes ? "author" : "fans" }
  }

  let context: ManagedObjectContext
  let kind: Kind

  func object(_ entity: String, _ name: Character) throws -> ManagedObject {
    let found = try context.fetchOne(entity, matching: "name == \(String(name))")
    return try #require(found)
  }

  func person(_ name: Character = "P") throws -> ManagedObject { try object("Person", name) }

  func member(_ name: Character) throws -> ManagedObject { try object(kind.member, name) }

  /// Returns the names of the members. Fails if the other ends disagree.
  func members(of person: Character = "P") throws -> String {
    let owner = try self.person(person)
    let members = try owner.objects(forKey: kind.rawValue).fetch()
    let back = try context.fetch(kind.member).filter { object in
      let value: [ManagedObject] =
        kind == .notes
        ? [try object.object(forKey: kind.inverse)].compactMap(\.self)
        : try object.objects(forKey: kind.inverse).fetch()
      return value.contains(owner)
    }
    #expect(Set(back) == Set(members) && back.count == members.count)
    return members.map { $0["name"] as String }.joined()
  }

  func arrange(_ names: String, of person: Character = "P") throws {
    let all = try context.fetch(kind.member)
    let members = try names.map { name in
      try #require(all.first { $0["name"] as String == String(name) })
    }
    try self.person(person).objects(forKey: kind.rawValue).replaceAll(with: members)
  }

  /// Calls `body` with two contexts, in which P has the members a to d, and Q, X, Y and Z are
  /// unlinked.
  static func use(
    _ kind: Kind, _ policy: MergePolicy = .mergeByPropertyObjectWins,
    _ body: (OrderedWorld, OrderedWorld) throws -> Void
  ) throws {
    try ObjectStore.use(PlainWorld.model()) { store in
      let (mine, theirs) = (store.makeContext(), store.makeContext())
      mine.mergePolicy = policy
      for name in ["P", "Q"] { try mine.insert("Person").setValue(name, forKey: "name") }
      for name in "abcdXYZ" { try mine.insert(kind.member).setValue(String(name), forKey: "name") }
      try mine.commit()
      let world = OrderedWorld(context: mine, kind: kind)
      try world.arrange("abcd")
      try mine.commit()
      try body(world, OrderedWorld(context: theirs, kind: kind))
      let here = try world.members()
      try #expect(OrderedWorld(context: store.makeContext(), kind: kind).members() == here)
    }
  }
}
