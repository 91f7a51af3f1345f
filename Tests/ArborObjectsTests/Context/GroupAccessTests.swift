import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Groups, their first objects, and counts of related objects, by every access path, compared with
/// plain Swift.
@Suite("Access to groups") struct GroupAccessTests {
  /// A value in the order of the store.
  private enum Value: Comparable, Hashable {
    case none
    case number(Double)
    case text(String)

    init(_ value: PropertyValue) {
      switch value {
      case .integer(let number): self = .number(Double(number))
      case .boolean(let flag): self = .number(flag ? 1 : 0)
      case .double(let number): self = .number(number)
      case .string(let text): self = .text(text)
      default: self = .none
      }
    }
  }

  /// The plain form of a message.
  private struct Plain {
    let serial: Int
    /// The index of the room.
    var room: Int?
    var kind: String?
    var sent: Int64?
    var weight: Double?
    var isFlagged: Bool
    let isPhoto: Bool

    private static let long = String(repeating: "x", count: 600)

    init(serial: Int, rooms: Int, _ random: inout SeededRandom) {
      self.serial = serial
      isPhoto = Int.random(in: 0..<4, using: &random) == 0
      isFlagged = Bool.random(using: &random)
      change(rooms: rooms, &random)
    }

    mutating func change(rooms: Int, _ random: inout SeededRandom) {
      func some<T>(_ value: T) -> T? { Int.random(in: 0..<6, using: &random) == 0 ? nil : value }
      room = some(Int.random(in: 0..<rooms, using: &random))
      let kinds = ["", "a", "b", Self.long, Self.long + "y"]
      let count = Int.random(in: 0..<8, using: &random) == 0 ? kinds.count : 3
      kind = some(kinds[Int.random(in: 0..<count, using: &random)])
      sent = some(Int64.random(in: -3...30, using: &random))
      weight = some([-1e300, -1.5, 0, 2.25, 1e300][Int.random(in: 0..<5, using: &random)])
    }

    func value(_ name: String) -> Value {
      switch name {
      case "room": room.map { .number(Double($0)) } ?? .none
      case "kind": kind.map { .text($0) } ?? .none
      case "sent": sent.map { .number(Double($0)) } ?? .none
      case "weight": weight.map { .number($0) } ?? .none
      default: .number(isFlagged ? 1 : 0)
      }
    }
  }

  /// The messages and the rooms' dates, as plain values.
  private struct Chat {
    var messages: [Plain] = []
    var lastRead: [Int64?] = []
    var serial = 0

    /// The first messages of each group: their serial numbers, by group and order.
    func first(
      _ count: Int, per key: String, by order: [(name: String, isAscending: Bool)],
      where holds: (Plain) -> Bool
    ) -> [Int] {
      let groups = Dictionary(grouping: messages.filter(holds)) { $0.value(key) }
      return groups.sorted { $0.key < $1.key }.flatMap { group in
        group.value.sorted { left, right in
          for key in order {
            let (first, second) = (left.value(key.name), right.value(key.name))
            if first != second { return (first < second) == key.isAscending }
          }
          // Objects are numbered by entity.
          return left.isPhoto == right.isPhoto ? left.serial < right.serial : right.isPhoto
        }.prefix(count).map(\.serial)
      }
    }

    /// The keys of each group, followed by the least and the greatest value of an attribute and the
    /// number of messages.
    func groups(
      by keys: [String], _ attribute: String, where holds: (Plain) -> Bool
    ) -> [[Value]] {
      let groups = Dictionary(grouping: messages.filter(holds)) { plain in
        keys.map { plain.value($0) }
      }
      return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, members in
        let values = members.map { $0.value(attribute) }.filter { $0 != .none }
        return key + [
          values.min() ?? .none, values.max() ?? .none, .number(Double(members.count)),
        ]
      }
    }
  }

  private typealias Condition = (predicate: FetchPredicate, holds: (Plain) -> Bool)

  private static let indexes = [
    FetchIndexDescription("timeline", on: "room", "sent"),
    FetchIndexDescription("backward", on: "-room", "-sent", "kind"),
    FetchIndexDescription("kinds", on: "kind"),
    FetchIndexDescription("weights", on: "kind", "-weight"),
    FetchIndexDescription("both", on: "room", "kind", "sent"),
    FetchIndexDescription("flagged", on: "isFlagged", "room", "sent"),
    FetchIndexDescription("partial", on: "kind", "sent", where: "isFlagged == YES"),
  ]

  private static func model(_ indexes: [FetchIndexDescription]) throws -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Room",
        attributes: [AttributeDescription("lastRead", .integer64, .optional)],
        relationships: [
          RelationshipDescription("messages", to: "Message", inverse: "room", .toMany)
        ]),
      EntityDescription(
        name: "Message",
        attributes: [
          AttributeDescription("serial", .integer64, .default(0)),
          AttributeDescription("kind", .string, .optional),
          AttributeDescription("sent", .integer32, .optional),
          AttributeDescription("weight", .double, .optional),
          AttributeDescription("isFlagged", .boolean, .default(false)),
        ],
        relationships: [RelationshipDescription("room", to: "Room", inverse: "messages")],
        fetchIndexes: indexes),
      EntityDescription(name: "Photo", parent: "Message"),
    ])
  }

  /// A store with random messages, and their plain form.
  private final class World {
    let context: ManagedObjectContext
    var chat = Chat()
    var rooms: [ManagedObject] = []
    var objects: [Int: ManagedObject] = [:]
    var random: SeededRandom

    init(_ store: PersistentStore, seed: UInt64) throws {
      context = store.makeContext()
      random = SeededRandom(seed: seed)
      for _ in 0..<Int.random(in: 1...7, using: &random) {
        let date = [nil, 5, 20][Int.random(in: 0..<3, using: &random)].map { Int64($0) }
        let room = try context.insert("Room")
        try room.setValue(date.map(PropertyValue.integer) ?? .null, forKey: "lastRead")
        rooms.append(room)
        chat.lastRead.append(date)
      }
      for _ in 0..<Int.random(in: 20...300, using: &random) { try insert() }
      try context.commit()
    }

    func insert() throws {
      chat.serial += 1
      let plain = Plain(serial: chat.serial, rooms: rooms.count, &random)
      let object = try context.insert(plain.isPhoto ? "Photo" : "Message")
      try object.setValue(.integer(Int64(plain.serial)), forKey: "serial")
      chat.messages.append(plain)
      objects[plain.serial] = object
      try store(plain)
    }

    private func store(_ plain: Plain) throws {
      let object = try #require(objects[plain.serial])
      try object.setValue(plain.kind.map(PropertyValue.string) ?? .null, forKey: "kind")
      try object.setValue(plain.sent.map(PropertyValue.integer) ?? .null, forKey: "sent")
      try object.setValue(
        plain.weight.map(PropertyValue.double) ?? .null, forKey: "weight")
      try object.setValue(.boolean(plain.isFlagged), forKey: "isFlagged")
      object["room"] = plain.room.map { rooms[$0] }
    }

    /// Makes a pending change.
    func change() throws {
      let index = chat.messages.indices.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<3, using: &random) {
      case 0: try insert()
      case 1:
        chat.messages[index].change(rooms: rooms.count, &random)
        try store(chat.messages[index])
      default:
        let plain = chat.messages.remove(at: index)
        if let object = objects.removeValue(forKey: plain.serial) { context.delete(object) }
      }
    }

    /// The entity to ask about, and a condition that includes its messages alone.
    func entity() -> (name: String, holds: (Plain) -> Bool) {
      Int.random(in: 0..<4, using: &random) == 0
        ? ("Photo", { $0.isPhoto }) : ("Message", { _ in true })
    }

    func condition() throws -> Condition {
      let room = Int.random(in: 0..<rooms.count, using: &random)
      let conditions: [(text: String, holds: (Plain) -> Bool)] = [
        ("TRUEPREDICATE", { _ in true }),
        ("isFlagged == YES", { $0.isFlagged }),
        ("kind == 'a'", { $0.kind == "a" }),
        ("kind >= 'a' AND isFlagged == YES", { ($0.kind ?? "") >= "a" && $0.isFlagged }),
        ("sent > 10", { ($0.sent ?? .min) > 10 }),
        ("room != nil", { $0.room != nil }),
        ("room == %@", { $0.room == room }),
        ("weight != 0 AND kind != nil", { $0.weight != 0 && $0.kind != nil }),
      ]
      let condition = conditions[Int.random(in: 0..<conditions.count, using: &random)]
      let arguments = condition.text.contains("%@") ? [rooms[room]] : []
      return (
        try FetchPredicate(format: condition.text, arguments: arguments), condition.holds
      )
    }
  }

  // MARK: Comparisons

  /// Compares the first messages of groups. Returns whether the plan skips rows.
  private func compareFirst(_ world: World, _ seed: UInt64) throws -> Bool {
    let key = ["room", "kind", "isFlagged"].randomElement(using: &world.random) ?? "room"
    let orders: [[(name: String, isAscending: Bool)]] = [
      [], [("sent", true)], [("sent", false)], [("weight", true)], [("weight", false)],
      [("kind", true), ("sent", true)], [("kind", false), ("sent", false)],
    ]
    let order = orders[Int.random(in: 0..<orders.count, using: &world.random)]
    let count = Int.random(in: 1...3, using: &world.random)
    let (entity, isOfEntity) = world.entity()
    let condition = try world.condition()
    var request = FetchRequest<ManagedObject>(entity: entity)
    request.predicate = condition.predicate
    request.limitPerGroup = GroupLimit(
      count, per: key, by: order.map { SortKey($0.name, isAscending: $0.isAscending) })
    let query = world.context.objects(request)
    let expected = world.chat.first(count, per: key, by: order) {
      isOfEntity($0) && condition.holds($0)
    }
    let found = try query.fetch().map { try $0.value(forKey: "serial").int ?? -1 }
    let plan = "\(try query.explain())"
    #expect(
      found.map { Int($0) } == expected,
      "seed \(seed): \(count) of \(entity) per \(key) by \(order) where \(condition.predicate)\n\(plan)"
    )
    return plan.contains("skip scan")
  }

  private func compareGroups(_ world: World, _ seed: UInt64) throws {
    let keys =
      [["room"], ["kind"], ["kind", "room"], ["isFlagged", "room"], ["isFlagged"]]
      .randomElement(using: &world.random) ?? []
    let attribute = Bool.random(using: &world.random) ? "sent" : "weight"
    let figures =
      [
        [0], [1], [2], [0, 1], [0, 1, 2], [],
      ].randomElement(using: &world.random) ?? []
    let (entity, isOfEntity) = world.entity()
    let condition = try world.condition()
    let names = ["min(\(attribute)) AS f0", "max(\(attribute)) AS f1", "@count AS f2"]
    var request = FetchRequest<ManagedObject>(entity: entity)
    request.predicate = condition.predicate
    request.propertiesToGroupBy = keys.map { PropertyPath($0) }
    request.propertiesToFetch =
      keys.map { PropertyPath($0) } + figures.map { PropertyPath(names[$0]) }
    let expected = world.chat.groups(by: keys, attribute) {
      isOfEntity($0) && condition.holds($0)
    }.map { row in Array(row[..<keys.count]) + figures.map { row[keys.count + $0] } }
    let found = try world.context.fetchRows(request).map { row in
      try keys.map { key in
        guard key == "room" else { return Value(try #require(row[key])) }
        guard case .objectID(let id)? = row[key] else { return Value.none }
        let room = try #require(world.rooms.firstIndex { $0.objectID == id })
        return .number(Double(room))
      } + figures.map { Value(try #require(row["f\($0)"])) }
    }
    #expect(
      found == expected,
      "seed \(seed): \(request.propertiesToFetch) of \(entity) where \(condition.predicate)")
  }

  /// Compares counts of the messages that are newer or older than a date of their room.
  private func compareRelated(_ world: World, _ seed: UInt64) throws {
    let conditions: [(text: String, holds: (Plain, Int64?) -> Bool)] = [
      ("$m.sent > SELF.lastRead", { ($0.sent ?? .min) > $1 ?? .max }),
      ("SELF.lastRead >= $m.sent", { ($0.sent ?? .max) <= $1 ?? .min }),
      ("$m.sent == lastRead", { $0.sent == $1 }),
      (
        "$m.isFlagged == YES AND $m.sent < SELF.lastRead",
        { $0.isFlagged && ($0.sent ?? .max) < $1 ?? .min }
      ),
    ]
    let condition = conditions[Int.random(in: 0..<conditions.count, using: &world.random)]
    let text = "SUBQUERY(messages, $m, \(condition.text)).@count"
    var request = FetchRequest<ManagedObject>(entity: "Room")
    request.propertiesToFetch = [PropertyPath("\(text) AS found")]
    let found = try world.context.fetchRows(request).map { $0["found"] }
    let expected = world.chat.lastRead.indices.map { room in
      world.chat.messages.count {
        $0.room == room && condition.holds($0, world.chat.lastRead[room])
      }
    }
    #expect(found == expected.map { .integer(Int64($0)) }, "seed \(seed): \(condition.text)")
    let least = Int.random(in: 1...3, using: &world.random)
    let rooms = try world.context.objects("Room")
      .filter(try FetchPredicate(format: "\(text) >= \(least)")).fetch()
    #expect(
      rooms == world.rooms.indices.filter { expected[$0] >= least }.map { world.rooms[$0] },
      "seed \(seed): \(text) >= \(least)")
  }

  // MARK: Tests

  @Test(
    "Groups agree with plain values, with and without indexes",
    arguments: 1...UInt64(TestLength.of(12, long: 1_000)))
  func groupsAgree(seed: UInt64) throws {
    for round in 0..<8 {
      let seed = seed * 100 + UInt64(round)
      var random = SeededRandom(seed: seed)
      let indexes = Self.indexes.filter { _ in Bool.random(using: &random) }
      try ObjectStore.use(try Self.model(indexes)) { store in
        let world = try World(store, seed: seed)
        for _ in 0..<3 {
          for _ in 0..<4 {
            _ = try compareFirst(world, seed)
            try compareGroups(world, seed)
            try compareRelated(world, seed)
          }
          for _ in 0..<Int.random(in: 1...20, using: &world.random) { try world.change() }
          if Bool.random(using: &world.random) { try world.context.commit() }
        }
      }
    }
  }

  @Test("The comparison finds a forgotten change, and most plans skip rows")
  func controls() throws {
    let model = try Self.model(Self.indexes)
    try ObjectStore.use(model) { store in
      let world = try World(store, seed: 7)
      var skipping = 0
      for _ in 0..<40 where try compareFirst(world, 7) { skipping += 1 }
      #expect(skipping > 5)
      // The newest message of a room becomes the oldest, which only the plain form knows.
      let newest = world.chat.first(1, per: "room", by: [("sent", false)]) { _ in true }
      for index in world.chat.messages.indices
      where newest.contains(world.chat.messages[index].serial) {
        world.chat.messages[index].sent = -100
      }
      let query = world.context.objects("Message").top(1, per: "room", by: "-sent")
      let found = try query.fetch().map { try $0.value(forKey: "serial").int ?? -1 }
      #expect(
        found.map { Int($0) }
          != world.chat.first(1, per: "room", by: [("sent", false)]) { _ in true })
    }
  }
}
