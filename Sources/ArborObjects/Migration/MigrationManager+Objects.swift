public import ArborModel
internal import ArborStore

extension MigrationManager {
  /// Throws if the task is cancelled. All methods that work with objects check this, too.
  public func checkCancellation() throws(ArborError) { try newContext.session.limitOperation() }

  // MARK: Objects

  /// Calls `body` with every object of an entity and its subentities, and its counterpart in the
  /// newer model.
  ///
  /// ```swift
  /// try migration.migrate("Book") { old, new in
  ///   new["title"] = (old["title"] as String).capitalized
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - entity: The entity's name in the older or the newer model. It may also be a parent entity
  ///     that was added in the newer model.
  ///   - body: A closure that receives the old object and the new one, which has the same number.
  /// - Throws: ``ArborError`` `unknownName` if the older model has no corresponding entity;
  ///   `notAllowed` if the newer model does not have it; errors thrown by `body`, annotated with
  ///   the object; errors of commits.
  /// - Complexity: Linear in the number of objects. Memory usage is limited to one batch.
  public func migrate(
    _ entity: String, _ body: (_ old: ManagedObject, _ new: ManagedObject) throws -> Void
  ) throws {
    let entities = try migratedEntities(entity)
    try call { lastDone in
      try self.passOfCode(over: entity, entities, behind: lastDone) { old, new in
        guard let new else { return }
        try body(old, new)
      }
    }
  }

  /// Calls `body` with every object of an entity of the older model and its subentities.
  ///
  /// ```swift
  /// try migration.forEach("Legacy") { old in
  ///   try migration.insert("Note")["text"] = old["text"] as String?
  /// }
  /// ```
  ///
  /// - Throws: ``ArborError`` `unknownName` if the older model has no corresponding entity; errors
  ///   thrown by `body`, annotated with the object; errors of commits.
  public func forEach(_ entity: String, _ body: (ManagedObject) throws -> Void) throws {
    let former = try oldEntity(entity)
    try call { lastDone in
      let entities = self.oldContext.session.schema.concreteEntities(of: former)
      try self.passOfCode(over: former.name, entities, behind: lastDone) { old, _ in
        try body(old)
      }
    }
  }

  /// Returns the counterpart of an old object in the newer model, or `nil` if it is not kept.
  ///
  /// - Throws: The same errors as a fetch.
  public func object(for old: ManagedObject) throws(ArborError) -> ManagedObject? {
    guard let id = newID(of: old) else { return nil }
    return try newContext.objects(with: [id]).first
  }

  /// Inserts an object of an entity of the newer model.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/insert(_:)-(String)``.
  @discardableResult
  public func insert(_ entity: String) throws(ArborError) -> ManagedObject {
    try newContext.insert(entity)
  }

  /// Returns the object of the newer model that has a value, or inserts one if there isn't any.
  /// Returns `nil` if the value is `nil`.
  ///
  /// ```swift
  /// new["author"] = try migration.insertOrFetch(
  ///   "Author", where: "name", equals: old["authorText"])
  /// ```
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/insertOrFetch(_:where:)-(String,_)``.
  /// - Complexity: That of a fetch for each value that isn't cached. Up to 65,536 values are
  ///   cached.
  public func insertOrFetch(
    _ entity: String, where property: String, equals value: PropertyValue
  ) throws(ArborError) -> ManagedObject? {
    if value.isNull { return nil }
    let key = ExistingKey(entity: entity, property: property, value: value)
    if let id = existing[key], let object = try newContext.objects(with: [id]).first {
      // Code may have changed the value in the meantime.
      if try object.value(forKey: property) == value { return object }
    }
    let object = try newContext.insertOrFetch(entity, where: [PropertyPath(property): value])
    if existing.count >= Self.maximumCacheSize { existing = [:] }
    existing[key] = object.objectID
    return object
  }

  private static var maximumCacheSize: Int { 65_536 }

  /// Deletes all objects of an entity of the newer model and its subentities, applying their delete
  /// rules.
  ///
  /// - Throws: ``ArborError`` `unknownName`; errors of commits.
  public func deleteAll(_ entity: String) throws {
    _ = try newContext.session.entity(named: entity)
    try call { _ in
      while true {
        var request = FetchRequest<ManagedObject>(entity: entity)
        request.fetchLimit = self.batchSize
        let objects = try self.newContext.fetch(request)
        for object in objects { self.newContext.delete(object) }
        guard objects.count == self.batchSize else { return }
        try self.commitBatch(at: nil)
      }
    }
  }

  /// Declares that an entity of the newer model is an entity of the older model under another name,
  /// if no renaming identifier does so.
  ///
  /// Call this first: the copy is recreated with the rename, and the closure starts over.
  ///
  /// - Throws: ``ArborError`` `unknownName`; `invalidArgument` if the newer model already contains
  ///   the entity under its name or a renaming identifier; an internal error that restarts the
  ///   migration, which the code must not catch.
  public func rename(entity former: String, to new: String) throws(ArborError) {
    let old = try oldContext.session.entity(named: former)
    let entity = try newContext.session.entity(named: new)
    if let name = models.newNames[old.name] {
      if name == entity.name { return }
      throw ArborError(
        .invalidArgument,
        "The entity \(former) already maps to \(name) in the newer model and cannot also map to "
          + "\(new). Remove the call, or set renaming identifiers."
      ).with(entity: former)
    }
    wantedRename = (former, new)
    throw ArborError(
      .notAllowed,
      "The entity \(former) is renamed to \(new), and the migration starts over. Don't catch this "
        + "error.")
  }

  private func oldEntity(_ name: String) throws(ArborError) -> EntitySchema {
    if let entity = oldEntityIfPresent(name) { return entity }
    return try oldContext.session.entity(named: name)
  }

  private func oldEntityIfPresent(_ name: String) -> EntitySchema? {
    let schema = oldContext.session.schema
    return schema.entity(named: name) ?? models.formerName(of: name).flatMap(schema.entity)
  }

  /// Returns the entities of the older model that correspond to the named entity of either model or
  /// to its subentities, and whose objects are in the copy.
  private func migratedEntities(_ name: String) throws(ArborError) -> [EntitySchema] {
    let schema = oldContext.session.schema
    let former = oldEntityIfPresent(name)
    let newName = former.map { models.newNames[$0.name] } ?? name
    guard let newName else {
      throw ArborError(
        .notAllowed,
        "The newer model has no counterpart of the entity \(name). Read its objects with forEach, "
          + "and insert new ones."
      ).with(entity: name)
    }
    let kinds = models.relaxed.kinds(of: newName).compactMap(models.formerName)
    var names = Set(kinds)
    if let former { names.formUnion(schema.model.kinds(of: former.name)) }
    // Neither model has the entity, or only the newer one does.
    if names.isEmpty { _ = try oldContext.session.entity(named: name) }
    return schema.entities.filter { names.contains($0.name) && isKept($0) }
  }

  /// Returns whether objects of exactly this entity of the older model are in the copy.
  func isKept(_ entity: EntitySchema) -> Bool {
    !entity.isAbstract
      && models.newNames[entity.name].flatMap(newContext.session.schema.entity).map {
        !$0.isAbstract
      }
        ?? false
  }

  func newID(of old: ManagedObject) -> ObjectID? {
    let id = old.objectID
    guard isKept(old.binding.entity), let name = models.newNames[id.entityName] else { return nil }
    return ObjectID(storeID: newContext.store.id, entityName: name, number: id.number)
  }
}
