import ArborData
import Foundation
import TestSupport

/// Compares the same values at every place that compares values.
final class ComparisonRun {
  private let kind: ComparedKind
  private let values: [PropertyValue]
  private let oracle: ComparisonOracle
  private let store: PersistentStore
  private let context: ManagedObjectContext
  /// The places that were examined.
  private(set) var places: Set<String> = []
  /// The places that disagree with the oracle.
  private(set) var disagreements: Set<String> = []

  init(
    _ kind: ComparedKind, _ values: [PropertyValue], _ oracle: ComparisonOracle = ComparisonOracle()
  ) throws {
    self.kind = kind
    self.values = values
    self.oracle = oracle
    store = try PersistentStore(model: Self.model(kind.type), at: .inMemory)
    context = store.makeContext()
  }

  private static func model(_ type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Plain") {
        AttributeDescription("key", type, .optional)
        AttributeDescription("note", .string, .optional)
      }
      EntityDescription("Indexed") { AttributeDescription("key", type, .optional, .indexed) }
      EntityDescription("Unique", userInfo: ["PrimaryAttribute": "key"]) {
        AttributeDescription("key", type, .optional, .unique)
        AttributeDescription("note", .string, .optional)
      }
      EntityDescription("Live") { AttributeDescription("key", type, .optional) }
    }
  }

  private func note(_ place: String, _ agrees: Bool) {
    places.insert(place)
    if !agrees { disagreements.insert(place) }
  }

  /// Examines every place.
  func run(planning: Bool = true) throws {
    defer { store.close() }
    note("hash", Dictionary(grouping: values) { $0 }.map(\.value.count).sorted() == sizes)
    try compareInQueries()
    try compareInLiveLists()
    try compareInUniqueIndex()
    try compareInImports()
    try compareInUpserts()
    try compareChanges()
    if planning { try compareInPlan() }
    try store.check()
  }

  private var sizes: [Int] { oracle.sizes(values) }

  private func insert(_ value: PropertyValue, into entity: String) throws -> ManagedObject {
    let object = try context.insert(entity)
    try object.setValue(value, forKey: "key")
    return object
  }

  private func empty(_ entity: String) throws {
    for object in try context.fetch(entity) { context.delete(object) }
    try context.commit()
  }

  // MARK: Queries

  private func compareInQueries() throws {
    for entity in ["Plain", "Indexed"] {
      for value in values { _ = try insert(value, into: entity) }
    }
    for state in ["pending", "committed"] {
      if state == "committed" { try context.commit() }
      for entity in ["Plain", "Indexed"] {
        try compareInQueries(of: entity, "\(state) \(entity)")
      }
    }
  }

  private func compareInQueries(of entity: String, _ place: String) throws {
    let counts = oracle.counts(values)
    let all = context.objects(entity)
    let equal = try values.map { value in
      try context.count(entity, matching: FetchPredicate(format: "key == %@", value))
    }
    note("\(place), ==", equal == counts)
    let listed = try values.map { value in
      try context.count(
        entity, matching: FetchPredicate(format: "key IN %@", PropertyValue.list([value])))
    }
    note("\(place), IN", listed == counts)
    let rows = try all.rows("key", "@count AS n", groupedBy: ["key"])
    note("\(place), groups", rows.compactMap { $0["n"]?.int }.sorted() == sizes)
    note("\(place), distinct", try all.rows("key", isDistinct: true).count == sizes.count)
    note("\(place), countDistinct", try all.value(of: .countDistinct("key")) == sizes.count)
    note("\(place), grouped(by:)", try all.grouped(by: "key").map(\.value.count).sorted() == sizes)
    let sections = try context.fetchedResults(
      FetchRequest<ManagedObject>(entity: entity), sectionedBy: "key")
    note("\(place), sections", sections.sections.map(\.count).sorted() == sizes)
  }

  // MARK: Live lists

  private func compareInLiveLists() throws {
    let sectioned = try context.fetchedResults(
      FetchRequest<ManagedObject>(entity: "Live"), sectionedBy: "key")
    for value in values {
      _ = try insert(value, into: "Live")
      _ = sectioned.sections
    }
    note("live sections", sectioned.sections.map(\.count).sorted() == sizes)
    try empty("Live")
    let object = try context.insert("Live")
    var agrees = true
    for value in values {
      let request = FetchRequest<ManagedObject>(
        entity: "Live", predicate: try FetchPredicate(format: "key == %@", value))
      let results = try context.fetchedResults(request)
      for other in values {
        try object.setValue(other, forKey: "key")
        if results.count != (oracle.areEqual(value, other) ? 1 : 0) { agrees = false }
      }
    }
    note("live predicate", agrees)
    try empty("Live")
  }

  // MARK: Identities

  private func compareInUniqueIndex() throws {
    var agrees = true
    for (index, value) in values.enumerated() {
      for other in values[..<index] {
        let pair = [try insert(value, into: "Unique"), try insert(other, into: "Unique")]
        var isRefused = false
        do {
          try context.commit()
          for object in pair { context.delete(object) }
          try context.commit()
        } catch {
          guard error.code == .notUnique else { throw error }
          isRefused = true
          context.rollback()
        }
        if isRefused != oracle.areEqual(value, other) { agrees = false }
      }
    }
    note("unique index", agrees)
  }

  private func compareInImports() throws {
    let items = JSONValue.array(values.map { .object(["key": Self.json($0), "note": "x"]) })
    for state in ["empty", "filled"] {
      let found = try context.importObjects(from: .value(items), as: "Unique")
      note("import into \(state) store", try context.count("Unique") == sizes.count)
      note("import into \(state) store, objects", Set(found).count == sizes.count)
      // A repeated import finds the objects of the first.
      try context.commit()
    }
    try empty("Unique")
    for value in values {
      try context.importObject(
        from: .value(.object(["key": Self.json(value), "note": "y"])), as: "Unique")
    }
    note("single imports", try context.count("Unique") == sizes.count)
    context.rollback()
  }

  private func compareInUpserts() throws {
    for value in values {
      try context.upsert("Unique", matching: ["key": value], values: ["note": "z"])
    }
    note("upsert", try context.count("Unique") == sizes.count)
    context.rollback()
    for value in values { _ = try context.insertOrFetch("Unique", where: ["key": value]) }
    note("insertOrFetch", try context.count("Unique") == sizes.count)
    context.rollback()
    for isCommitted in [false, true] {
      for value in values {
        try upsertModel(value)
        if isCommitted { try context.commit() }
      }
      note("upsert of a model", try context.count("Unique") == sizes.count)
      context.rollback()
    }
    try empty("Unique")
  }

  private struct Keyed<Key: Codable & Sendable>: ValueModel {
    var key: Key
    static var entityName: String { "Unique" }
    static var uniquingKeys: Set<String> { ["key"] }
  }

  private func upsertModel(_ value: PropertyValue) throws {
    switch value {
    case .string(let text): try context.upsert(Keyed(key: text))
    case .integer(let number): try context.upsert(Keyed(key: number))
    case .boolean(let flag): try context.upsert(Keyed(key: flag))
    case .double(let number) where kind == .float: try context.upsert(Keyed(key: Float(number)))
    case .double(let number): try context.upsert(Keyed(key: number))
    case .decimal(let number): try context.upsert(Keyed(key: number))
    case .date(let date): try context.upsert(Keyed(key: date))
    case .uuid(let uuid): try context.upsert(Keyed(key: uuid))
    case .uri(let url): try context.upsert(Keyed(key: url))
    case .binary(let data): try context.upsert(Keyed(key: data))
    default: break
    }
  }

  // MARK: Changes

  /// Imports each value over each other one. The store then holds the imported value, and only a
  /// different one is a change.
  private func compareChanges() throws {
    let object = try context.insert("Plain")
    var (agrees, isStored) = (true, true)
    for value in values {
      for other in values {
        try object.setValue(Self.imported(value), forKey: "key")
        try context.commit()
        try context.importObject(
          from: .value(.object(["key": Self.json(other)])), into: object)
        let isSame = oracle.areIdentical(Self.imported(value), Self.imported(other))
        if context.hasChanges == isSame { agrees = false }
        try context.commit()
        let stored = try store.makeContext().objects(with: [object.objectID])[0]
        let kept = try stored.value(forKey: "key")
        if !ComparisonOracle().areIdentical(kept, Self.imported(other)) { isStored = false }
      }
    }
    note("changes", agrees)
    if !oracle.isDistorted { note("stored changes", isStored) }
  }

  private static func json(_ value: PropertyValue) -> JSONValue {
    switch value {
    case .string(let text): .string(text)
    case .integer(let number): .number(JSONNumber(number))
    case .boolean(let flag): .bool(flag)
    case .double(let number): JSONNumber(number).map(JSONValue.number) ?? .null
    case .decimal(let number): JSONNumber(number).map(JSONValue.number) ?? .null
    case .date(let date):
      .string(
        date.formatted(
          Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    case .uuid(let uuid): .string(uuid.uuidString)
    case .uri(let url): .string(url.absoluteString)
    case .binary(let data): .string(data.base64EncodedString())
    default: .null
    }
  }

  /// The value that an import reads. A date in ISO 8601 has no sign of zero.
  private static func imported(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .date(let date): .date(date + 0)
    case .uri(let url): .uri(url.absoluteURL)
    default: value
    }
  }

  // MARK: Migration

  private func compareInPlan() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "plan.arbor")
    let former = try PersistentStore(model: planModel(isUnique: false), at: .file(url))
    let desk = former.makeContext()
    for value in values { try desk.insert("Item").setValue(value, forKey: "key") }
    try desk.commit()
    try former.check()
    former.close()
    let model = try planModel(isUnique: true)
    let plan = try PersistentStore.migrationPlan(for: url, to: model)
    let shared = sizes.filter { $0 > 1 }.reduce(0, +)
    let words = shared == 0 ? "" : "but there are \(shared) objects"
    note("plan", plan.obstacles.isEmpty == words.isEmpty)
    note("plan, count", plan.obstacles.allSatisfy { $0.message.contains(words) })
    var opens = true
    do {
      let store = try PersistentStore(model: model, at: .file(url))
      try store.check()
      store.close()
    } catch {
      guard error.code == .modelMismatch else { throw error }
      opens = false
    }
    if !oracle.isDistorted { note("migration", opens == (shared == 0)) }
  }

  private func planModel(isUnique: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Item", uniquenessConstraints: isUnique ? [["key"]] : []) {
        AttributeDescription("key", kind.type, .optional)
      }
    }
  }
}
