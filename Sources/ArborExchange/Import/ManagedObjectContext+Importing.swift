import ArborJSON
public import ArborModel
public import ArborObjects

/// Import of JSON by the notes in the model's `userInfo`: what identifies an object, the places of
/// its values in an item, how dates are written, and what happens to the present members of a
/// relationship.
///
/// ```swift
/// let country = try context.importObject(from: .value(json), as: Country.self)
/// let people = try context.importObjects(from: .file(url), as: Person.self)
/// let changed = try context.importObject(from: .data(response), into: employee)
/// ```
///
/// An item whose identity is known, in the store or among the context's uncommitted objects,
/// updates its object; another one creates an object. An entity without an identity always creates
/// new ones. A key that is absent leaves its property alone, null clears it. Nothing is committed,
/// and an import that throws leaves the context exactly as it was.
extension ManagedObjectContext {
  /// Imports one object.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - type: The class of the entity.
  ///   - options: How the item is read.
  /// - Returns: The object; `nil` if the document is not a JSON object.
  /// - Throws: ``ArborError`` with entity, property and location: `malformedDocument` and
  ///   `fileUnreadable`; `invalidDocument` for a value of another kind than the model's,
  ///   `unparsableValue` for a text that it cannot be read from; `invalidArgument` if a value does
  ///   not encode; what the store reports.
  @discardableResult
  public func importObject<T: ManagedObject>(
    from source: JSONSource, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> T? {
    try ItemImport(session.entityName(of: type), into: self, options).object(source) as? T
  }

  /// Imports one object of an entity, by its name.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObject(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> ManagedObject? {
    try ItemImport(entityName, into: self, options).object(source)
  }

  /// Imports the objects of a list, each once, in the order of the list.
  ///
  /// All identities of the list are looked up together. Where two items have one identity the later
  /// one counts; where one lacks its identity nothing is imported. A file is read in batches of
  /// ``ImportOptions/batchSize`` items, whatever its length, and if equal identities are in
  /// different batches both items count, one after the other.
  ///
  /// - Returns: The objects; none for a value that is not a list, and for `null`.
  /// - Throws: ``ArborError`` as for one object; `missingIdentity` if items lack theirs, whose
  ///   `violations` list the first twenty; `invalidDocument` for a document of another shape than
  ///   ``ImportOptions/layout``, and if no item has a key that the `ImportReference` of a mandatory
  ///   relationship reads.
  /// - Complexity: Linear in the size of the list, and one fetch for each entity and batch.
  @discardableResult
  public func importObjects<T: ManagedObject>(
    from source: JSONSource, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [T] {
    try ItemImport(session.entityName(of: type), into: self, options).objects(source)
      .compactMap { $0 as? T }
  }

  /// Imports the objects of a list, of an entity by its name.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObjects(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [ManagedObject] {
    try ItemImport(entityName, into: self, options).objects(source)
  }

  /// Imports an item into an object that exists.
  ///
  /// The object takes the place of the one that the item's identity would find: the identity is not
  /// looked up and is a value as any other.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - object: The object, of this context.
  ///   - options: How the item is read.
  /// - Returns: Whether anything has changed.
  /// - Throws: ``ArborError`` as ``importObject(from:as:options:)-(_,T.Type,_)``; `invalidDocument`
  ///   if the document is not a JSON object; `invalidArgument` for an object of another context,
  ///   and for one that is deleted.
  @discardableResult
  public func importObject(
    from source: JSONSource, into object: ManagedObject, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> Bool {
    guard object.context === self, !object.isDeleted else {
      let problem =
        object.context === self ? "is deleted" : "doesn't belong to this context"
      throw ArborError(
        .invalidArgument,
        "\(object.objectID) \(problem). Import into an object of this context."
      ).with(entity: object.entity.name, objectID: object.objectID)
    }
    return try ItemImport(object.entity.name, into: self, options).item(source, into: object)
  }
}

/// Import of documents of any length, in memory that a batch bounds.
extension PersistentStore {
  /// Imports the items of a document by the notes in the model's `userInfo`, and commits them batch
  /// by batch.
  ///
  /// Works as ``ManagedObjectContext/importObjects(from:as:options:)-(_,String,_)`` does, but
  /// each ``ImportOptions/batchSize`` items are a commit of their own: an error leaves the batches
  /// before it in the store, and has its location. With identities, importing the document
  /// again continues where it stopped: known items without members change nothing, and neither do
  /// their members under `Merge` and `MergeAndPrune`.
  ///
  /// Relationships that name objects by their keys (`ImportReference`) are connected within a batch
  /// or with what the store has; those that lead to later batches wait for the end.
  ///
  /// - Parameters:
  ///   - source: The document. Only a file is read piece by piece.
  ///   - entityName: The entity of the items.
  ///   - options: How the document is read.
  /// - Returns: The steps of the import, which has begun.
  public func importObjects(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) -> ImportProgress {
    ImportProgress { report in
      try await self.perform { context in
        var work = BatchedImport(source, entityName, into: context, options)
        try work.run(report)
      }
    }
  }

  /// Imports the items of a document as objects of a typed class; see
  /// ``importObjects(from:as:options:)-(_,String,_)``.
  ///
  /// - Returns: The steps of the import, which has begun.
  public func importObjects<T: ManagedObject>(
    from source: JSONSource, as type: T.Type, options: ImportOptions = ImportOptions()
  ) -> ImportProgress {
    ImportProgress { report in
      try await self.perform { context in
        let entityName = try context.session.entityName(of: type)
        var work = BatchedImport(source, entityName, into: context, options)
        try work.run(report)
      }
    }
  }
}
