import ArborModel
import ArborObjects
import Foundation
import LMDB

/// Typical use of a store that is opened as usual: reads everything through every access path, and
/// changes some of everything.
///
/// Continues after an error, so that one case reaches many pages.
struct DamagedStore {
  /// A description of the first error thrown.
  private(set) var failure: String?
  /// The validation rules that changes violated; empty for a sound store.
  private(set) var brokenRules: [String] = []
  /// A hash of everything that was read.
  private(set) var digest: UInt64 = 14_695_981_039_346_656_037

  private mutating func attempt(_ body: (inout DamagedStore) throws -> Void) {
    do { try body(&self) } catch {
      // A changed value may violate a rule, which doesn't indicate that damage was found.
      if let error = error as? ArborError, error.code == .validation {
        brokenRules.append("\(error)")
        return fold("\(error)")
      }
      failure = failure ?? "\(error)"
    }
  }

  private mutating func fold(_ text: String) {
    for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 1_099_511_628_211 }
    digest = (digest ^ 255) &* 1_099_511_628_211
  }

  /// - Parameter model: The model to open the store with; `nil` for the file's own.
  /// - Throws: The error that prevents the store from being opened.
  private static func open(
    _ path: String, _ model: ManagedObjectModel? = nil
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.durability = .relaxed
    options.initialMapSize = 1 << 26
    guard let model else { return try PersistentStore(at: .path(path), options: options) }
    return try PersistentStore(model: model, at: .path(path), options: options)
  }

  /// Opens a store and reads everything.
  static func read(_ path: String) throws -> DamagedStore {
    let store = try open(path)
    defer { store.close() }
    var use = DamagedStore()
    use.read(store)
    return use
  }

  /// Opens a store, changes some of everything, and reads the result.
  static func change(_ path: String) throws -> DamagedStore {
    var use = DamagedStore()
    let original: ManagedObjectModel
    do {
      let store = try open(path)
      defer { store.close() }
      original = store.model
      for entity in store.model.entities where !entity.isAbstract {
        use.change(entity.name, Properties(of: entity, original), store.makeContext())
      }
    }
    use.attempt { use in
      let store = try open(path, Self.indexed(original))
      defer { store.close() }
      use.attempt { _ in _ = try store.makeContext().objects("Badge").delete() }
      use.read(store)
    }
    // Opening with the original model drops the additional indexes.
    use.attempt { use in
      let store = try open(path, original)
      defer { store.close() }
      let context = store.makeContext()
      for entity in ["Task", "Employee"] {
        use.attempt { try $0.removeAll(entity, context) }
      }
      use.read(store)
    }
    return use
  }

  /// Opens a store and scrubs it.
  ///
  /// - Returns: Whether the scrub found damage.
  /// - Throws: The error that prevents the store from being opened.
  static func isFoundByScrub(_ path: String) throws -> Bool {
    let store = try open(path)
    defer { store.close() }
    do throws(ArborError) { try store.scrub() } catch { return error.code == .corrupted }
    return false
  }

  private mutating func removeAll(_ entity: String, _ context: ManagedObjectContext) throws {
    for object in try context.fetch(entity) { context.delete(object) }
    try context.commit()
  }

  /// Returns the model with an additional index of every attribute whose values have an order.
  private static func indexed(_ model: ManagedObjectModel) -> ManagedObjectModel {
    var model = model
    for index in model.entities.indices {
      for attribute in model.entities[index].attributes where attribute.type != .binary {
        model.entities[index].fetchIndexes.append(
          FetchIndexDescription(
            name: "late\(attribute.name)", elements: [.init(attribute.name)]))
      }
    }
    return model
  }

  // MARK: Reading

  private mutating func read(_ store: PersistentStore) {
    let context = store.makeContext()
    for entity in store.model.entities {
      attempt { $0.fold("\(entity.name) \(try context.count(entity.name))") }
      guard !entity.isAbstract else { continue }
      attempt { use in
        let properties = Properties(of: entity, store.model)
        for object in try context.fetch(entity.name) { use.read(object, properties) }
      }
      // Binary data has no order.
      for attribute in Properties(of: entity, store.model).attributes
      where attribute.type != .binary {
        for isAscending in [true, false] {
          attempt { try $0.fetch(entity.name, by: attribute.name, isAscending, context) }
        }
      }
    }
  }

  private mutating func read(_ object: ManagedObject, _ properties: Properties) {
    for attribute in properties.attributes {
      attempt { $0.fold("\(try object.value(forKey: attribute.name))") }
    }
    for relationship in properties.relationships {
      let name = relationship.name
      attempt { use in
        guard relationship.isToMany else {
          return use.fold(try object.object(forKey: name).map { "\($0.objectID)" } ?? "")
        }
        use.fold("\(try object.objects(forKey: name).count())")
        let members = try object.objects(forKey: name).fetch().map { "\($0.objectID)" }
        for member in relationship.isOrdered ? members : members.sorted() { use.fold(member) }
      }
    }
  }

  private mutating func fetch(
    _ entity: String, by attribute: String, _ isAscending: Bool, _ context: ManagedObjectContext
  ) throws {
    var request = FetchRequest<ManagedObject>(
      entity: entity, sortKeys: [SortKey(attribute, isAscending: isAscending)])
    let objects = try context.fetch(request)
    for object in objects { fold("\(object.objectID)") }
    for object in [objects.first, objects.last] {
      guard let value = try object?.value(forKey: attribute) else { continue }
      for format in ["\(attribute) == %@", "\(attribute) > %@", "\(attribute) <= %@"] {
        attempt { use in
          request.predicate = try FetchPredicate(format: format, arguments: [value])
          use.fold("\(try context.count(request))")
          request.fetchLimit = 5
          use.fold("\(try context.fetch(request).count)")
          request.fetchLimit = 0
        }
      }
    }
  }

  // MARK: Changing

  private mutating func change(
    _ entity: String, _ properties: Properties, _ context: ManagedObjectContext
  ) {
    attempt { use in
      let objects = try context.fetch(entity)
      for (index, object) in objects.enumerated() where index % 3 == 0 {
        if index % 9 == 0, index > 0 {
          context.delete(object)
          continue
        }
        for attribute in properties.attributes where attribute.type == .string {
          use.attempt { _ in
            try object.setValue(
              .string("\(entity) \(attribute.name) \(index)"), forKey: attribute.name)
          }
        }
        let other = objects[(index + 1) % objects.count]
        for relationship in properties.relationships {
          use.attempt { _ in try Self.relink(object, other, relationship) }
        }
      }
    }
    attempt { _ in try context.commit() }
    context.rollback()
    attempt { _ in
      for index in 0..<20 {
        let object = try context.insert(entity)
        for relationship in properties.relationships
        where !relationship.isToMany && relationship.name != "badge" {
          let targets = try context.fetch(relationship.destination)
          guard !targets.isEmpty else { continue }
          try object.setObject(targets[index % targets.count], forKey: relationship.name)
        }
        for attribute in properties.attributes where attribute.type == .string {
          try object.setValue(.string("new \(entity) \(index)"), forKey: attribute.name)
        }
        if properties.attributes.contains(where: { $0.name == "employeeID" }) {
          let number = Int64(100_000 + 1000 * entity.count + index)
          try object.setValue(.integer(number), forKey: "employeeID")
        }
      }
      try context.commit()
    }
    context.rollback()
  }

  private static func relink(
    _ object: ManagedObject, _ other: ManagedObject, _ relationship: RelationshipDescription
  ) throws {
    let name = relationship.name
    if relationship.isToMany {
      let members = try other.objects(forKey: name).fetch()
      try object.objects(forKey: name).replaceAll(with: Array(members.prefix(5)))
      if let first = members.first { try other.objects(forKey: name).remove(first) }
    } else if let target = try other.object(forKey: name) {
      try object.setObject(target, forKey: name)
    }
  }
}

/// The attributes and relationships of an entity, including inherited ones.
private struct Properties {
  let attributes: [AttributeDescription]
  let relationships: [RelationshipDescription]

  init(of entity: EntityDescription, _ model: ManagedObjectModel) {
    let lineage = model.lineage(of: entity)
    attributes = lineage.flatMap(\.attributes)
    relationships = lineage.flatMap(\.relationships)
  }
}
