import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Random deliveries with bad items, items of subentities, identities inside and outside of
/// parents, and shared members are imported leniently: into a context, and in batches that commit.
/// After each delivery the store has the same contents as a naive importer, which uses dictionaries
/// and shares no code with the library.
@Suite("Random deliveries") struct DeliveryDifferentialTests {
  private static let deliveries = TestLength.of(500, long: 10_000)
  private static let deliveriesPerStore = 10

  @Test("Random deliveries agree with the naive importer", arguments: [false, true])
  func deliveriesAgree(inBatches: Bool) async throws {
    let first: UInt64 = TestLength.isLong ? SeededRandom().seed : 5_800_000
    for number in 0..<UInt64(Self.deliveries / Self.deliveriesPerStore) {
      var dice = SplitMix(seed: first &+ number)
      let rules = NaiveDelivery.Rules(
        prunes: Bool.random(using: &dice), needsPost: Bool.random(using: &dice),
        isStrict: Bool.random(using: &dice))
      let deliveries = (0..<Self.deliveriesPerStore).map { _ in RandomDelivery.items(&dice) }
      if let problem = try await disagreement(deliveries, rules, inBatches, &dice) {
        Issue.record("seed \(first &+ number), \(rules): \(problem)")
        return
      }
    }
  }

  @Test("A kept item with a broken rule is detected", arguments: [false, true])
  func brokenItemsAreDetected(inBatches: Bool) async throws {
    var dice = SplitMix(seed: 1)
    let delivery = [DeliveredPost(id: 1, rank: 1), DeliveredPost(id: 2, rank: 6)]
    var rules = NaiveDelivery.Rules()
    #expect(try await disagreement([delivery], rules, inBatches, &dice) == nil)
    rules.keepsBrokenItems = true
    #expect(try await disagreement([delivery], rules, inBatches, &dice) != nil)
  }

  /// Imports deliveries into a new store. Returns the first disagreement with the naive importer.
  private func disagreement(
    _ deliveries: [[DeliveredPost]], _ rules: NaiveDelivery.Rules, _ inBatches: Bool,
    _ dice: inout SplitMix
  ) async throws -> String? {
    let store = try PersistentStore(model: Self.model(rules, &dice), at: .inMemory)
    let context = store.makeContext()
    var naive = NaiveDelivery()
    for items in deliveries {
      let text = RandomDelivery.text(items, &dice)
      var options = ImportOptions()
      options.lenient = true
      options.defaultMergePolicy = rules.prunes ? .mergeAndPrune : .merge
      options.report = ImportReport()
      if inBatches {
        options.batchSize = Int.random(in: 1...4, using: &dice)
        _ = try await store.importObjects(
          from: .data(Data(text.utf8)), as: "Post", options: options
        ).finish()
      } else {
        try context.importObjects(from: .data(Data(text.utf8)), as: "Post", options: options)
      }
      var droppedCount = 0
      for start in stride(from: 0, to: items.count, by: inBatches ? options.batchSize : items.count)
      {
        let end = inBatches ? min(start + options.batchSize, items.count) : items.count
        naive.run(Array(items[start..<end]), rules)
        droppedCount += naive.droppedCount
      }
      let found = try Self.state(of: inBatches ? store.makeContext() : context)
      guard found == naive.state, options.report?.findings.droppedCount == droppedCount else {
        let lines = found.filter { !naive.state.contains($0) }.map { "+ \($0)" }
        let missing = naive.state.filter { !found.contains($0) }.map { "- \($0)" }
        return "\(text)\n" + (lines + missing).joined(separator: "\n")
          + "\nleft out: \(options.report?.findings.droppedCount ?? 0), expected \(droppedCount)\n"
          + (options.report?.findings.dropped.map(\.reason).joined(separator: "\n") ?? "")
      }
      // Everything that is left satisfies the model.
      if !inBatches, Bool.random(using: &dice) { try context.commit() }
    }
    try context.commit()
    try store.check()
    return nil
  }

  // MARK: The library

  private static func model(
    _ rules: NaiveDelivery.Rules, _ dice: inout SplitMix
  ) -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: true)
    }
    // A note that says what holds anyway changes nothing.
    var media = Bool.random(using: &dice) ? ["PrimaryAttribute": "mediaID"] : [:]
    if rules.isStrict { media["ImportEntityKey"] = "type" }
    let isNoted = Bool.random(using: &dice)
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Post",
        attributes: [
          attribute("postID", .integer64),
          AttributeDescription(
            name: "rank", type: .integer64, isOptional: true,
            maximum: .integer(Int64(NaiveDelivery.maximumRank))),
        ],
        relationships: [
          RelationshipDescription(
            name: "media", destination: "Media", inverse: "post", isToMany: true),
          RelationshipDescription(
            name: "fields", destination: "Field", inverse: "post", isToMany: true),
          RelationshipDescription(
            name: "tags", destination: "Tag", inverse: "posts", isToMany: true),
        ]),
      EntityDescription(
        name: "Media", isAbstract: true,
        attributes: [
          attribute("mediaID", .integer64), AttributeDescription(name: "title", type: .string),
        ],
        relationships: [
          RelationshipDescription(
            name: "post", destination: "Post", inverse: "media", isOptional: !rules.needsPost)
        ], userInfo: media),
      EntityDescription(
        name: "Photo", parent: "Media",
        attributes: [
          AttributeDescription(
            name: "width", type: .integer64, isOptional: true,
            maximum: .integer(Int64(NaiveDelivery.maximumWidth)))
        ]),
      EntityDescription(
        name: "Film", parent: "Media", attributes: [attribute("length", .integer64)]),
      EntityDescription(
        name: "Field", attributes: [attribute("key", .integer64), attribute("value", .string)],
        relationships: [
          RelationshipDescription(name: "post", destination: "Post", inverse: "fields")
        ],
        // The post is part of the identity by the note or by the model's uniqueness.
        uniquenessConstraints: isNoted ? [] : [["key", "post"]],
        userInfo: ["PrimaryAttribute": isNoted ? "key,post" : "key"]),
      EntityDescription(
        name: "Tag", attributes: [attribute("name", .string)],
        relationships: [
          RelationshipDescription(
            name: "posts", destination: "Post", inverse: "tags", isToMany: true)
        ], userInfo: ["PrimaryAttribute": "name"]),
    ])
  }

  /// Returns the contents of a context, one line per object.
  private static func state(of context: ManagedObjectContext) throws -> [String] {
    func text(_ object: ManagedObject?, _ name: String) throws -> String {
      switch try object?.value(forKey: name) {
      case .integer(let number)?: "\(number)"
      case .string(let text)?: text
      default: "-"
      }
    }
    func scalars(_ tag: ManagedObject) throws -> String {
      "\(try text(tag, "name").unicodeScalars.map(\.value))"
    }
    var lines: [String] = []
    for post in try context.fetch("Post") {
      let tags = try post.objects(forKey: "tags").fetch().map(scalars).sorted()
      lines.append("Post \(try text(post, "postID")) \(try text(post, "rank")) \(tags)")
    }
    for (kind, size) in [("Photo", "width"), ("Film", "length")] {
      for medium in try context.fetch(kind) {
        let post = try text(medium.object(forKey: "post"), "postID")
        lines.append(
          "\(kind) \(try text(medium, "mediaID")) \(try text(medium, "title")) "
            + "\(try text(medium, size)) \(post)")
      }
    }
    for field in try context.fetch("Field") {
      let post = try text(field.object(forKey: "post"), "postID")
      lines.append("Field \(try text(field, "key")) \(try text(field, "value")) \(post)")
    }
    for tag in try context.fetch("Tag") { lines.append("Tag \(try scalars(tag))") }
    return lines.sorted()
  }
}

enum RandomDelivery {
  /// Composed and decomposed forms are different texts.
  private static let tags = ["a", "\u{E9}", "e\u{301}", "\u{C5}", "A\u{30A}", "b"]

  static func items(_ dice: inout SplitMix) -> [DeliveredPost] {
    (0..<Int.random(in: 1...8, using: &dice)).map { _ in post(&dice) }
  }

  private static func chance(_ one: Int, _ dice: inout SplitMix) -> Bool {
    Int.random(in: 0..<one, using: &dice) == 0
  }

  private static func post(_ dice: inout SplitMix) -> DeliveredPost {
    var post = DeliveredPost()
    post.id = chance(12, &dice) ? nil : Int.random(in: 1...7, using: &dice)
    if chance(2, &dice) { post.rank = chance(6, &dice) ? 6 : Int.random(in: 0...5, using: &dice) }
    if !chance(3, &dice) {
      post.media = (0..<Int.random(in: 0...4, using: &dice)).map { _ in medium(&dice) }
    }
    if chance(2, &dice) {
      post.fields = (0..<Int.random(in: 0...3, using: &dice)).map { _ in
        (
          Int.random(in: 1...3, using: &dice),
          chance(3, &dice) ? nil : "\(Int.random(in: 0...99, using: &dice))"
        )
      }
    }
    if chance(2, &dice) {
      post.tags = (0..<Int.random(in: 0...3, using: &dice)).map { _ in
        tags.randomElement(using: &dice) ?? "a"
      }
    }
    return post
  }

  private static func medium(_ dice: inout SplitMix) -> DeliveredMedium {
    var medium = DeliveredMedium()
    medium.id = chance(15, &dice) ? nil : Int.random(in: 1...9, using: &dice)
    medium.isOfUnknownKind = chance(15, &dice)
    // The entity usually follows from the identity.
    if !medium.isOfUnknownKind, !chance(4, &dice) {
      let isPhoto = (medium.id ?? 0) % 2 == (chance(15, &dice) ? 1 : 0)
      medium.kind = isPhoto ? "Photo" : "Film"
    }
    if !chance(4, &dice) { medium.title = "t\(Int.random(in: 0...99, using: &dice))" }
    if chance(2, &dice) {
      medium.width = chance(8, &dice) ? 10 : Int.random(in: 0...9, using: &dice)
    }
    if chance(2, &dice) { medium.length = Int.random(in: 0...99, using: &dice) }
    return medium
  }

  // MARK: JSON

  static func text(_ items: [DeliveredPost], _ dice: inout SplitMix) -> String {
    list(items.map { text($0, &dice) })
  }

  private static func text(_ post: DeliveredPost, _ dice: inout SplitMix) -> String {
    var members: [String] = []
    if let id = post.id { members.append("\"postID\": \(id)") }
    if let rank = post.rank { members.append("\"rank\": \(rank)") }
    if let media = post.media {
      members.append("\"media\": \(list(media.map { text($0, &dice) }))")
    }
    if let fields = post.fields {
      let texts = fields.map { field in
        "{\"key\": \(field.key)\(field.value.map { ", \"value\": \"\($0)\"" } ?? "")}"
      }
      members.append("\"fields\": \(list(texts))")
    }
    if let tags = post.tags {
      members.append("\"tags\": \(list(tags.map { "{\"name\": \"\($0)\"}" }))")
    }
    members.shuffle(using: &dice)
    return "{\(members.joined(separator: ", "))}"
  }

  private static func text(_ medium: DeliveredMedium, _ dice: inout SplitMix) -> String {
    var members: [String] = []
    if let id = medium.id { members.append("\"mediaID\": \(id)") }
    if medium.isOfUnknownKind { members.append("\"type\": \"Song\"") }
    if let kind = medium.kind { members.append("\"type\": \"\(kind)\"") }
    if let title = medium.title { members.append("\"title\": \"\(title)\"") }
    if let width = medium.width { members.append("\"width\": \(width)") }
    if let length = medium.length { members.append("\"length\": \(length)") }
    members.shuffle(using: &dice)
    return "{\(members.joined(separator: ", "))}"
  }

  private static func list(_ items: [String]) -> String { "[\(items.joined(separator: ", "))]" }
}
