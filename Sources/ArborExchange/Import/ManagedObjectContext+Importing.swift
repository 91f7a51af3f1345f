import ArborJSON
public import ArborModel
public import ArborObjects

/// Importing JSON according to annotations in the model's `userInfo`: identifying attributes, the
/// paths of values in an item, date formats, and the treatment of existing members of a
/// relationship.
///
/// ```swift
/// let country = try context.importObject(from: .value(json), as: Country.self)
/// let people = try context.importObjects(from: .file(url), as: Person.self)
/// let changed = try context.importObject(from: .data(response), into: employee)
/// ```
///
/// An item with a known identity, in the store or among the context's uncommitted objects, updates
/// its object. Any other item inserts one. An entity without an identity always inserts objects. A
/// missing key leaves its property unchanged; null clears it. Nothing is committed, and if an
/// import throws, the context is unchanged.
extension ManagedObjectContext {
  /// Imports one object.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - type: The class of the entity.
  ///   - options: Options for reading the item.
  /// - Returns: The object, or `nil` if the document isn't a JSON object.
  /// - Throws: ``ArborError`` with entity, property and location: `malformedDocument` and
  ///   `fileUnreadable`; `invalidDocument` if a value doesn't have the type required by the model;
  ///   `unparsableValue` if a string cannot be parsed as the required type; `invalidArgument` if a
  ///   value cannot be encoded; any error from the store.
  @discardableResult
  public func importObject<T: ManagedObject>(
    from source: JSONSource, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> T? {
    try importObject(from: source, as: session.entityName(of: type), options: options) as? T
  }

  /// Imports one object of an entity.
  ///
  /// - Throws: The same errors as the overload that takes a class; also `unknownName`.
  @discardableResult
  public func importObject(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> ManagedObject? {
    try ItemImport.perform(entityName, into: self, options) { (run) throws(ArborError) in
      try run.importObject(source)
    }
  }

  /// Imports the objects of a list. Returns each of them once, in the order of the list.
  ///
  /// All identities of the list are looked up together. If two items have the same identity, the
  /// later one is used. If an item lacks its identity, nothing is imported. A file is read in
  /// batches of ``ImportOptions/batchSize`` items, regardless of its length. Items with the same
  /// identity in different batches are both imported, in order.
  ///
  /// - Returns: The objects. Empty for a value that isn't a list, and for `null`.
  /// - Throws: The same errors as for one object; `missingIdentity` if items lack their identity,
  ///   with the first 20 in `violations`; `invalidDocument` if the document's structure doesn't
  ///   match ``ImportOptions/layout``, or if no item has a key that the `ImportReference` of a
  ///   mandatory relationship reads.
  /// - Complexity: Linear in the size of the list, plus one fetch per entity and batch.
  @discardableResult
  public func importObjects<T: ManagedObject>(
    from source: JSONSource, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [T] {
    try importObjects(from: source, as: session.entityName(of: type), options: options)
      .compactMap { $0 as? T }
  }

  /// Imports the objects of a list for an entity.
  ///
  /// - Throws: The same errors as the overload that takes a class; also `unknownName`.
  @discardableResult
  public func importObjects(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [ManagedObject] {
    try ItemImport.perform(entityName, into: self, options) { (run) throws(ArborError) in
      try run.importObjects(source)
    }
  }

  /// Imports an item into an existing object.
  ///
  /// The item's identity is not looked up, and is imported like any other value.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - object: An object of this context.
  ///   - options: Options for reading the item.
  /// - Returns: Whether anything changed.
  /// - Throws: The same errors as ``importObject(from:as:options:)-(_,T.Type,_)``;
  ///   `invalidDocument` if the document isn't a JSON object; `invalidArgument` if the object is
  ///   deleted or belongs to another context.
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
    return try ItemImport.perform(object.entity.name, into: self, options) {
      (run) throws(ArborError) in
      try run.importObject(source, into: object)
    }
  }
}

/// Importing documents of any length, with only one batch in memory at a time.
extension PersistentStore {
  /// Imports the items of a document according to annotations in the model's `userInfo`, and
  /// commits them in batches.
  ///
  /// Works like ``ManagedObjectContext/importObjects(from:as:options:)-(_,String,_)``, but commits
  /// after every ``ImportOptions/batchSize`` items. If an error occurs, the preceding batches
  /// remain in the store; the error contains its location. With identities, importing the document
  /// again resumes the import: known items without members change nothing, and neither do their
  /// members under `Merge` and `MergeAndPrune`.
  ///
  /// Relationships that identify objects by keys (`ImportReference`) are connected within a batch
  /// or to objects in the store. Those that refer to later batches are connected at the end.
  ///
  /// - Parameters:
  ///   - source: The document. Only files are read in chunks.
  ///   - entityName: The entity of the items.
  ///   - options: Options for reading the document.
  /// - Returns: The steps of the import, which has already started.
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

  /// Imports the items of a document as objects of a typed class. See
  /// ``importObjects(from:as:options:)-(_,String,_)``.
  ///
  /// - Returns: The steps of the import, which has already started.
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
