public import ArborModel
public import ArborObjects
public import Foundation

extension ManagedObjectContext {
  /// Writes objects as a document from which a seed makes them again, with what they are linked to.
  ///
  /// Uncommitted changes count. Every attribute that the store keeps is written, exactly, null and
  /// defaults included; derived and transient ones are not. Objects that others lead to have a
  /// label (`$id`), by which these reach them (`$ref`), so that shared objects stay shared and
  /// cycles are written like anything else. Of a relationship and its inverse one is written. Equal
  /// content gives equal bytes: what is exported, seeded into an empty store and exported again the
  /// same way is the same to the byte.
  ///
  /// ```swift
  /// let data = try context.export([company], depth: 1)
  /// try context.export(FetchRequest<Employee>(), to: url, as: .ndjson)
  /// ```
  ///
  /// - Parameters:
  ///   - objects: The objects to begin with, in the order in which they are written.
  ///   - format: The layout.
  ///   - depth: How many relationships away from these an object may be to be written too; 0: none
  ///     but these; nil: whatever can be reached. Links to objects that are not written are left
  ///     out.
  ///   - keys: The names of the properties to write and to follow, for every entity that has them;
  ///     nil: all.
  /// - Returns: The document.
  /// - Throws: ``ArborError``: `invalidArgument` for an object of another context, `unknownName`
  ///   for a key that no entity has, `invalidDocument` for a value without a form in JSON (a number
  ///   that is none), and what the store reports.
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

  /// Writes the objects of a request as a document from which a seed makes them again, with what
  /// they are linked to, in the order of the request.
  ///
  /// - Returns: The document.
  /// - Throws: ``ArborError`` as for objects.
  public func export<T: ManagedObject>(
    _ request: FetchRequest<T>, as format: JSONExportFormat = .json, depth: Int? = nil,
    keys: [String]? = nil
  ) throws(ArborError) -> Data {
    var data = Data()
    try write(request, as: format, depth, keys) { data.append($0) }
    return data
  }

  /// Writes the objects of a request into a file, piece by piece: some forty bytes an object stay
  /// in memory, however large the values are.
  ///
  /// - Parameters:
  ///   - request: The objects to begin with.
  ///   - handle: The file, open for writing; the text is written at its current position.
  /// - Throws: ``ArborError`` as for objects, `diskFull` and `inputOutput` where the file cannot be
  ///   written. What was written until then stays in the file.
  public func export<T: ManagedObject>(
    _ request: FetchRequest<T>, to handle: FileHandle, as format: JSONExportFormat = .json,
    depth: Int? = nil, keys: [String]? = nil
  ) throws(ArborError) {
    let file = ExportFile(handle)
    try write(request, as: format, depth, keys) { data throws(ArborError) in
      try file.write(data)
    }
  }

  /// Writes the objects of a request into a file, piece by piece: some forty bytes an object stay
  /// in memory, however large the values are.
  ///
  /// - Parameters:
  ///   - request: The objects to begin with.
  ///   - url: The file, which is replaced as a whole when all is written.
  /// - Throws: ``ArborError`` as for objects, `diskFull` and `inputOutput` where the file cannot be
  ///   written; a file that was there is then as it was.
  public func export<T: ManagedObject>(
    _ request: FetchRequest<T>, to url: URL, as format: JSONExportFormat = .json, depth: Int? = nil,
    keys: [String]? = nil
  ) throws(ArborError) {
    try ExportFile.replacing(url) { file throws(ArborError) in
      try write(request, as: format, depth, keys) { data throws(ArborError) in
        try file.write(data)
      }
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
