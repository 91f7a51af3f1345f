import ArborLog
import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborObjects

/// Changes of the model in place, which are commits: backed up, restored and followed.
@Suite struct FolderLogModelChangesTests {
  private let folder: TemporaryFolder
  private let log: FolderLog

  init() throws {
    folder = try TemporaryFolder()
    log = FolderLog(folder.url.appending(path: "log"))
  }

  private func model(_ attributes: [String], _ version: Int = 1) -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note",
        attributes: attributes.map {
          AttributeDescription(name: $0, type: .string, isOptional: true)
        })
    ])
  }

  private func open(_ name: String, _ model: ManagedObjectModel? = nil) throws -> PersistentStore {
    var options = StoreOptions()
    options.migration = .automatic(dropping: .everythingRemoved)
    let location = StoreLocation.path(folder.path("\(name).arbor"))
    return try model.map { try PersistentStore(model: $0, at: location, options: options) }
      ?? PersistentStore(at: location, options: options)
  }

  private func insert(_ values: [String: String], _ store: PersistentStore) throws {
    let context = store.makeContext()
    let note = try context.insert("Note")
    for (name, value) in values { note[name] = value }
    try context.commit()
  }

  private func restored(_ point: RestorePoint) throws -> StoreState {
    let name = UUID().uuidString
    try PersistentStore.restore(
      from: log, to: folder.url.appending(path: "\(name).arbor"), at: point)
    let store = try open(name)
    defer { store.close() }
    try store.check()
    return try StoreState(store)
  }

  @Test("A change of the model and its reversal are backed up, restored and followed")
  func migrationAndReversal() throws {
    var store = try open("a", model(["text", "secret"]))
    try insert(["text": "a", "secret": "s"], store)
    try store.backUp(to: log)
    let path = folder.path("replica.arbor")
    var replica = try PersistentStore(following: log, at: .path(path), every: .seconds(3600))
    let before = try StoreState(store)
    #expect(try StoreState(replica) == before)
    store.close()

    store = try open("a", model(["text"]))
    #expect(store.sequence == 2)
    let after = try StoreState(store)
    #expect(after != before)
    #expect(try store.backUp(to: log) == .init(isSnapshot: true, commits: 1, sequence: 2))
    #expect(try store.backUp(to: log) == .init(isSnapshot: false, commits: 0, sequence: 2))
    try log.verify()
    #expect(try restored(.newest) == after)
    #expect(try restored(.sequence(1)) == before)
    let error = #expect(throws: ArborError.self) { try replica.catchUp() }
    #expect(error?.code == .modelChanged)
    #expect(
      error?.message == "The log \(folder.path("log")) continues with another model. The store can "
        + "still be read. Close and reopen it to rebuild it from the log's newest snapshot.")
    #expect(try StoreState(replica) == before)
    replica.close()
    replica = try PersistentStore(following: log, at: .path(path), every: .seconds(3600))
    #expect(try StoreState(replica) == after)
    store.close()

    try PersistentStore.revertMigration(URL(filePath: folder.path("a.arbor")))
    store = try open("a", model(["text", "secret"]))
    #expect(store.sequence == 3)
    #expect(try StoreState(store) == before)
    #expect(try store.backUp(to: log) == .init(isSnapshot: true, commits: 1, sequence: 3))
    #expect(try restored(.newest) == before)
    #expect(try restored(.sequence(2)) == after)
    replica.close()
    replica = try PersistentStore(following: log, at: .path(path), every: .seconds(3600))
    #expect(try StoreState(replica) == before)
    for store in [store, replica] {
      try store.check()
      store.close()
    }
  }

  @Test("Every commit between two changes of the model can be restored from one later backup")
  func twoChangesWithoutBackup() throws {
    var states: [UInt64: StoreState] = [:]
    var store = try open("a", model(["a"]))
    try insert(["a": "1"], store)
    try store.backUp(to: log)
    for attributes in [["b"], ["b", "c"], ["c"]] {
      states[store.sequence] = try StoreState(store)
      store.close()
      store = try open("a", model(attributes))
      for number in 0..<3 {
        states[store.sequence] = try StoreState(store)
        try insert([attributes[0]: "\(number)"], store)
      }
    }
    states[store.sequence] = try StoreState(store)
    #expect(try store.backUp(to: log) == .init(isSnapshot: true, commits: 12, sequence: 13))
    try log.verify()
    #expect(states.count == 13)
    for (sequence, state) in states { #expect(try restored(.sequence(sequence)) == state) }
    #expect(try restored(.newest) == states[13])
    try store.check()
    store.close()
  }

  @Test("Reverting a migration in a copy is backed up, and never repeats the number of a commit")
  func reversalOfMigrationInCopy() throws {
    let former = model(["a", "b"])
    let newer = model(["a"])
    var store = try open("a", former)
    try insert(["a": "1", "b": "2"], store)
    try store.backUp(to: log)
    let before = try StoreState(store)
    store.close()
    var options = StoreOptions()
    options.migration = .automatic(dropping: .everythingRemoved)
    options.migrationSteps = [
      MigrationStep(from: former, to: newer) { migration in
        try migration.migrate("Note") { old, new in new["a"] = "was \(old["a"] as String)" }
      }
    ]
    store = try PersistentStore(
      model: newer, at: .path(folder.path("a.arbor")), options: options)
    #expect(try store.backUp(to: log).isSnapshot)
    let migrated = store.sequence
    #expect(try restored(.newest) == StoreState(store))
    store.close()
    try PersistentStore.revertMigration(URL(filePath: folder.path("a.arbor")))
    store = try open("a", former)
    #expect(store.sequence > migrated)
    #expect(try StoreState(store) == before)
    #expect(try store.backUp(to: log).isSnapshot)
    #expect(try restored(.newest) == before)
    #expect(try restored(.sequence(1)) == before)
    try store.check()
    store.close()
  }

  @Test("A change of the model isn't replayed in a store that is at another commit")
  func otherCommit() throws {
    var store = try open("a", model(["a"]))
    try insert(["a": "1"], store)
    try store.backUp(to: log)
    store.close()
    store = try open("a", model(["a", "b"]))
    store.close()
    let change = try kept(in: folder.path("a.arbor"), 2)
    // A store that has already had another commit with the number of the change.
    let other = try open("other", model(["a"]))
    for text in ["1", "2"] { try insert(["a": text], other) }
    other.close()
    let path = folder.path("other.arbor")
    let bytes = try Data(contentsOf: URL(filePath: path))
    let error = #expect(throws: StoreError.self) { try StoreEngine.replay(change, at: path) }
    guard case .corrupted(_, _, let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(
      what == "The log's commit 2, a change of the model, doesn't lead to the same model here as "
        + "in the original store. Restore an earlier commit, or one after the next snapshot.")
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    // In a store in the same state it is.
    let same = try open("same", model(["a"]))
    try insert(["a": "1"], same)
    same.close()
    try StoreEngine.replay(change, at: folder.path("same.arbor"))
    let reopened = try open("same", model(["a", "b"]))
    #expect(reopened.sequence == 2)
    try reopened.check()
    reopened.close()
  }

  /// Returns a change of the model that a store keeps for its log.
  private func kept(in path: String, _ sequence: UInt64) throws -> LoggedModelChange {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    let snapshot = try file.logSnapshot()
    defer { snapshot.close() }
    var change: LoggedModelChange?
    _ = try snapshot.forEachLogged(after: sequence - 1) { (found, bytes) in
      if found == sequence { change = LoggedModelChange(bytes, sequence: found) }
      return false
    }
    return try #require(change)
  }

  @Test(
    "Any commit of a random history with changes of the model can be restored",
    arguments: 0..<TestLength.of(20, long: 1000))
  func randomHistories(round: Int) throws {
    var history = try ModelHistory(folder, log)
    for _ in 0..<40 { try history.next() }
    try history.finish()
    let (seed, states) = (history.random.seed, history.states)
    try log.verify()
    #expect(states.count > 20)
    for (sequence, state) in states
    where TestLength.isLong || (sequence + UInt64(round)) % 4 == 0 {
      #expect(try restored(.sequence(sequence)) == state, "commit \(sequence), seed \(seed)")
    }
    let newest = try #require(states.keys.max())
    #expect(try restored(.newest) == states[newest], "seed \(seed)")
    // The comparison detects another commit's state.
    let different = states.values.filter { $0 != states[newest] }
    #expect(!different.isEmpty)
  }
}

/// The model and the contents of a store.
private struct StoreState: Hashable {
  private let model: String
  private let objects: [String]

  init(_ store: PersistentStore) throws {
    let context = store.makeContext()
    model = "\(store.model.fingerprint)"
    objects = try context.withSnapshot {
      var lines: [String] = []
      for entity in store.model.entities {
        for object in try context.fetch(entity.name) {
          var line = "\(entity.name) \(object.objectID.number)"
          for attribute in entity.attributes {
            line += " \(attribute.name)=\(try object.value(forKey: attribute.name))"
          }
          for relationship in entity.relationships {
            let members =
              relationship.isToMany
              ? try object.objects(forKey: relationship.name).fetch()
              : try object.object(forKey: relationship.name).map { [$0] } ?? []
            line += " \(relationship.name)=\(members.map(\.objectID.number).sorted())"
          }
          lines.append(line)
        }
      }
      return lines.sorted()
    }
  }
}

/// A random history of commits, changes of the model in place, reversals, confirmations and backups,
/// and the state after each commit.
private struct ModelHistory {
  private static let names = ["a", "b", "c", "d"]

  private let path: String
  private let log: FolderLog
  private var store: PersistentStore
  /// The models that the store has had, oldest first.
  private var number = 0
  var random = SeededRandom()
  private(set) var states: [UInt64: StoreState] = [:]

  init(_ folder: TemporaryFolder, _ log: FolderLog) throws {
    path = folder.path("store.arbor")
    self.log = log
    store = try PersistentStore(
      model: Self.model(attributes: ["a", "b"], indexed: [], withTags: true), at: .path(path))
    try store.backUp(to: log)
    try record()
  }

  private static func model(
    attributes: [String], indexed: Set<String>, withTags: Bool
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Item") {
        for name in attributes {
          if indexed.contains(name) {
            AttributeDescription(name, .string, .optional, .indexed)
          } else {
            AttributeDescription(name, .string, .optional)
          }
        }
        AttributeDescription("number", .integer64, .default(7))
        if withTags {
          RelationshipDescription("tags", to: "Tag", inverse: "items", .toMany)
        }
      }
      if withTags {
        EntityDescription("Tag") {
          AttributeDescription("name", .string, .optional)
          RelationshipDescription("items", to: "Item", inverse: "tags", .toMany)
        }
      }
    }
  }

  private mutating func record() throws { states[store.sequence] = try StoreState(store) }

  private mutating func happens(_ rate: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < rate
  }

  mutating func next() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<55: try commit()
    case ..<75: try changeModel()
    case ..<85: try revert()
    case ..<88:
      try store.confirmMigration()
      try record()
    default: try store.backUp(to: log)
    }
  }

  private mutating func commit() throws {
    let context = store.makeContext()
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let items = try context.fetch("Item").map { $0 }
      let item =
        happens(50) ? try context.insert("Item") : items.randomElement(using: &random)
      guard let item else { continue }
      if happens(10) {
        context.delete(item)
        continue
      }
      item["number"] = Int.random(in: 0..<100, using: &random)
      for name in Self.names
      where store.model.entity(named: "Item")?.attributes.contains(where: {
        $0.name == name
      }) == true && happens(50) {
        item[name] = "\(Int.random(in: 0..<10, using: &random))"
      }
      if store.model.entity(named: "Tag") != nil, happens(40) {
        try item.objects(forKey: "tags").insert(context.insert("Tag"))
      }
    }
    try context.commit()
    try record()
  }

  private mutating func changeModel() throws {
    store.close()
    let attributes = Self.names.filter { _ in happens(60) }
    let indexed = Set(attributes.filter { _ in happens(30) })
    var options = StoreOptions()
    options.migration = .automatic(dropping: .everythingRemoved)
    store = try PersistentStore(
      model: Self.model(attributes: attributes, indexed: indexed, withTags: happens(60)),
      at: .path(path), options: options)
    try record()
  }

  private mutating func revert() throws {
    store.close()
    do throws(ArborError) {
      try PersistentStore.revertMigration(
        URL(filePath: path), dropping: .everythingRemoved)
    } catch {
      guard error.code == .notAllowed else { throw error }
    }
    store = try PersistentStore(at: .path(path))
    try record()
  }

  mutating func finish() throws {
    try store.backUp(to: log)
    try store.check()
    store.close()
  }
}
