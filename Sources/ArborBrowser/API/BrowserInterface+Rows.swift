internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// Rows as text for the clipboard, and the values of a column.
extension BrowserInterface {
  private static let maximumCopiedObjects = 1000
  private static let maximumValues = 50

  /// Returns objects, or one value, as text.
  ///
  /// The document has the `entity`, the `ids` in order, the `columns`, a `format` (`json`, `csv`,
  /// `swift`, `predicate` or `text`), and `isCell` for the value of the only column of the only
  /// object.
  func copy(_ document: JSONValue) throws(ArborError) -> JSONValue {
    let entity = try schema.entity(document["entity"]?.string ?? "")
    let names = document["ids"]?.array?.compactMap(\.string) ?? []
    guard (1...Self.maximumCopiedObjects).contains(names.count) else {
      throw ArborError(
        .invalidArgument,
        "Select between 1 and \(Self.maximumCopiedObjects) objects to copy, or use Export.")
    }
    let ids = try names.map { (name) throws(ArborError) in try Self.id(name, in: store) }
    let columns = document["columns"]?.array?.compactMap(\.string) ?? []
    let rows = try ObjectRows(
      entity, columns: columns, in: store, workTime: limits.workTime)
    let format = document["format"]?.string ?? ""
    let text =
      document["isCell"] == .bool(true) && !columns.isEmpty
      ? try cell(rows, columns[0], ids, format, RowSource(entity: entity))
      : try lines(rows, ids, format, RowSource(entity: entity))
    return ["text": .string(text)]
  }

  private func lines(
    _ rows: ObjectRows, _ ids: [ObjectID], _ format: String, _ source: RowSource
  ) throws(ArborError) -> String {
    switch format {
    case "swift": return source.swift(ids)
    case "predicate": return try source.predicate(ids)
    case "csv":
      var document = RowDocument(.delimited(.csv), columns: rows.names)
      let lines = try values(rows, ids).map { document.row(RowText.json($0, rows.names)) }
      return document.head + lines.joined()
    default:
      let objects = try values(rows, ids).map { RowText.json($0, rows.names) }
      return (objects.count == 1 ? objects[0] : .array(objects)).text(.pretty)
    }
  }

  private func cell(
    _ rows: ObjectRows, _ column: String, _ ids: [ObjectID], _ format: String, _ source: RowSource
  ) throws(ArborError) -> String {
    guard let value = try values(rows, Array(ids.prefix(1))).first?.last else {
      throw ArborError(.objectNotFound, "The object was deleted. Refresh the table.")
    }
    switch format {
    case "swift": return try source.swift(column, value)
    case "predicate": return try source.predicate(column, value)
    case "csv": return RowText.csv(value)
    case "text": return RowText.text(value)
    default: return RowText.json(value).text(.pretty)
    }
  }

  private func values(_ rows: ObjectRows, _ ids: [ObjectID]) throws(ArborError) -> [[PropertyValue]]
  {
    var found: [[PropertyValue]] = []
    try rows.forEach(ids, in: makeContext()) { row in
      found.append(row)
      return true
    }
    return found
  }

  /// Returns the most frequent values of a property among the objects that match, each with its
  /// count and its condition. Parameters: `entity`, `property`, and optionally `where`.
  func values(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let entity = try entity(of: request)
    let name = request.parameter("property") ?? ""
    guard
      entity.attributes.contains(where: { $0.name == name })
        || entity.relationships.contains(where: { $0.name == name && !$0.isToMany })
    else {
      throw ArborError(
        .unknownName,
        "\(entity.name) has no attribute or to-one relationship \(name). Correct the name.")
    }
    let path = PredicatePrinter.name(name)
    var wanted = try self.request(request, entity)
    wanted.propertiesToFetch = ["\(path) AS value", "@count AS count"]
    wanted.propertiesToGroupBy = [PropertyPath(path)]
    wanted.sortKeys = ["-count"]
    wanted.fetchLimit = Self.maximumValues + 1
    let context = makeContext()
    defer { withExtendedLifetime(context) {} }
    let rows = try context.fetchRows(wanted)
    let source = RowSource(entity: entity)
    let values = try rows.prefix(Self.maximumValues).map { (row) throws(ArborError) -> JSONValue in
      let value = row["value"] ?? .null
      return [
        "value": try shown(value, in: context), "count": RowText.json(row["count"] ?? .null),
        "predicate": .string(try source.predicate(name, value)),
      ]
    }
    return ["values": .array(values), "hasMore": .bool(rows.count > Self.maximumValues)]
  }

  private func shown(
    _ value: PropertyValue, in context: ManagedObjectContext
  ) throws(ArborError) -> JSONValue {
    guard case .objectID(let id) = value else {
      return ValueJSON.json(value, maximumLength: ValueJSON.maximumLengthInTable)
    }
    return link(try context.objectIfThere(id))
  }

  /// Returns the position of an object among those that match, or null if it doesn't. Parameters:
  /// those of ``objects(_:)`` and `id`.
  func position(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let wanted = try self.request(request, entity(of: request))
    let id = try Self.id(request.parameter("id") ?? "", in: store)
    let place = try makeContext().fetchIDs(wanted).firstIndex(of: id)
    return ["position": place.map { JSONValue($0) } ?? .null]
  }
}
