public import ArborJSON
public import ArborObjects
public import Foundation

/// Import of JSON as the model's `userInfo` says: what identifies an object, where its values stand
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
  /// - Returns: The object; nil where the value is no JSON object.
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
  /// ``ImportOptions/batchSize`` items, whatever its length, and where equal identities stand in
  /// different batches both items count, one after the other.
  ///
  /// - Returns: The objects; none where the value is no list.
  /// - Throws: ``ArborError`` as for one object, and `missingIdentity` where items lack theirs; its
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
    try object(from: source, of: reader.entityName(of: type), options) as? T
  }

  private func objects<T: ManagedObject>(
    from source: ImportSource, as type: T.Type, _ options: ImportOptions
  ) throws(ArborError) -> [T] {
    try objects(from: source, of: reader.entityName(of: type), options).compactMap { $0 as? T }
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
