public import ArborModel
internal import ArborStore

extension MigrationManager {
  /// Throws where the task is cancelled. Whatever works with objects does so too.
  public func checkCancellation() throws(ArborError) { try newContext.session.limitOperation() }

  // MARK: Objects

  /// Calls code for every object of an entity and its subentities, with what becomes of it.
  ///
  /// ```swift
  /// try migration.migrate("Book") { old, new in
  ///   new["title"] = (old["title"] as String).capitalized
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - entity: Its name in the older model, or in the newer one; there it may also be a parent
  ///     that the objects' entity did not have.
  ///   - body: Is called with the old object and the new one, which has the same number.
  /// - Throws: ``ArborError`` `unknownName` where no model has the entity, `notAllowed` where the
  ///   newer one has nothing of it; what `body` throws, with the object; what a commit throws.
  /// - Complexity: Linear in the number of objects; memory for a batch.
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

  /// Calls code for every object of an entity of the older model and its subentities.
  ///
  /// ```swift
  /// try migration.forEach("Legacy") { old in
  ///   try migration.insert("Note")["text"] = old["text"] as String?
  /// }
  /// ```
  ///
  /// - Throws: As ``migrate(_:_:)``.
  public func forEach(_ entity: String, _ body: (ManagedObject) throws -> Void) throws {
    let former = try oldEntity(entity)
    try call { lastDone in
      let entities = self.oldContext.session.schema.concreteEntities(of: former)
      try self.passOfCode(over: former.name, entities, behind: lastDone) { old, _ in
        try body(old)
      }
    }
  }

  /// What has become of an object of the store as it was; nil where it is gone.
  ///
  /// - Throws: ``ArborError`` as a fetch.
  public func object(for old: ManagedObject) throws(ArborError) -> ManagedObject? {
    guard let id = newID(of: old) else { return nil }
    return try newContext.objects(with: [id]).first
  }

  /// Inserts an object of an entity of the newer model.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/insert(_:)-(String)``.
  @discardableResult
  public func insert(_ entity: String) throws(ArborError) -> ManagedObject {
    try newContext.insert(entity)
  }

  /// The object of the newer model with a value, or a new one with it; nil for the value nil.
  ///
  /// ```swift
  /// new["author"] = try migration.insertedOrExisting("Author", "name", old["authorText"])
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/insertOrFetch(_:where:)-(String,_)``.
  /// - Complexity: That of a fetch for a value that is met for the first time.
  public func insertedOrExisting(
    _ entity: String, _ property: String, _ value: Value
  ) throws(ArborError) -> ManagedObject? {
    if value.isNull { return nil }
    let key = ExistingKey(entity: entity, property: property, value: value)
    if let id = existing[key], let object = try newContext.objects(with: [id]).first {
      // Code may have changed the value meanwhile.
      if try object.value(forKey: property) == value { return object }
    }
    let object = try newContext.insertOrFetch(entity, where: [property: value])
    if existing.count >= Self.mostRemembered { existing = [:] }
    existing[key] = object.objectID
    return object
  }

  private static var mostRemembered: Int { 65_536 }

  /// Deletes all objects of an entity of the newer model and its subentities, with what their
  /// delete rules ask for.
  ///
  /// - Throws: ``ArborError`` `unknownName`; what a commit throws.
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

  /// Says that an entity of the newer model is one of the older model under another name, where no
  /// renaming identifier does.
  ///
  /// To be called first: the copy is made anew with what it says, and the closure begins again.
  ///
  /// - Throws: ``ArborError`` `unknownName`; `invalidArgument` if the newer model has the entity
  ///   already, by its name or a renaming identifier; an error for the migration itself, which the
  ///   code has to let through.
  public func rename(entity former: String, to new: String) throws(ArborError) {
    let old = try oldContext.session.entity(named: former)
    let entity = try newContext.session.entity(named: new)
    if let name = models.newNames[old.name] {
      if name == entity.name { return }
      throw ArborError(
        .invalidArgument,
        "The entity \(former) is kept as \(name) in the newer model and cannot become \(new) as "
          + "well. Remove the call, or let renaming identifiers say which entities are the same."
      ).with(entity: former)
    }
    wantedRename = (former, new)
    throw ArborError(
      .notAllowed,
      "The entity \(former) is renamed to \(new), and the migration begins anew; let the error "
        + "through.")
  }

  private func oldEntity(_ name: String) throws(ArborError) -> EntitySchema {
    if let entity = oldEntityIfPresent(name) { return entity }
    return try oldContext.session.entity(named: name)
  }

  private func oldEntityIfPresent(_ name: String) -> EntitySchema? {
    let schema = oldContext.session.schema
    return schema.entity(named: name) ?? models.formerName(of: name).flatMap(schema.entity)
  }

  /// The entities of the older model whose objects are in the copy, and are of an entity in either
  /// model.
  private func migratedEntities(_ name: String) throws(ArborError) -> [EntitySchema] {
    let schema = oldContext.session.schema
    let former = oldEntityIfPresent(name)
    let newName = former.map { models.newNames[$0.name] } ?? name
    guard let newName else {
      throw ArborError(
        .notAllowed,
        "The newer model has nothing that entity \(name) becomes; read its objects with forEach, "
          + "and insert others."
      ).with(entity: name)
    }
    let kinds = models.relaxed.kinds(of: newName).compactMap(models.formerName)
    var names = Set(kinds)
    if let former { names.formUnion(schema.model.kinds(of: former.name)) }
    // The name of neither model, or of something that only the newer one has.
    if names.isEmpty { _ = try oldContext.session.entity(named: name) }
    return schema.entities.filter { names.contains($0.name) && isKept($0) }
  }

  /// Whether objects of exactly an entity of the older model are in the copy.
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
