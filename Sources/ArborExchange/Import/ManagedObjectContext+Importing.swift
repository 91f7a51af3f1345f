public import ArborJSON
import ArborModel
public import ArborObjects
public import Foundation

/// Import of JSON as the model's `userInfo` says: what identifies an object, the places of its values
/// in an item, how dates are written, and what becomes of the members that a relationship has.
///
/// ```swift
/// let country = try context.importObject(json, as: Country.self)
/// let people = try context.importObjects(contentsOf: url, as: Person.self)
/// ```
///
/// An item whose identity is known — in the store or among the context's uncommitted objects —
/// updates its object, another one makes one; an entity without an identity always makes new ones.
/// A key that is absent leaves its property alone, null clears it. Nothing is committed, and an
/// import that throws leaves the context exactly as it was.
extension ManagedObjectContext {
  /// Imports one object.
  ///
  /// - Parameters:
  ///   - json: The item. Lines and columns in errors are those of the value written on one line.
  ///   - type: The class of the entity.
  ///   - options: How the item is read.
  /// - Returns: The object; `nil` if the value is not a JSON object.
  /// - Throws: ``ArborError`` with entity, property and location: `invalidDocument` for a value of
  ///   another kind than the model's, `unparsableValue` for a text that it cannot be read from;
  ///   what the store reports.
  @discardableResult
  public func importObject<T: ManagedObject>(
    _ json: JSONValue, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> T? {
    try object(from: .value(json), as: type, options)
  }

  /// Imports one object from a document of JSON.
  ///
  /// - Throws: ``ArborError`` as with a value, and `malformedDocument`.
  @discardableResult
  public func importObject<T: ManagedObject>(
    data: Data, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> T? {
    try object(from: .data(data), as: type, options)
  }

  /// Imports one object from a file.
  ///
  /// - Throws: ``ArborError`` as with a value, and `fileUnreadable`.
  @discardableResult
  public func importObject<T: ManagedObject>(
    contentsOf url: URL, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> T? {
    try object(from: .file(url), as: type, options)
  }

  /// Imports one object from a value that can be encoded.
  ///
  /// - Throws: ``ArborError`` as with JSON, and `invalidArgument` where the value does not encode.
  @discardableResult
  public func importObject<T: ManagedObject>(
    encoding value: some Encodable, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> T? {
    try object(from: .data(ItemImport.encoded(value)), as: type, options)
  }

  /// Imports the objects of a list, each once, in the order of the list.
  ///
  /// All identities of the list are looked up together. Where two items have one identity the later
  /// one counts; where one lacks its identity nothing is imported. A file is read in batches of
  /// ``ImportOptions/batchSize`` items, whatever its length, and if equal identities are in
  /// different batches both items count, one after the other.
  ///
  /// - Returns: The objects; none where the value is no list.
  /// - Throws: ``ArborError`` as for one object, and `missingIdentity` if items lack theirs; its
  ///   `violations` list the first twenty.
  /// - Complexity: Linear in the size of the list, and one fetch for each entity and batch.
  @discardableResult
  public func importObjects<T: ManagedObject>(
    _ json: JSONValue, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [T] {
    try objects(from: .value(json), as: type, options)
  }

  /// Imports the objects of a list from a document of JSON.
  ///
  /// - Throws: ``ArborError`` as with a value, `malformedDocument`, and `invalidDocument`
  ///   where it has another shape than ``ImportOptions/layout`` says, or where no item has a key
  ///   that the `ImportReference` of a mandatory relationship reads. `null` imports nothing.
  @discardableResult
  public func importObjects<T: ManagedObject>(
    data: Data, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [T] {
    try objects(from: .data(data), as: type, options)
  }

  /// Imports the objects of a list from a file.
  ///
  /// - Throws: ``ArborError`` as with a document in memory, and `fileUnreadable`.
  @discardableResult
  public func importObjects<T: ManagedObject>(
    contentsOf url: URL, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [T] {
    try objects(from: .file(url), as: type, options)
  }

  /// Imports the objects of a list from values that can be encoded.
  ///
  /// - Throws: ``ArborError`` as with JSON, and `invalidArgument` where a value does not encode.
  @discardableResult
  public func importObjects<T: ManagedObject>(
    encoding value: some Encodable, as type: T.Type, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [T] {
    try objects(from: .data(ItemImport.encoded(value)), as: type, options)
  }

  // MARK: The same for entities by their names

  /// Imports one object of an entity; see ``importObject(_:as:options:)-(_,T.Type,_)``.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObject(
    _ json: JSONValue, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> ManagedObject? {
    try object(from: .value(json), of: entityName, options)
  }

  /// Imports one object of an entity from a document of JSON.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObject(
    data: Data, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> ManagedObject? {
    try object(from: .data(data), of: entityName, options)
  }

  /// Imports one object of an entity from a file.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObject(
    contentsOf url: URL, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> ManagedObject? {
    try object(from: .file(url), of: entityName, options)
  }

  /// Imports the objects of a list; see ``importObjects(_:as:options:)-(_,T.Type,_)``.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObjects(
    _ json: JSONValue, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [ManagedObject] {
    try objects(from: .value(json), of: entityName, options)
  }

  /// Imports the objects of a list from a document of JSON.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObjects(
    data: Data, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [ManagedObject] {
    try objects(from: .data(data), of: entityName, options)
  }

  /// Imports the objects of a list from a file.
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName`.
  @discardableResult
  public func importObjects(
    contentsOf url: URL, as entityName: String, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> [ManagedObject] {
    try objects(from: .file(url), of: entityName, options)
  }

  private func object<T: ManagedObject>(
    from source: ImportSource, as type: T.Type, _ options: ImportOptions
  ) throws(ArborError) -> T? {
    try object(from: source, of: session.entityName(of: type), options) as? T
  }

  private func objects<T: ManagedObject>(
    from source: ImportSource, as type: T.Type, _ options: ImportOptions
  ) throws(ArborError) -> [T] {
    try objects(from: source, of: session.entityName(of: type), options).compactMap { $0 as? T }
  }

  private func object(
    from source: ImportSource, of entityName: String, _ options: ImportOptions
  ) throws(ArborError) -> ManagedObject? {
    let limit = ExchangeLimit(self)
    try limit.checkNow()
    let document = try source.document(options, limit)
    let items = try ItemImport(entityName, into: self, options)
    return try items.object(document)
  }

  private func objects(
    from source: ImportSource, of entityName: String, _ options: ImportOptions
  ) throws(ArborError) -> [ManagedObject] {
    let limit = ExchangeLimit(self)
    try limit.checkNow()
    let document = try source.items(options, limit)
    let items = try ItemImport(entityName, into: self, options)
    return try items.objects(document)
  }
}

/// Import of an item into an object that is there.
///
/// ```swift
/// let changed = try context.importObject(json, into: employee)
/// ```
///
/// Works as ``importObject(_:as:options:)-(_,T.Type,_)`` with the object in the place of the one
/// that the item's identity would find: the identity is not looked up and is a value as any other.
/// Nothing is committed, and an import that throws leaves the context exactly as it was.
extension ManagedObjectContext {
  /// Imports an item into an object.
  ///
  /// - Parameters:
  ///   - json: The item. Lines and columns in errors are those of the value written on one line.
  ///   - object: The object, of this context.
  ///   - options: How the item is read.
  /// - Returns: Whether anything has changed.
  /// - Throws: ``ArborError`` as ``importObject(_:as:options:)-(_,T.Type,_)``; `invalidDocument`
  ///   where the value is no JSON object; `invalidArgument` for an object of another context, and
  ///   for one that is deleted.
  @discardableResult
  public func importObject(
    _ json: JSONValue, into object: ManagedObject, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> Bool {
    try importObject(from: .value(json), into: object, options)
  }

  /// Imports an item from a document of JSON into an object.
  ///
  /// - Returns: Whether anything has changed.
  /// - Throws: ``ArborError`` as with a value, and `malformedDocument`.
  @discardableResult
  public func importObject(
    data: Data, into object: ManagedObject, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> Bool {
    try importObject(from: .data(data), into: object, options)
  }

  /// Imports an item from a file into an object.
  ///
  /// - Returns: Whether anything has changed.
  /// - Throws: ``ArborError`` as with a document in memory, and `fileUnreadable`.
  @discardableResult
  public func importObject(
    contentsOf url: URL, into object: ManagedObject, options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> Bool {
    try importObject(from: .file(url), into: object, options)
  }

  /// Imports a value that can be encoded into an object.
  ///
  /// - Returns: Whether anything has changed.
  /// - Throws: ``ArborError`` as with JSON, and `invalidArgument` where the value does not encode.
  @discardableResult
  public func importObject(
    encoding value: some Encodable, into object: ManagedObject,
    options: ImportOptions = ImportOptions()
  ) throws(ArborError) -> Bool {
    try importObject(from: .data(ItemImport.encoded(value)), into: object, options)
  }

  private func importObject(
    from source: ImportSource, into object: ManagedObject, _ options: ImportOptions
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
    let document = try source.document(options, limit)
    let items = try ItemImport(object.entity.name, into: self, options)
    return try items.item(document, into: object)
  }
}
