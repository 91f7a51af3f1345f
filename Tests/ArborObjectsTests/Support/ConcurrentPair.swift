import ArborModel
import ArborObjects

/// Two concurrent changes of the same state by two contexts. Theirs is committed first.
///
/// Initially, a person with `a` 1 is in team T1 and has skill S1. T2 and S2 are unused.
struct ConcurrentPair {
  /// A change by one of the contexts. It sets numbers to 2 if it is mine, and to 3 if it is theirs.
  enum Deed: String, CaseIterable {
    case a, b
    case toT2 = "to T2"
    case toNone = "to none"
    case plusS2 = "+ S2"
    case minusS1 = "- S1"
    case deleteP = "delete P"
    case deleteT1 = "delete T1"
    case deleteT2 = "delete T2"
    case deleteS1 = "delete S1"
    case deleteS2 = "delete S2"
  }

  let mine: Deed
  let theirs: Deed

  /// The policies by the letters used in the table.
  static let policies: [(letter: Character, policy: MergePolicy)] = [
    ("E", .error), ("O", .mergeByPropertyObjectWins), ("S", .mergeByPropertyStoreWins),
    ("W", .overwrite), ("R", .rollback),
    // Changes win over deletions.
    (
      "C",
      .custom { conflict in conflict.contextValues == nil ? .storeWins : .objectWins }
    ),
  ]

  /// The objects by name, in one context.
  private struct World: ConcurrentWorld {
    let context: ManagedObjectContext
    var objects: [String: ManagedObject] = [:]

    func inContext(_ context: ManagedObjectContext) -> World { World(context: context) }

    mutating func fill() throws -> [ObjectID: String] {
      var names: [ObjectID: String] = [:]
      let cast: [(name: String, entity: String)] = [
        ("P", "Person"), ("T1", "Team"), ("T2", "Team"), ("S1", "Skill"), ("S2", "Skill"),
      ]
      for (name, entity) in cast {
        let object = try context.insert(entity)
        objects[name] = object
        names[object.objectID] = name
      }
      let person = try object("P")
      try person.setValue(.integer(1), forKey: "a")
      try person.setObject(object("T1"), forKey: "team")
      try person.objects(forKey: "skills").insert(object("S1"))
      try context.commit()
      return names
    }

    func perform(_ deed: Deed, number: Int64) throws {
      let person = try object("P")
      switch deed {
      case .a, .b: try person.setValue(.integer(number), forKey: deed.rawValue)
      case .toT2: try person.setObject(object("T2"), forKey: "team")
      case .toNone: try person.setObject(nil, forKey: "team")
      case .plusS2: try person.objects(forKey: "skills").insert(object("S2"))
      case .minusS1: try person.objects(forKey: "skills").remove(object("S1"))
      case .deleteP: context.delete(person)
      case .deleteT1: try context.delete(object("T1"))
      case .deleteT2: try context.delete(object("T2"))
      case .deleteS1: try context.delete(object("S1"))
      case .deleteS2: try context.delete(object("S2"))
      }
    }

    /// Returns the person's numbers, team and skills, and deleted objects with a minus. Throws if
    /// the other ends of the links disagree.
    func state(_ names: [ObjectID: String]) throws -> String {
      let person = try context.fetch(FetchRequest<ManagedObject>(entity: "Person")).first
      var words: [String] = []
      var links: Set<String> = []
      if let person {
        for name in ["a", "b"] {
          if case .integer(let number) = person[name] as PropertyValue {
            words.append("\(name)\(number)")
          }
        }
        if case .objectID(let id) = person["team"] as PropertyValue {
          links.insert(names[id] ?? "?")
        }
        links.formUnion(
          try person.objects(forKey: "skills").fetch().map { names[$0.objectID] ?? "?" })
      } else {
        words.append("gone")
      }
      words += links.filter { $0.hasPrefix("T") } + links.filter { $0.hasPrefix("S") }.sorted()
      for (name, entity, side) in [
        ("T1", "Team", "members"), ("T2", "Team", "members"), ("S1", "Skill", "holders"),
        ("S2", "Skill", "holders"),
      ] {
        let objects = try context.fetch(FetchRequest<ManagedObject>(entity: entity))
        guard let object = objects.first(where: { names[$0.objectID] == name }) else {
          words.append("-\(name)")
          continue
        }
        let isThere =
          try object.objects(forKey: side).fetch() == (links.contains(name) ? [person] : [])
        guard isThere else { throw Mismatch(description: "\(name) says else than \(words)") }
      }
      return words.joined(separator: " ")
    }
  }

  /// Returns the outcome of committing both changes; see
  /// ``ConcurrentWorld/outcome(_:after:_:in:)``.
  func outcome(_ policy: MergePolicy, _ model: ManagedObjectModel) throws -> String {
    try ObjectStore.use(model) { store in
      try World(context: store.makeContext()).outcome(mine, after: theirs, policy, in: store)
    }
  }
}
