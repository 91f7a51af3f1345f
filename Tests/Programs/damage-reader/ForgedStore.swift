import ArborModel
import ArborObjects
import ArborStore
import Foundation
import LMDB

/// Typical use of a store file: opens it, reads all of it, checks it, and writes to it.
///
/// Any step may throw, but none may crash the process.
enum ForgedStore {
  /// The outcome of using a file.
  enum Result: String {
    case refused
    /// The check or an operation after opening reported an error.
    case found
    /// No error was reported, which is correct if the forged file is a sound store with other
    /// contents.
    case passed
  }

  /// Uses the file through the engine, without verification. Leaves unfinished index builds as they
  /// are; the other uses complete them first.
  static func useQuickly(_ path: String) -> Result {
    var opening = StoreOpening(.file(path), model: nil)
    opening.looksForDamage = false
    opening.isDurable = false
    opening.initialMapSize = 1 << 26
    opening.indexBuilds = .left
    guard let store = try? StoreEngine.open(opening) else { return .refused }
    defer { store.close() }
    var result = Result.passed
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { result = .found }
    }
    attempt { try read(store) }
    for entity in store.schema.entities where !entity.isAbstract {
      attempt { _ = try store.takeNumbers(1, for: entity) }
    }
    attempt { _ = try store.takeUniqueIDs(1) }
    attempt { if try !store.check().isSound { result = .found } }
    attempt { try change(store) }
    attempt { if try !store.check().isSound { result = .found } }
    attempt { try store.purge() }
    return result
  }

  private static func read(_ store: StoreEngine) throws {
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    _ = try snapshot.indexes()
    _ = try snapshot.history(after: 0)
    _ = try snapshot.nextEntry(after: 0)
    let allocator = SlabAllocator()
    for entity in store.schema.entities where !entity.isAbstract {
      // A forged key may refer to an object of another entity, whose records have other fields.
      for number in try numbers(entity, store, snapshot) where number.entity == entity.number {
        guard let record = try? snapshot.record(number, allocator: allocator) else { continue }
        for field in entity.layout.fields { _ = record.value(field) }
        for relationship in entity.relationships where relationship.isToMany {
          _ = try? snapshot.members(relationship, of: number)
          _ = try? snapshot.memberCount(relationship, of: number)
        }
      }
    }
  }

  private static func numbers(
    _ entity: EntitySchema, _ store: StoreEngine, _ snapshot: StoreSnapshot
  ) throws -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    let cursor = try snapshot.reader.cursor(store.databases.records(entity.index))
    var entry = try cursor.first()
    while let found = entry {
      numbers.append(ObjectNumber(rawValue: found.integerKey))
      entry = try cursor.next()
    }
    return numbers
  }

  /// Rewrites the first objects of each entity and deletes the last one.
  private static func change(_ store: StoreEngine) throws {
    for entity in store.schema.entities where !entity.isAbstract {
      // One slab with room for all records.
      let allocator = SlabAllocator(slabSize: 1 << 20)
      let snapshot = try store.snapshot()
      let numbers = try numbers(entity, store, snapshot)
      var changes = ChangeSet()
      for number in numbers.prefix(3) {
        guard let record = try? snapshot.record(number, allocator: allocator) else { continue }
        let version = record.version
        changes.records.append(
          .update(
            number, from: version, RecordBuffer(copying: record.bytes, into: allocator).view,
            changedProperties: ChangeSet.RecordChange.otherProperties))
      }
      if numbers.count > 3, let last = numbers.last,
        let record = try? snapshot.record(last, allocator: allocator)
      {
        changes.records.append(.delete(last, from: record.version))
      }
      snapshot.close()
      withExtendedLifetime(allocator) { _ = try? store.commit(changes) }
    }
  }

  /// Uses the file through a program's objects, after a full verification.
  static func useVerified(_ path: String) -> Result {
    var options = StoreOptions()
    options.verification = .full
    options.durability = .relaxed
    options.initialMapSize = 1 << 26
    guard let store = try? PersistentStore(at: .path(path), options: options) else {
      return .refused
    }
    defer { store.close() }
    var result = Result.passed
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { result = .found }
    }
    let context = store.makeContext()
    for entity in store.model.entities where !entity.isAbstract {
      attempt { try read(entity.name, context) }
      attempt { try change(entity.name, context) }
      context.rollback()
    }
    attempt { _ = try store.uniqueIDs.next() }
    attempt { try store.check() }
    attempt { try store.purge() }
    return result
  }

  private static func read(_ entity: String, _ context: ManagedObjectContext) throws {
    _ = try context.count(entity)
    for object in try context.fetch(entity) {
      for name in object.entity.attributes.map(\.name) { _ = try object.value(forKey: name) }
      for relationship in object.entity.relationships {
        if relationship.isToMany {
          for member in try object.objects(forKey: relationship.name).fetch() {
            _ = member.objectID
          }
        } else {
          _ = try object.object(forKey: relationship.name)?.objectID
        }
      }
    }
  }

  private static func change(_ entity: String, _ context: ManagedObjectContext) throws {
    let objects = try context.fetch(entity)
    for object in objects.prefix(2) {
      for attribute in object.entity.attributes where attribute.derivation == nil {
        let value = try object.value(forKey: attribute.name)
        try object.setValue(.null, forKey: attribute.name)
        try object.setValue(value, forKey: attribute.name)
      }
    }
    if objects.count > 3, let last = objects.last { context.delete(last) }
    try context.commit()
    // Fails if there are mandatory attributes.
    _ = try context.insert(entity)
    try? context.commit()
  }
}
