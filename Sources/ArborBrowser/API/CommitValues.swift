internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// Describes the changes of commits, with old and new values if they are known.
struct CommitValues {
  /// The number of objects above which the cache is emptied, and above which a store isn't cached
  /// initially.
  private static let maximumCachedObjects = 10_000
  /// The maximum number of objects shown per commit.
  private static let maximumShownObjects = 100

  private let store: PersistentStore
  private let schema: BrowsedSchema
  private var known: [ObjectID: [String: JSONValue]] = [:]
  /// The sequence number of the newest commit that the initial values may include, or `nil` before
  /// they are read.
  private var beginning: UInt64?

  init(_ store: PersistentStore, _ schema: BrowsedSchema) {
    self.store = store
    self.schema = schema
  }

  /// Caches a small store's current values on the first call.
  ///
  /// - Throws: Any error from reading objects. The next call then starts over.
  mutating func fill() throws(ArborError) {
    guard beginning == nil else { return }
    let context = store.makeContext()
    let roots = schema.entities.filter { $0.description.parent == nil }
      .map { FetchRequest<ManagedObject>(entity: $0.name) }
    var count = 0
    for root in roots { count += try context.count(root) }
    if count <= Self.maximumCachedObjects {
      for root in roots {
        for object in try context.fetch(root) {
          known[object.objectID] = try values(of: object)
        }
      }
    }
    beginning = try newest()
  }

  private func newest() throws(ArborError) -> UInt64 {
    try store.recentCommits(1).last?.commitSequence ?? 0
  }

  /// Returns a commit with old and new values. Throws if objects cannot be read.
  mutating func json(of commit: CommittedChanges) throws(ArborError) -> JSONValue {
    try fill()
    guard commit.isComplete else {
      known = [:]
      return Self.json(of: commit, objects: [])
    }
    guard commit.commitSequence > beginning ?? 0 else {
      // Committed while the initial values were read, each of which may be from before or after the
      // commit.
      for id in commit.inserted.union(commit.updated).union(commit.deleted) { known[id] = nil }
      return Self.json(of: commit, objects: Self.names(of: commit))
    }
    let context = store.makeContext()
    var now: [ObjectID: [String: JSONValue]] = [:]
    for id in commit.inserted.union(commit.updated) {
      if let object = try context.objectIfThere(id) { now[id] = try values(of: object) }
    }
    // The values read are the current ones. They are this commit's only if it is the newest.
    let isNewest = try newest() == commit.commitSequence
    let objects = Self.names(of: commit) { id, property in
      [
        "property": .string(property), "old": known[id]?[property],
        "new": isNewest ? now[id]?[property] : nil,
      ].compactMapValues { $0 }
    } all: { id, kind in
      kind == .deleted ? known[id] ?? [:] : isNewest ? now[id] ?? [:] : [:]
    }
    for id in commit.deleted { known[id] = nil }
    for (id, values) in now { known[id] = isNewest ? values : nil }
    if known.count > Self.maximumCachedObjects { known = [:] }
    return Self.json(of: commit, objects: objects)
  }

  /// Empties the cache, whose values may be outdated.
  mutating func forget() { known = [:] }

  private func values(of object: ManagedObject) throws(ArborError) -> [String: JSONValue] {
    let entity = try schema.entity(object.entity.name)
    var values: [String: JSONValue] = [:]
    for attribute in entity.attributes {
      if let count = object.binaryLength(forKey: attribute.name) {
        values[attribute.name] = ["binary": JSONValue(count)]
      } else {
        values[attribute.name] = ValueJSON.json(
          try object.value(forKey: attribute.name), maximumLength: ValueJSON.maximumLengthInTable)
      }
    }
    for relationship in entity.relationships where !relationship.isTransient {
      if relationship.isToMany {
        values[relationship.name] = [
          "members": JSONValue(try object.objects(forKey: relationship.name).count())
        ]
      } else {
        values[relationship.name] = ValueJSON.json(try object.value(forKey: relationship.name))
      }
    }
    return values
  }

  enum Kind: String { case inserted, updated, deleted }

  /// Returns a commit with the given objects, or with the problem that prevented reading values.
  static func json(
    of commit: CommittedChanges, objects: [JSONValue], problem: String? = nil
  ) -> JSONValue {
    [
      "sequence": JSONValue(Int(clamping: commit.commitSequence)),
      "date": commit.date.map { .string(ISO8601Date.milliseconds($0)) } ?? .null,
      "author": commit.author.map(JSONValue.string) ?? .null,
      "context": commit.contextName.map(JSONValue.string) ?? .null,
      "isComplete": .bool(commit.isComplete), "problem": problem.map(JSONValue.string) ?? .null,
      "inserted": JSONValue(commit.inserted.count), "updated": JSONValue(commit.updated.count),
      "deleted": JSONValue(commit.deleted.count), "objects": .array(objects),
    ]
  }

  /// Returns the objects of a commit and their changed properties, without values.
  static func names(of commit: CommittedChanges) -> [JSONValue] {
    names(of: commit) { _, property in
      ["property": .string(property)]
    } all: { _, _ in
      [:]
    }
  }

  /// Returns the objects of a commit. `change` returns the known values of an updated object's
  /// property; `all` returns those of an inserted or deleted object.
  private static func names(
    of commit: CommittedChanges, change: (ObjectID, String) -> [String: JSONValue],
    all: (ObjectID, Kind) -> [String: JSONValue]
  ) -> [JSONValue] {
    let kinds: [(Kind, Set<ObjectID>)] = [
      (.inserted, commit.inserted), (.updated, commit.updated), (.deleted, commit.deleted),
    ]
    var objects: [JSONValue] = []
    for (kind, ids) in kinds {
      let sorted = ids.sorted { ($0.entityName, $0.number) < ($1.entityName, $1.number) }
      for id in sorted.prefix(max(0, maximumShownObjects - objects.count)) {
        var changes: [JSONValue] = []
        if kind == .updated {
          for property in commit.changedProperties(of: id).sorted() {
            changes.append(ValueJSON.object(change(id, property)))
          }
        } else {
          let side = kind == .inserted ? "new" : "old"
          for (property, value) in all(id, kind).sorted(by: { $0.key < $1.key })
          where !value.isNull {
            changes.append(["property": .string(property), side: value])
          }
        }
        objects.append([
          "object": .string(ValueJSON.name(id)), "kind": .string(kind.rawValue),
          "changes": .array(changes),
        ])
      }
    }
    return objects
  }
}
