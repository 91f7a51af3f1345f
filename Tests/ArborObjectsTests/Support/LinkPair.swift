import ArborModel
import ArborObjects

/// Two concurrent changes of the same relationship by two contexts. Theirs is committed first.
///
/// The relationship is one-to-one or ordered; see ``LinkPair/Form``.
struct LinkPair {
  /// The form of the relationship.
  enum Form: String, CaseIterable, Sendable {
    /// Two persons P and Q, and two badges X and Y. P has X.
    case oneToOne
    /// P has A, B and C in that order, each of which has a single owner. X has none.
    case ordered
    /// The same, but members may have several owners.
    case orderedBothWays

    var member: String { self == .oneToOne ? "Badge" : "Item" }
    var name: String { self == .oneToOne ? "badge" : "items" }
    var inverse: String { "owner" }

    /// The possible changes, in the order of the table.
    var deeds: [String] {
      self == .oneToOne
        ? ["a", "P = Y", "P = none", "Q = X", "delete P", "delete X", "delete Y"]
        : ["a", "+ X", "X first", "- A", "CBA", "BCA", "delete A", "delete P"]
    }
  }

  let form: Form
  let mine: String
  let theirs: String

  static func model(_ form: Form) -> ManagedObjectModel {
    let isOne = form == .oneToOne
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Person",
        attributes: [
          .init(name: "name", type: .string, isOptional: true),
          .init(name: "a", type: .integer64, isOptional: true),
        ],
        relationships: [
          .init(
            name: form.name, destination: form.member, inverse: form.inverse, isToMany: !isOne,
            isOrdered: !isOne)
        ]),
      EntityDescription(
        name: form.member, attributes: [.init(name: "name", type: .string, isOptional: true)],
        relationships: [
          .init(
            name: form.inverse, destination: "Person", inverse: form.name,
            isToMany: form == .orderedBothWays)
        ]),
    ])
  }

  /// The objects by name, in one context.
  private struct World: ConcurrentWorld {
    let form: Form
    let context: ManagedObjectContext
    var objects: [String: ManagedObject] = [:]

    func inContext(_ context: ManagedObjectContext) -> World {
      World(form: form, context: context)
    }

    mutating func fill() throws -> [ObjectID: String] {
      var names: [ObjectID: String] = [:]
      let members = form == .oneToOne ? ["X", "Y"] : ["A", "B", "C", "X"]
      let people = form == .oneToOne ? ["P", "Q"] : ["P"]
      for name in people + members {
        let object = try context.insert(people.contains(name) ? "Person" : form.member)
        objects[name] = object
        names[object.objectID] = name
      }
      let person = try object("P")
      try person.setValue(.integer(1), forKey: "a")
      if form == .oneToOne {
        try person.setObject(object("X"), forKey: form.name)
      } else {
        try person.objects(forKey: form.name).replaceAll(
          with: ["A", "B", "C"].map { try object($0) })
      }
      try context.commit()
      return names
    }

    func perform(_ deed: String, number: Int64) throws {
      let person = try object("P")
      let words = deed.split(separator: " ").map(String.init)
      switch (words[0], words.last ?? "") {
      case ("a", _): try person.setValue(.integer(number), forKey: "a")
      case ("delete", let name): try context.delete(object(name))
      case ("P", "none"): try person.setObject(nil, forKey: form.name)
      case ("P", let name), ("Q", let name):
        try object(words[0]).setObject(object(name), forKey: form.name)
      case ("+", let name): try person.objects(forKey: form.name).insert(object(name))
      case ("X", "first"):
        try person.objects(forKey: form.name).replaceAll(
          with: [object("X")] + person.objects(forKey: form.name).fetch())
      case ("-", let name): try person.objects(forKey: form.name).remove(object(name))
      default:
        try person.objects(forKey: form.name).replaceAll(with: deed.map { try object(String($0)) })
      }
    }

    /// Returns the persons' numbers and members, and deleted objects with a minus. Throws if the
    /// other ends of the links disagree.
    func state(_ names: [ObjectID: String]) throws -> String {
      var words: [String] = []
      var owners: [String: Set<String>] = [:]
      let people = try context.fetch(FetchRequest<ManagedObject>(entity: "Person"))
      for name in form == .oneToOne ? ["P", "Q"] : ["P"] {
        guard let person = people.first(where: { names[$0.objectID] == name }) else {
          words.append("-\(name)")
          continue
        }
        if case .integer(let number) = person["a"] as PropertyValue { words.append("a\(number)") }
        let members =
          form == .oneToOne
          ? [try person.object(forKey: form.name)].compactMap(\.self)
          : try person.objects(forKey: form.name).fetch()
        let text = members.map { names[$0.objectID] ?? "?" }
        for member in text { owners[member, default: []].insert(name) }
        words.append("\(name):\(text.joined())")
      }
      let members = try context.fetch(FetchRequest<ManagedObject>(entity: form.member))
      for name in names.values.filter({ $0 != "P" && $0 != "Q" }).sorted() {
        guard let member = members.first(where: { names[$0.objectID] == name }) else {
          words.append("-\(name)")
          continue
        }
        let back =
          form == .orderedBothWays
          ? try member.objects(forKey: form.inverse).fetch()
          : [try member.object(forKey: form.inverse)].compactMap(\.self)
        guard Set(back.map { names[$0.objectID] ?? "?" }) == owners[name] ?? [] else {
          throw Mismatch(description: "\(name) says else than \(words)")
        }
      }
      return words.joined(separator: " ")
    }
  }

  /// Returns the outcome of committing both changes; see
  /// ``ConcurrentWorld/outcome(_:after:_:in:)``.
  func outcome(_ policy: MergePolicy) throws -> String {
    try ObjectStore.use(Self.model(form)) { store in
      let world = World(form: form, context: store.makeContext())
      return try world.outcome(mine, after: theirs, policy, in: store)
    }
  }
}
