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
    try importObject(from: source, as: session.entityName(of: type), options: options) as? T
  }

  /// Imports one object of an entity, by its name.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObject(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> ManagedObject? {
    let limit = ExchangeLimit(self)
    try limit.checkNow()
    let document = try source.document(limits: options.limits, work: limit.work)
    return try ItemImport(entityName, into: self, options, limit).object(document)
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
    try importObjects(from: source, as: session.entityName(of: type), options: options)
      .compactMap { $0 as? T }
  }

  /// Imports the objects of a list, of an entity by its name.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObjects(
    from source: JSONSource, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [ManagedObject] {
    let limit = ExchangeLimit(self)
    try limit.checkNow()
    let items = try source.items(options, limit)
    return try ItemImport(entityName, into: self, options, limit).objects(items)
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
        object.context === self ? "is deleted" : "belongs to another context, or to none"
      throw ArborError(
        .invalidArgument,
        "\(object.objectID) \(problem); import into an object that this context has."
      ).with(entity: object.entity.name, objectID: object.objectID)
    }
    let limit = ExchangeLimit(self)
    try limit.checkNow()
    let document = try source.document(limits: options.limits, work: limit.work)
    return try ItemImport(object.entity.name, into: self, options, limit)
      .item(document, into: object)
  }
}
