public import ArborFoundation
public import ArborModel
public import ArborObjects

extension ManagedObjectContext {
  /// Writes objects and their related objects as a document from which they can be seeded.
  ///
  /// Uncommitted changes are included. Every stored attribute is written exactly, including null
  /// and default values; derived and transient attributes are not. Objects that are referenced by
  /// others have a label (`$id`), which references use (`$ref`), so shared objects and cycles are
  /// preserved. Of a relationship and its inverse, only one is written. Equal content yields equal
  /// bytes: if an export is seeded into an empty store and exported again in the same way, the
  /// result is byte-for-byte identical.
  ///
  /// ```swift
  /// let data = try context.export([company], depth: 1)
  /// try context.export(FetchRequest<Employee>(), to: url, as: .ndjson)
  /// ```
  ///
  /// - Parameters:
  ///   - objects: The initial objects, in the order in which they are written.
  ///   - format: The layout.
  ///   - depth: The maximum number of relationships to follow from the initial objects. 0 exports
  ///     only these, `nil` everything that is reachable. Links to objects that aren't exported are
  ///     omitted.
  ///   - keys: The names of the properties to write and follow, for every entity that has them, or
  ///     `nil` for all.
  /// - Returns: The document.
  /// - Throws: ``ArborError``: `invalidArgument` if an object belongs to another context,
  ///   `unknownName` if no entity has one of the keys, `invalidDocument` if a value cannot be
  ///   represented in JSON (such as NaN), and any error from the store.
  /// - Complexity: Linear in the number of objects, links and bytes.
  public func export<T: ManagedObject>(
    _ objects: some Sequence<T>, as format: JSONExportFormat = .json, depth: Int? = nil,
    keys: [String]? = nil
  ) throws(ArborError) -> Data {
    var data = Data()
    let ids = try exportedIDs(objects)
    var run = try ExportRun(self, depth: depth, keys: keys)
    try reading { () throws(ArborError) in
      try run.add(ids)
      _ = try run.write(as: format) { data.append($0) }
    }
    return data
  }

  /// Writes the objects of a request and their related objects as a document from which they can be
  /// seeded, in the order of the request.
  ///
  /// - Returns: The document.
  /// - Throws: The same errors as the overload that takes objects.
  public func export<T: ManagedObject>(
    _ request: FetchRequest<T>, as format: JSONExportFormat = .json, depth: Int? = nil,
    keys: [String]? = nil
  ) throws(ArborError) -> Data {
    var data = Data()
    try write(request, as: format, depth, keys) { data.append($0) }
    return data
  }

  /// Writes the objects of a request to a file opened for writing, in chunks.
  ///
  /// About 40 bytes per object are kept in memory, regardless of the size of the values.
  ///
  /// - Throws: The same errors as the overload that takes objects; `diskFull` and `inputOutput` if
  ///   the file cannot be written. Text written before the error remains in the file.
  package func export<T: ManagedObject>(
    _ request: FetchRequest<T>, to file: ExportFile, as format: JSONExportFormat, depth: Int?,
    keys: [String]?
  ) throws(ArborError) {
    try write(request, as: format, depth, keys) { data throws(ArborError) in
      try file.write(data)
    }
  }

  /// Writes the objects of a request to a file in chunks.
  ///
  /// About 40 bytes per object are kept in memory, regardless of the size of the values.
  ///
  /// - Parameters:
  ///   - request: The request for the initial objects.
  ///   - url: The file, which is replaced atomically at the end.
  /// - Throws: The same errors as the overload that takes objects; `diskFull` and `inputOutput` if
  ///   the file cannot be written. In that case, an existing file is unchanged.
  public func export<T: ManagedObject>(
    _ request: FetchRequest<T>, to url: URL, as format: JSONExportFormat = .json, depth: Int? = nil,
    keys: [String]? = nil
  ) throws(ArborError) {
    try ExportFile.replacing(url) { file throws(ArborError) in
      try export(request, to: file, as: format, depth: depth, keys: keys)
    }
  }

  private func exportedIDs<T: ManagedObject>(
    _ objects: some Sequence<T>
  ) throws(ArborError) -> [ObjectID] {
    var ids: [ObjectID] = []
    for object in objects {
      guard object.context === self else {
        throw ArborError(
          .invalidArgument,
          "An object can only be exported by its own context. Fetch it in this context by its "
            + "objectID."
        ).with(entity: object.entity.name, objectID: object.objectID)
      }
      ids.append(object.objectID)
    }
    return ids
  }

  private func write<T: ManagedObject>(
    _ request: FetchRequest<T>, as format: JSONExportFormat, _ depth: Int?, _ keys: [String]?,
    to sink: (Data) throws(ArborError) -> Void
  ) throws(ArborError) {
    var run = try ExportRun(self, depth: depth, keys: keys)
    try reading { () throws(ArborError) in
      try run.add(fetchIDs(request), areFetched: true)
      _ = try run.write(as: format, to: sink)
    }
  }

  private func reading(_ body: () throws(ArborError) -> Void) throws(ArborError) {
    do {
      try withSnapshot { try body() }
    } catch {
      throw error as? ArborError
        ?? ArborError(.inputOutput, "The objects cannot be exported. See the underlying error.")
        .with(underlying: error)
    }
  }
}
