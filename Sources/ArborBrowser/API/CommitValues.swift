internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// What commits changed, old and new, as far as it can be known.
struct CommitValues {
  /// Of how many objects values are remembered, and how many a store may have to be read at first.
  private static let mostObjects = 10_000
  /// How many objects of one commit are told.
  private static let mostTold = 100

  private let store: PersistentStore
  private let schema: BrowsedSchema
  private var known: [ObjectID: [String: JSONValue]] = [:]
  /// The newest commit that the values of the beginning may be of; nil before they are read.
  private var beginning: UInt64?

  init(_ store: PersistentStore, _ schema: BrowsedSchema) {
    self.store = store
    self.schema = schema
  }

  /// Remembers a small store as it is now, unless that has been done.
  ///
  /// - Throws: What keeps objects from being read; the next call begins anew.
  mutating func fill() throws(ArborError) {
    guard beginning == nil else { return }
    let context = store.makeContext()
    let roots = schema.entities.filter { $0.description.parent == nil }
      .map { FetchRequest<ManagedObject>(entity: $0.name) }
    var count = 0
    for root in roots { count += try context.count(root) }
    if count <= Self.mostObjects {
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

  /// A commit with old and new values, or what keeps objects from being read.
  mutating func json(of commit: CommittedChanges) throws(ArborError) -> JSONValue {
    try fill()
    guard commit.isComplete else {
      known = [:]
      return Self.json(of: commit, objects: [])
    }
    guard commit.commitSequence > beginning ?? 0 else {
      // Committed while the objects were read, each of them before or after it.
      for id in commit.inserted.union(commit.updated).union(commit.deleted) { known[id] = nil }
      return Self.json(of: commit, objects: Self.names(of: commit))
    }
    let context = store.makeContext()
    var now: [ObjectID: [String: JSONValue]] = [:]
    for id in commit.inserted.union(commit.updated) {
      if let object = try context.objectIfThere(id) { now[id] = try values(of: object) }
    }
    // Values are those of the store as it is now. Where it has gone on, they are not this commit's.
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
    if known.count > Self.mostObjects { known = [:] }
    return Self.json(of: commit, objects: objects)
  }

  /// Forgets what was known, which may no longer be right.
  mutating func forget() { known = [:] }

  private func values(of object: ManagedObject) throws(ArborError) -> [String: JSONValue] {
    let entity = try schema.entity(object.entity.name)
    var values: [String: JSONValue] = [:]
    for attribute in entity.attributes {
      if let count = object.binaryLength(forKey: attribute.name) {
        values[attribute.name] = ["binary": JSONValue(count)]
      } else {
        values[attribute.name] = ValueJSON.json(
          try object.value(forKey: attribute.name), longest: ValueJSON.longestInTable)
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

  /// A commit, with the objects that are told of it, or the problem that keeps values from it.
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

  /// The objects of a commit and their properties, without values.
  static func names(of commit: CommittedChanges) -> [JSONValue] {
    names(of: commit) { _, property in
      ["property": .string(property)]
    } all: { _, _ in
      [:]
    }
  }

  /// The objects of a commit: `change` says what is known of one property of an updated object,
  /// `all` gives the values of an inserted or deleted one.
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
      for id in sorted.prefix(max(0, mostTold - objects.count)) {
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
