import ArborData
import Foundation
import TestSupport
import Testing

/// The expected contents of a store that is migrated from model to model.
struct PlainObjects: Equatable {
  /// The attribute values, keyed by entity, `id` and attribute name.
  var values: [String: [Int64: [String: PropertyValue]]] = [:]
  /// The `id`s of related objects, keyed by entity, `id` and relationship name. Those of unordered
  /// relationships are sorted.
  var links: [String: [Int64: [String: [Int64]]]] = [:]

  /// Renames, drops or computes the values of one entity's objects.
  mutating func change(_ entity: String, _ body: (inout [String: PropertyValue]) -> Void) {
    values[entity] = values[entity]?.mapValues { values in
      var values = values
      body(&values)
      return values
    }
  }

  /// Renames or drops the links of one entity's objects.
  mutating func changeLinks(_ entity: String, _ body: (inout [String: [Int64]]) -> Void) {
    links[entity] = links[entity]?.mapValues { links in
      var links = links
      body(&links)
      return links
    }
  }

  /// Moves the strings of an attribute to objects of another entity, and replaces the attribute by
  /// a relationship to them.
  mutating func split(_ entity: String, _ name: String, into target: String, from base: Int64) {
    for (id, value) in (values[entity] ?? [:]).compactMapValues({ $0[name] }) {
      values[entity]?[id]?[name] = nil
      links[entity, default: [:]][id, default: [:]][name] = []
      guard case .string = value else { continue }
      values[target, default: [:]][base + id] = ["id": .integer(base + id), "a0": value]
      links[entity]?[id]?[name] = [base + id]
    }
  }

  mutating func rename(_ entity: String, to name: String) {
    values[name] = values.removeValue(forKey: entity)
    links[name] = links.removeValue(forKey: entity)
  }
}

/// A store that is opened with one model after another, with its expected contents.
final class EvolvingStore {
  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "evolving.arbor") }
  private(set) var model: ManagedObjectModel
  private(set) var plain: PlainObjects

  init(_ model: ManagedObjectModel, _ plain: PlainObjects) throws {
    folder = try TemporaryFolder()
    self.model = model
    self.plain = plain
    try Self.write(plain, model, to: url)
    try compare()
  }

  /// Opens the store with another model and compares its contents with the expected ones, object by
  /// object, and its export with that of a new store, byte for byte.
  func evolve(
    to model: ManagedObjectModel, dropping names: StoreOptions.Migration.Dropping = [],
    _ change: (inout PlainObjects) -> Void = { _ in }
  ) throws {
    try evolve(to: model, StoreOptions(migration: .automatic(dropping: names)), change)
  }

  /// Does the same with all options.
  func evolve(
    to model: ManagedObjectModel, _ options: StoreOptions,
    _ change: (inout PlainObjects) -> Void = { _ in }
  ) throws {
    if options.migrationSteps.isEmpty { try goThereAndBack(model, options) }
    let store = try PersistentStore(model: model, at: .file(url), options: options)
    defer { store.close() }
    self.model = model
    change(&plain)
    try compare(store)
    let fresh = folder.url.appending(path: "fresh.arbor")
    defer { try? FileManager.default.removeItem(at: fresh) }
    try Self.write(plain, model, to: fresh)
    let other = try PersistentStore(at: .file(fresh))
    defer { other.close() }
    let (found, expected) = (try Self.export(store), try Self.export(other))
    for (found, expected) in zip(found.split(separator: "\n"), expected.split(separator: "\n"))
    where found != expected {
      throw Mismatch("The export of the migrated store has\n\(found)\nand not\n\(expected)")
    }
    if found != expected {
      throw Mismatch("The exports of the migrated store and of a new one differ in length.")
    }
  }

  /// Opens the store with another model and compares its contents, object by object.
  func open(
    with model: ManagedObjectModel, _ options: StoreOptions,
    _ change: (inout PlainObjects) -> Void
  ) throws {
    let store = try PersistentStore(model: model, at: .file(url), options: options)
    defer { store.close() }
    self.model = model
    change(&plain)
    try compare(store)
  }

  /// Creates a store from a copy of another one.
  init(_ copy: Copy) throws {
    folder = try TemporaryFolder()
    (model, plain) = (copy.model, copy.plain)
    try copy.bytes.write(to: url)
  }

  /// Returns a copy of the store in its current state.
  func copy() throws -> Copy { Copy(model: model, plain: plain, bytes: try Data(contentsOf: url)) }

  struct Copy {
    let model: ManagedObjectModel
    let plain: PlainObjects
    let bytes: Data
  }

  /// Migrates the store to another model, reverts it to the former one, and expects its original
  /// contents.
  private func goThereAndBack(_ model: ManagedObjectModel, _ options: StoreOptions) throws {
    let original = try Data(contentsOf: url)
    try PersistentStore(model: model, at: .file(url), options: options).close()
    if model.fingerprint == self.model.fingerprint {
      try original.write(to: url)
    } else {
      try PersistentStore.revertMigration(url)
    }
    let refusing = StoreOptions(migration: .refuse)
    do {
      let store = try PersistentStore(model: self.model, at: .file(url), options: refusing)
      defer { store.close() }
      try compare(store)
    }
    // A default that replaced `nil` is not reverted to `nil`.
    let changes = self.model.difference(to: model).changes
    if model.fingerprint == self.model.fingerprint
      || changes.contains(where: { $0.description.contains("mandatory") })
    {
      return
    }
    try goBackOverCommits(model, options)
    let store = try PersistentStore(model: self.model, at: .file(url), options: refusing)
    defer { store.close() }
    try compare(store)
  }

  /// Does the same with commits of the other model in between, which leave the objects as they
  /// were. Changes that cannot be reverted over later commits are refused.
  private func goBackOverCommits(_ model: ManagedObjectModel, _ options: StoreOptions) throws {
    let original = try Data(contentsOf: url)
    do {
      let store = try PersistentStore(model: model, at: .file(url), options: options)
      defer { store.close() }
      let context = store.makeContext()
      for entity in model.entities where !entity.isAbstract {
        let object = try context.insert(entity.name)
        object["id"] = Int64(-1)
        do {
          try context.commit()
          context.delete(object)
          try context.commit()
        } catch {
          // Objects of the entity need further values.
          context.rollback()
        }
      }
    }
    let former = URL(filePath: url.path + "-before")
    do {
      try PersistentStore.revertMigration(url, dropping: .everythingRemoved)
    } catch {
      guard error.code == .notAllowed else { throw error }
      try? FileManager.default.removeItem(at: former)
      try original.write(to: url)
    }
  }

  /// Returns the error that opening the store with a model throws; expects that the store is
  /// unchanged.
  ///
  /// - Parameter begins: Whether the migration starts before it is abandoned, so that its marker
  ///   was written to the store.
  func refusal(
    of model: ManagedObjectModel, _ options: StoreOptions = StoreOptions(), begins: Bool = false
  ) throws -> ArborError {
    let before = try Data(contentsOf: url)
    do {
      try PersistentStore(model: model, at: .file(url), options: options).close()
    } catch {
      if !begins { #expect(try Data(contentsOf: url) == before) }
      try compare()
      return error
    }
    throw ArborError(.invalidArgument, "The store was opened.")
  }

  /// Applies `body` to the store and the expected contents, and commits.
  func change(
    _ body: (ManagedObjectContext, inout PlainObjects) throws -> Void
  ) throws {
    let store = try PersistentStore(
      model: model, at: .file(url), options: StoreOptions(durability: .relaxed))
    defer { store.close() }
    let context = store.makeContext()
    try body(context, &plain)
    try context.commit()
    try compare(store)
  }

  private func compare() throws {
    let store = try PersistentStore(
      model: model, at: .file(url), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    try compare(store)
  }

  private func compare(_ store: PersistentStore) throws {
    try store.check()
    #expect(store.model == model)
    let found = try Self.read(store)
    for entity in Set(found.values.keys).union(plain.values.keys).sorted() {
      let (values, expected) = (found.values[entity] ?? [:], plain.values[entity] ?? [:])
      if values.count != expected.count {
        throw Mismatch("\(values.count) of \(entity) instead of \(expected.count)")
      }
      for (id, expected) in expected {
        for name in Set(expected.keys).union((values[id] ?? [:]).keys) {
          guard values[id]?[name] != expected[name] else { continue }
          throw Mismatch(
            "\(entity) \(id).\(name) is \(Self.words(values[id]?[name])) instead of "
              + Self.words(expected[name]))
        }
      }
      for (id, links) in plain.links[entity] ?? [:] {
        for (name, links) in links where found.links[entity]?[id]?[name] ?? [] != links {
          throw Mismatch(
            "\(entity) \(id).\(name) leads to \(found.links[entity]?[id]?[name] ?? []) instead "
              + "of \(links)")
        }
      }
    }
  }

  /// A difference between a store and its expected contents.
  struct Mismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private static func words(_ value: PropertyValue?) -> String {
    if case .binary(let data)? = value { return "\(Array(data.prefix(8)))" }
    return value.map { "\($0)" } ?? "nothing"
  }

  // MARK: Stores and plain objects

  private static func properties(
    of entity: EntityDescription, _ model: ManagedObjectModel
  ) -> (attributes: [AttributeDescription], relationships: [RelationshipDescription]) {
    var lineage = [entity]
    while let parent = lineage[0].parent.flatMap(model.entity(named:)) {
      lineage.insert(parent, at: 0)
    }
    return (
      lineage.flatMap(\.attributes).filter { !$0.isTransient && $0.derivation == nil },
      lineage.flatMap(\.relationships)
    )
  }

  private static func objects(
    _ entity: String, _ context: ManagedObjectContext
  ) throws -> [ManagedObject] {
    var request = FetchRequest<ManagedObject>(entity: entity, sortKeys: ["id"])
    request.includesSubentities = false
    return try context.fetch(request)
  }

  static func read(_ store: PersistentStore) throws -> PlainObjects {
    let context = store.makeContext()
    var plain = PlainObjects()
    for entity in store.model.entities where !entity.isAbstract {
      let (attributes, relationships) = properties(of: entity, store.model)
      for object in try objects(entity.name, context) {
        let id: Int64 = object["id"]
        for attribute in attributes {
          plain.values[entity.name, default: [:]][id, default: [:]][attribute.name] =
            object[attribute.name] as PropertyValue
        }
        for relationship in relationships {
          let ids: [Int64] =
            relationship.isToMany
            ? (object[relationship.name] as [ManagedObject]).map { $0["id"] }
            : (object[relationship.name] as ManagedObject?).map { [$0["id"]] } ?? []
          plain.links[entity.name, default: [:]][id, default: [:]][relationship.name] =
            relationship.isOrdered ? ids : ids.sorted()
        }
      }
    }
    return plain
  }

  static func write(_ plain: PlainObjects, _ model: ManagedObjectModel, to url: URL) throws {
    let store = try PersistentStore(
      model: model, at: .file(url), options: StoreOptions(durability: .relaxed))
    defer { store.close() }
    let context = store.makeContext()
    var objects: [Int64: ManagedObject] = [:]
    for (entity, values) in plain.values.sorted(by: { $0.key < $1.key }) {
      for (id, values) in values.sorted(by: { $0.key < $1.key }) {
        let object = try context.insert(entity)
        for (name, value) in values { object[name] = value }
        objects[id] = object
      }
    }
    for (entity, links) in plain.links {
      guard let description = model.entity(named: entity) else { continue }
      let relationships = properties(of: description, model).relationships
      for (id, links) in links {
        for (name, ids) in links {
          guard let relationship = relationships.first(where: { $0.name == name }) else { continue }
          let members = ids.compactMap { objects[$0] }
          if relationship.isToMany {
            objects[id]?[name] = members
          } else {
            objects[id]?[name] = members.first
          }
        }
      }
    }
    try context.commit()
    try store.check()
  }

  private static func export(_ store: PersistentStore) throws -> String {
    let context = store.makeContext()
    var text = ""
    for entity in store.model.entities where !entity.isAbstract {
      let objects = try objects(entity.name, context)
      text += String(decoding: try context.export(objects, as: .ndjson), as: UTF8.self)
    }
    return text
  }
}
