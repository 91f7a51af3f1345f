import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Random changes of objects to which the orders, sections and predicates of live results lead.
@Suite("Live results along relationships during random changes") struct RandomListsTests {
  @Test("Results, sections and differences always agree with a fetch")
  func listsFollowWhatTheyDependOn() throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    var seeds = SeededRandom()
    for _ in 0..<(given == nil ? TestLength.of(300, long: 10_000) : 1) {
      let seed = given ?? seeds.next()
      do {
        try ListHistory.run(seed: seed, steps: 25)
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }

  /// A note's stored copy of its folder's name changes with the commit, so a list by the copy is one
  /// by the name that forgets what it depends on until then.
  @Test("Results that forget what they depend on are noticed")
  func forgetfulListsAreNoticed() throws {
    var noticed = 0
    for seed in 1...20 as ClosedRange<UInt64> {
      do {
        try ListHistory.run(seed: seed, steps: 25) { context in
          [
            try FollowedResults(
              FetchRequest<ManagedObject>(entity: "Note", sortKeys: ["place"]), nil, watching: [],
              in: context, expecting: FetchRequest(entity: "Note", sortKeys: ["folder.name"]))
          ]
        }
      } catch let error as Contradiction {
        #expect(error.description.contains("are not what is fetched"))
        noticed += 1
      }
    }
    #expect(noticed > 10)
  }

  @Test("A list says how it is maintained")
  func maintenanceIsExplained() throws {
    try ObjectStore.use(ListHistory.model()) { store in
      let context = store.makeContext()
      func explain(_ request: FetchRequest<ManagedObject>, _ path: String? = nil) throws -> String {
        try context.fetchedResults(request, sectionedBy: path).explain()
      }
      let own = try explain(FetchRequest(entity: "Note", sortKeys: ["title"]))
      #expect(own == "Changes of Note are applied one by one.")
      let related = try explain(
        FetchRequest(entity: "Note", predicate: "label != nil", sortKeys: ["title"]),
        "folder.account.name")
      #expect(
        related == """
          Changes of Note are applied one by one.
          Changes of Folder are applied to the objects that refer to them by folder.
          Changes of Account are applied to the objects that refer to them by folder.account.
          """)
      let counted = try explain(
        FetchRequest(entity: "Folder", predicate: "ANY notes.tags.name == 'a'"))
      #expect(
        counted == """
          Changes of Folder are applied one by one.
          Changes of Note, Tag fetch the request again, because it reads them through collections.
          """)
      var limited = FetchRequest<ManagedObject>(entity: "Note", sortKeys: ["folder.name"])
      limited.fetchLimit = 3
      let reason = try explain(limited)
      #expect(
        reason == "Changes that may affect the request fetch it again, because it has a limit.")
    }
  }
}

/// Contexts whose live results are compared with fetches after random changes.
private struct ListHistory {
  private static let names = ["a", "A", "b", "B", "ä", "c10", "c9", ""]

  private let contexts: [ManagedObjectContext]
  private var followed: [any FollowedList]
  private var random: SeededRandom
  private var log: [String] = []

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifier: "1") {
      EntityDescription("Account") {
        AttributeDescription("name", .string, .optional)
        RelationshipDescription(
          "folders", to: "Folder", inverse: "account", .toMany, deleteRule: .noAction)
      }
      EntityDescription("Folder") {
        AttributeDescription("name", .string, .optional)
        AttributeDescription("rank", .integer64, .default(0))
        AttributeDescription("noteCount", .integer64, .default(0), .derived("notes.@count"))
        RelationshipDescription("account", to: "Account", inverse: "folders")
        RelationshipDescription("notes", to: "Note", inverse: "folder", .toMany)
      }
      EntityDescription("Note") {
        AttributeDescription("title", .string, .optional)
        AttributeDescription("weight", .integer64, .default(0))
        AttributeDescription("place", .string, .optional, .derived("folder.name"))
        RelationshipDescription("folder", to: "Folder", inverse: "notes")
        RelationshipDescription("label", to: "Label")
        RelationshipDescription("cover", to: "Cover", inverse: "note", deleteRule: .cascade)
        RelationshipDescription("tags", to: "Tag", inverse: "notes", .toMany)
      }
      EntityDescription("Label") { AttributeDescription("name", .string, .optional) }
      EntityDescription("Cover") {
        AttributeDescription("color", .string, .optional)
        RelationshipDescription("note", to: "Note", inverse: "cover")
      }
      EntityDescription("Tag") {
        AttributeDescription("name", .string, .optional)
        RelationshipDescription("notes", to: "Note", inverse: "tags", .toMany)
      }
    }
  }

  private static func requests() -> [(FetchRequest<ManagedObject>, String?)] {
    func notes(_ predicate: FetchPredicate?, _ keys: [SortKey]) -> FetchRequest<ManagedObject> {
      FetchRequest(entity: "Note", predicate: predicate, sortKeys: keys)
    }
    var limited = notes("weight > 2", ["folder.name", "title"])
    limited.fetchLimit = 3
    let folded = SortKey.ascending("folder.name", options: .caseInsensitive)
    let numeric = SortKey.ascending("folder.name", options: .numeric)
    return [
      (notes(nil, ["folder.name", "title"]), nil),
      (notes(nil, ["folder.name", "title"]), "folder.name"),
      (notes(nil, ["-folder.account.name", "-weight"]), "folder.account.name"),
      (notes("folder.name == 'a' OR folder.account.name == 'a'", ["title"]), nil),
      (notes("folder.account.name != nil AND weight > 3", ["-folder.rank", "title"]), "folder"),
      (notes(nil, ["label.name", "weight"]), "label.name"),
      (notes("cover.color != 'b'", ["cover.color"]), nil),
      (notes(nil, ["folder.noteCount", "-place"]), "folder.noteCount"),
      (notes("tags.@count > 0", ["folder.name"]), nil),
      (notes("SUBQUERY(tags, $t, $t.name == 'a').@count > 0", ["weight"]), "folder.name"),
      (notes(nil, [folded, "weight"]), "folder.name"),
      (notes(nil, [numeric, "title"]), "folder.name"),
      (notes(nil, [SortKey("folder.rank * weight")]), nil), (limited, nil),
      (limited, "folder.name"),
    ]
  }

  private static func lists(in context: ManagedObjectContext) throws -> [any FollowedList] {
    var lists: [any FollowedList] = try requests().map { request, path in
      try FollowedResults(
        request, path, watching: ["title", "weight", "place", "folder", "label", "cover", "tags"],
        in: context)
    }
    for (predicate, path) in [(nil, "account.name"), ("notes.@count > 1", nil)]
      as [(FetchPredicate?, String?)]
    {
      lists.append(
        try FollowedResults(
          FetchRequest<ManagedObject>(
            entity: "Folder", predicate: predicate, sortKeys: ["account.name", "name"]), path,
          watching: ["name", "rank", "noteCount", "account"], in: context))
    }
    return lists
  }

  /// Runs a history and throws the first contradiction.
  ///
  /// - Parameter lists: The lists of a context.
  static func run(
    seed: UInt64, steps: Int,
    lists: (ManagedObjectContext) throws -> [any FollowedList] = lists(in:)
  ) throws {
    try ObjectStore.use(model()) { store in
      var history = ListHistory(store, seed)
      do {
        try history.fill(store)
        // A few lists of each context, since every list is compared with a fetch.
        for context in history.contexts.prefix(2) {
          history.followed += try lists(context).shuffled(using: &history.random).prefix(4)
        }
        for _ in 0..<steps {
          try history.step()
          try history.look()
        }
      } catch {
        throw Contradiction(
          description: "\(error)\nseed \(seed)\n" + history.log.joined(separator: "\n"))
      }
    }
  }

  private init(_ store: PersistentStore, _ seed: UInt64) {
    random = SeededRandom(seed: seed)
    contexts = (0..<3).map { _ in store.makeContext() }
    followed = []
    let policies: [MergePolicy] = [
      .mergeByPropertyObjectWins, .mergeByPropertyStoreWins, .overwrite,
    ]
    for (context, policy) in zip(contexts, policies) { context.mergePolicy = policy }
    contexts[0].undoHistory = UndoHistory()
  }

  private mutating func fill(_ store: PersistentStore) throws {
    let context = contexts[2]
    for entity in ["Account", "Folder", "Label", "Tag"] {
      for _ in 0..<3 { try insert(entity, in: context) }
    }
    for _ in 0..<8 { try insert("Note", in: context) }
    try context.commit()
  }

  private mutating func look() throws {
    // Not after every step, so that some changes are combined.
    guard Int.random(in: 0..<3, using: &random) > 0 else { return }
    log.append("looked")
    if Int.random(in: 0..<10, using: &random) == 0,
      let position = followed.indices.randomElement(using: &random)
    {
      followed[position] = try followed[position].renewed()
    }
    for results in followed {
      do { try results.compare() } catch let error as Contradiction {
        throw Contradiction(description: "\(error)\n\(results)")
      }
    }
  }

  // MARK: Steps

  private mutating func step() throws {
    let position = Int.random(in: 0..<contexts.count, using: &random)
    let context = contexts[position]
    log.append("\(position):")
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<3: try insert("Note", in: context)
    case 3: try insert(entity(), in: context)
    case 4..<13: try change(in: context)
    case 13: try delete(entity(), in: context)
    case 14: try delete("Note", in: context)
    case 15..<18: try commit(context)
    case 18: context.rollback()
    case 19: context.undo()
    case 20: context.redo()
    case 21: try interrupt(context)
    case 22:
      guard let object = try pick(entity(), in: context) else { return }
      context.refresh(object, mergeChanges: Bool.random(using: &random))
    default:
      guard Int.random(in: 0..<4, using: &random) == 0 else { return }
      context.reset()
    }
    log[log.count - 1] += " done"
  }

  private mutating func entity() -> String {
    ["Account", "Folder", "Folder", "Label", "Cover", "Tag"].randomElement(using: &random) ?? ""
  }

  private mutating func name() -> PropertyValue {
    Self.names.randomElement(using: &random).map { $0.isEmpty ? .null : .string($0) } ?? .null
  }

  private mutating func pick(
    _ entity: String, in context: ManagedObjectContext
  ) throws -> ManagedObject? {
    try context.fetch(FetchRequest<ManagedObject>(entity: entity)).randomElement(using: &random)
  }

  private mutating func note(_ text: String, _ object: ManagedObject?) {
    let name = object.map { "\($0.objectID.entityName)\($0.objectID.number)" } ?? "nil"
    log[log.count - 1] += " \(text) \(name)"
  }

  private mutating func insert(_ entity: String, in context: ManagedObjectContext) throws {
    if log.isEmpty { log.append("filled") }
    let object = try context.insert(entity)
    note("insert", object)
    switch entity {
    case "Note":
      object["title"] = name()
      object["weight"] = PropertyValue.integer(.random(in: 0..<9, using: &random))
      try object.setObject(pick("Folder", in: context), forKey: "folder")
      try object.setObject(pick("Label", in: context), forKey: "label")
    case "Folder":
      object["name"] = name()
      try object.setObject(pick("Account", in: context), forKey: "account")
    case "Cover":
      object["color"] = name()
      try object.setObject(pick("Note", in: context), forKey: "note")
    default: object["name"] = name()
    }
  }

  private mutating func delete(_ entity: String, in context: ManagedObjectContext) throws {
    guard let object = try pick(entity, in: context) else { return }
    note("delete", object)
    context.delete(object)
  }

  private mutating func change(in context: ManagedObjectContext) throws {
    do { try changeAny(in: context) } catch let error as ArborError
      where error.code == .objectNotFound
    {
      // Picking another object has merged a commit that deleted the first one.
      log[log.count - 1] += " which is gone"
    }
  }

  private mutating func changeAny(in context: ManagedObjectContext) throws {
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<4:
      let entity = entity()
      guard let object = try pick(entity, in: context) else { return }
      note("name", object)
      object[entity == "Cover" ? "color" : "name"] = name()
    case 4:
      guard let folder = try pick("Folder", in: context) else { return }
      note("rank", folder)
      folder["rank"] = PropertyValue.integer(.random(in: 0..<4, using: &random))
    case 5, 6:
      guard let folder = try pick("Folder", in: context) else { return }
      let account = Bool.random(using: &random) ? try pick("Account", in: context) : nil
      note("account", folder)
      note("to", account)
      try folder.setObject(account, forKey: "account")
    case 7, 8:
      guard let object = try pick("Note", in: context) else { return }
      let key = ["folder", "folder", "label", "cover"].randomElement(using: &random) ?? "folder"
      let target = try pick(key.capitalized, in: context)
      note(key, object)
      note("to", target)
      try object.setObject(Int.random(in: 0..<5, using: &random) == 0 ? nil : target, forKey: key)
    case 9:
      guard let object = try pick("Note", in: context), let tag = try pick("Tag", in: context)
      else { return }
      note("tag", object)
      let tags = try object.objects(forKey: "tags")
      if try tags.contains(tag) { try tags.remove(tag) } else { try tags.insert(tag) }
    default:
      guard let object = try pick("Note", in: context) else { return }
      note("title and weight", object)
      object["title"] = name()
      object["weight"] = PropertyValue.integer(.random(in: 0..<9, using: &random))
    }
  }

  /// Commits. If the commit is rejected, rolls everything back.
  private mutating func commit(_ context: ManagedObjectContext) throws {
    log[log.count - 1] += " commit"
    do throws(ArborError) { try context.commit() } catch {
      let codes: [ArborError.Code] = [.validation, .conflict, .notUnique]
      guard codes.contains(error.code) else { throw error }
      context.rollback()
    }
  }

  /// Makes changes that are reverted as a whole.
  private mutating func interrupt(_ context: ManagedObjectContext) throws {
    log[log.count - 1] += " interrupted:"
    var copy = self
    try? context.withSavepoint {
      for _ in 0..<3 { try copy.change(in: context) }
      try copy.delete("Folder", in: context)
      throw Interruption()
    }
    (random, log) = (copy.random, copy.log)
  }
}
