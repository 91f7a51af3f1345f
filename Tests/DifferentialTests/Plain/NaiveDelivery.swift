import ArborData

/// A medium in a delivery, as generated.
struct DeliveredMedium {
  /// `nil` for an item without its identity.
  var id: Int?
  /// The entity that the item names, or `nil` for none.
  var kind: String?
  /// Whether the item names an entity that doesn't exist.
  var isOfUnknownKind = false
  var title: String?
  var width: Int?
  var length: Int?
}

/// A post in a delivery, as generated. Missing members are `nil`.
struct DeliveredPost {
  var id: Int?
  var rank: Int?
  var media: [DeliveredMedium]?
  /// The values by key of fields that are identified within their post.
  var fields: [(key: Int, value: String?)]?
  /// The names of tags, which many posts share.
  var tags: [String]?
}

/// A lenient importer of deliveries into dictionaries that follows the documentation. Items that
/// cannot be imported, or whose objects break rules, are left out until none is left.
struct NaiveDelivery {
  static let maximumRank = 5
  static let maximumWidth = 9

  struct Rules {
    var prunes = false
    /// Whether every medium needs a post.
    var needsPost = false
    /// Whether an unknown kind is an error. Otherwise the item names no kind.
    var isStrict = false
    /// Whether items with broken rules are kept, for a negative control.
    var keepsBrokenItems = false
  }

  private struct Medium: Equatable {
    var kind: String
    var title: String?
    var size: Int?
    var post: Int?
  }

  private struct Field: Equatable {
    var key: Int
    var value: String?
    var post: Int?
  }

  private struct World {
    var posts: [Int: (rank: Int?, tags: Set<[UInt32]>)] = [:]
    var media: [Int: Medium] = [:]
    var fields: [Field] = []
    var tags: Set<[UInt32]> = []
  }

  /// The items that describe or change the objects of one delivery, by index in the delivery.
  private struct Blame {
    var describing: [Int: [(item: Int, medium: DeliveredMedium)]] = [:]
    var unlinking: [Int: Int] = [:]
  }

  private var world = World()
  /// The indexes of items that the last delivery left out because of their objects.
  private(set) var leftOut: Set<Int> = []
  /// The number of values and items that the last delivery left out.
  private(set) var droppedCount = 0

  mutating func run(_ items: [DeliveredPost], _ rules: Rules) {
    leftOut = []
    while true {
      var trial = world
      let bad = Self.attempt(items, without: leftOut, rules, &trial)
      guard bad.isEmpty || rules.keepsBrokenItems else {
        leftOut.formUnion(bad)
        continue
      }
      world = trial
      break
    }
    droppedCount = leftOut.count
    for (index, item) in items.enumerated() where !leftOut.contains(index) {
      if item.id == nil { droppedCount += 1 }
      droppedCount +=
        item.media?.filter { $0.id == nil || ($0.isOfUnknownKind && rules.isStrict) }.count ?? 0
    }
  }

  /// Imports the items. Returns those that must be left out.
  private static func attempt(
    _ items: [DeliveredPost], without leftOut: Set<Int>, _ rules: Rules, _ world: inout World
  ) -> Set<Int> {
    var blame = Blame()
    let used = items.indices.filter { !leftOut.contains($0) && items[$0].id != nil }
    var ranks: [Int: Int] = [:]
    for index in used where !used.contains(where: { $0 > index && items[$0].id == items[index].id })
    {
      guard let id = items[index].id else { continue }
      if !importPost(items[index], id, index, rules, &world, &blame) { return [index] }
      if items[index].rank != nil { ranks[id] = index }
    }
    var bad: Set<Int> = []
    for (id, index) in ranks where world.posts[id]?.rank ?? 0 > maximumRank { bad.insert(index) }
    for (id, medium) in world.media {
      if medium.title == nil { bad.formUnion(culprit(of: id, blame) { $0.title != nil }) }
      if medium.kind == "Photo", medium.size ?? 0 > maximumWidth {
        bad.formUnion(culprit(of: id, blame) { $0.width != nil })
      }
      if rules.needsPost, medium.post == nil {
        bad.formUnion(culprit(of: id, blame) { _ in false })
      }
    }
    return bad
  }

  /// Returns the last item that sets a value, otherwise the first that describes the object,
  /// otherwise the last that has changed it.
  private static func culprit(
    of medium: Int, _ blame: Blame, _ sets: (DeliveredMedium) -> Bool
  ) -> [Int] {
    let described = blame.describing[medium] ?? []
    if let item = described.last(where: { sets($0.medium) }) ?? described.first {
      return [item.item]
    }
    return blame.unlinking[medium].map { [$0] } ?? []
  }

  /// Returns whether the item could be imported.
  private static func importPost(
    _ item: DeliveredPost, _ id: Int, _ index: Int, _ rules: Rules, _ world: inout World,
    _ blame: inout Blame
  ) -> Bool {
    var post = world.posts[id] ?? (rank: nil, tags: [])
    if let rank = item.rank { post.rank = rank }
    world.posts[id] = post
    if let media = item.media {
      let usable = media.filter { $0.id != nil && !($0.isOfUnknownKind && rules.isStrict) }
      var listed: Set<Int> = []
      for (place, medium) in usable.enumerated()
      where !usable[(place + 1)...].contains(where: { $0.id == medium.id }) {
        guard let number = medium.id, importMedium(medium, number, &world) else { return false }
        blame.describing[number, default: []].append((index, medium))
        listed.insert(number)
      }
      for number in listed { world.media[number]?.post = id }
      if rules.prunes {
        for (number, medium) in world.media where medium.post == id && !listed.contains(number) {
          world.media[number]?.post = nil
          blame.unlinking[number] = index
        }
      }
    }
    if let fields = item.fields {
      var listed: Set<Int> = []
      for (place, field) in fields.enumerated()
      where !fields[(place + 1)...].contains(where: { $0.key == field.key }) {
        listed.insert(field.key)
        if let known = world.fields.firstIndex(where: { $0.key == field.key && $0.post == id }) {
          if let value = field.value { world.fields[known].value = value }
        } else {
          world.fields.append(Field(key: field.key, value: field.value, post: id))
        }
      }
      if rules.prunes {
        for index in world.fields.indices
        where world.fields[index].post == id && !listed.contains(world.fields[index].key) {
          world.fields[index].post = nil
        }
      }
    }
    if let tags = item.tags {
      let names = Set(tags.map { $0.unicodeScalars.map(\.value) })
      world.tags.formUnion(names)
      let former = world.posts[id]?.tags ?? []
      world.posts[id]?.tags = rules.prunes ? names : former.union(names)
    }
    return true
  }

  private static func importMedium(
    _ item: DeliveredMedium, _ id: Int, _ world: inout World
  ) -> Bool {
    guard let kind = world.media[id]?.kind ?? item.kind, item.kind ?? kind == kind else {
      return false
    }
    var medium = world.media[id] ?? Medium(kind: kind)
    if let title = item.title { medium.title = title }
    if let size = kind == "Photo" ? item.width : item.length { medium.size = size }
    world.media[id] = medium
    return true
  }

  /// The contents, one line per object.
  var state: [String] {
    func text(_ number: Int?) -> String { number.map(String.init) ?? "-" }
    var lines: [String] = []
    for (id, post) in world.posts {
      let tags = post.tags.map { "\($0)" }.sorted()
      lines.append("Post \(id) \(text(post.rank)) \(tags)")
    }
    for (id, medium) in world.media {
      lines.append(
        "\(medium.kind) \(id) \(medium.title ?? "-") \(text(medium.size)) \(text(medium.post))")
    }
    for field in world.fields {
      lines.append("Field \(field.key) \(field.value ?? "-") \(text(field.post))")
    }
    lines += world.tags.map { "Tag \($0)" }
    return lines.sorted()
  }
}
