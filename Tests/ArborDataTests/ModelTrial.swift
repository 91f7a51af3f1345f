import ArborData
import Foundation
import TestSupport
import Testing

/// A store that is migrated from one model to another, with its expected contents.
struct ModelTrial {
  /// The operation that follows the migration.
  enum Ending: CaseIterable {
    /// The migration is reverted immediately.
    case revert
    /// The migration is reverted after commits with the newer model.
    case revertOverCommits
    /// The store is migrated to the former model as if to a newer version.
    case back
    case copy
    case compactCopy
    case backUp
    case salvage
  }

  let old: ManagedObjectModel
  let new: ManagedObjectModel
  /// The contents before the migration.
  let before: PlainObjects
  /// The contents after the migration.
  let after: PlainObjects
  /// The contents after migrating back; `nil` if the models don't determine them.
  var returned: PlainObjects?
  /// The relationships, as `Entity.relationship`, whose order of members is unspecified.
  var freeOrders: Set<String> = []
  private let folder: TemporaryFolder

  init(
    from old: ManagedObjectModel, _ before: PlainObjects, to new: ManagedObjectModel,
    _ after: PlainObjects
  ) throws {
    (self.old, self.before, self.new, self.after) = (old, before, new, after)
    folder = try TemporaryFolder()
  }

  /// Returns an equal trial with a store of its own.
  func fresh() throws -> ModelTrial {
    var trial = try ModelTrial(from: old, before, to: new, after)
    (trial.returned, trial.freeOrders) = (returned, freeOrders)
    return trial
  }

  private var url: URL { folder.url.appending(path: "trial.arbor") }

  private static let options = StoreOptions(
    migration: .automatic(dropping: .everythingRemoved), durability: .relaxed)

  /// Migrates the store, compares its contents, writes to every entity, and performs an ending.
  func run(_ ending: Ending, _ random: inout SeededRandom) throws {
    try EvolvingStore.write(before, old, to: url)
    try open(new) { store in try compare(store, after) }
    switch ending {
    case .revert:
      try revert { try compare($0, before) }
      return
    case .back:
      guard let returned else { return }
      try open(old) { store in try compare(store, returned) }
      return
    default: break
    }
    let written = try open(new) { store in try Self.edit(store, &random) }
    try open(new) { store in
      try compare(store, written)
      try end(ending, store, written)
    }
    if ending == .revertOverCommits { try revert { _ in } }
  }

  private func end(_ ending: Ending, _ store: PersistentStore, _ written: PlainObjects) throws {
    let copy = folder.url.appending(path: "copy.arbor")
    switch ending {
    case .copy, .compactCopy: try store.copy(to: copy, compacting: ending == .compactCopy)
    case .backUp:
      let log = FolderLog(folder.url.appending(path: "log"))
      _ = try store.backUp(to: log)
      _ = try PersistentStore.restore(from: log, to: copy)
    case .salvage:
      store.close()
      let report = try PersistentStore.salvage(url, to: copy)
      if !report.isComplete { throw EvolvingStore.Mismatch("The salvage lost data:\n\(report)") }
    default: return
    }
    var full = StoreOptions()
    full.verification = .full
    let opened = try PersistentStore(model: new, at: .file(copy), options: full)
    defer { opened.close() }
    try compare(opened, written)
  }

  private func open<R>(
    _ model: ManagedObjectModel, _ body: (PersistentStore) throws -> R
  ) throws -> R {
    let store = try PersistentStore(model: model, at: .file(url), options: Self.options)
    defer { store.close() }
    return try body(store)
  }

  /// Reverts to the former model. If there were later commits, a refusal that lists violations is
  /// accepted.
  private func revert(_ body: (PersistentStore) throws -> Void) throws {
    guard old.fingerprint != new.fingerprint else { return }
    do {
      try PersistentStore.revertMigration(url, dropping: .everythingRemoved)
    } catch {
      guard error.code == .notAllowed, !error.violations.isEmpty else { throw error }
      return
    }
    let refusing = StoreOptions(migration: .refuse)
    let store = try PersistentStore(model: old, at: .file(url), options: refusing)
    defer { store.close() }
    try store.check()
    _ = try EvolvingStore.read(store)
    try body(store)
  }

  // MARK: Comparing

  private func compare(_ store: PersistentStore, _ expected: PlainObjects) throws {
    try store.check()
    let (found, expected) = (sorted(try EvolvingStore.read(store)), sorted(expected))
    for entity in Set(found.values.keys).union(expected.values.keys).sorted() {
      let ids = Set((found.values[entity] ?? [:]).keys)
        .union((expected.values[entity] ?? [:]).keys)
      for id in ids.sorted() {
        let (values, wanted) = (found.values[entity]?[id], expected.values[entity]?[id])
        if values != wanted {
          throw EvolvingStore.Mismatch(
            "\(entity) \(id) is \(Self.words(values)) instead of \(Self.words(wanted))")
        }
        let (links, wantedLinks) = (found.links[entity]?[id], expected.links[entity]?[id])
        for name in Set((links ?? [:]).keys).union((wantedLinks ?? [:]).keys).sorted()
        where links?[name] ?? [] != wantedLinks?[name] ?? [] {
          throw EvolvingStore.Mismatch(
            "\(entity) \(id).\(name) leads to \(links?[name] ?? []) instead of "
              + "\(wantedLinks?[name] ?? [])")
        }
      }
    }
  }

  private func sorted(_ plain: PlainObjects) -> PlainObjects {
    var plain = plain
    for name in freeOrders {
      let parts = name.split(separator: ".").map(String.init)
      plain.changeLinks(parts[0]) { $0[parts[1]]?.sort() }
    }
    return plain
  }

  private static func words(_ values: [String: PropertyValue]?) -> String {
    guard let values else { return "nothing" }
    return values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      .joined(separator: ", ")
  }

  // MARK: Writing

  /// Inserts an object of each entity, changes values and links, and inserts or deletes one object.
  static func edit(
    _ store: PersistentStore, _ random: inout SeededRandom
  ) throws -> PlainObjects {
    let (context, model) = (store.makeContext(), store.model)
    var id: Int64 = 100_000
    let entities = model.entities.filter { !$0.isAbstract }
    for entity in entities {
      id += 1
      let object = try context.insert(entity.name)
      object["id"] = id
    }
    try context.commit()
    for entity in entities {
      for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity.name))
      where Bool.random(using: &random) {
        for owner in model.lineage(of: entity) {
          for attribute in owner.attributes
          where attribute.name != "id" && Bool.random(using: &random) {
            object[attribute.name] = PlainValues.value(attribute.type, &random)
          }
          for relationship in owner.relationships where Bool.random(using: &random) {
            let targets = try context.fetch(
              FetchRequest<ManagedObject>(entity: relationship.destination, sortKeys: ["id"])
            ).shuffled(using: &random)
            if relationship.isToMany {
              object[relationship.name] = Array(targets.prefix(2))
            } else {
              object[relationship.name] = targets.first
            }
          }
        }
      }
    }
    try context.commit()
    if let entity = entities.randomElement(using: &random),
      let object = try context.fetch(
        FetchRequest<ManagedObject>(entity: entity.name, sortKeys: ["id"])
      ).randomElement(using: &random)
    {
      context.delete(object)
      try context.commit()
    }
    return try EvolvingStore.read(store)
  }
}

/// Random attribute values.
enum PlainValues {
  static func value(_ type: AttributeType, _ random: inout SeededRandom) -> PropertyValue {
    let number = Int64.random(in: -9...9, using: &random)
    return switch type {
    case .boolean: .boolean(number > 0)
    case .string: .string("text \(number)\(number > 6 ? ", longer than an entry" : "")")
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) / 4))
    case .double: .double(Double(number) / 4)
    default: .integer(number)
    }
  }
}
