import ArborModel
public import ArborJSON
public import ArborObjects
public import Foundation

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
