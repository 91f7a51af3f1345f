internal import ArborModel
internal import ArborObjects
internal import ArborSource

/// Objects and values as source: conditions of the predicate language, and Swift code that uses the
/// model's classes.
struct RowSource {
  let entity: BrowsedSchema.Entity

  /// Returns a condition that only these objects meet.
  func predicate(_ ids: [ObjectID]) throws(ArborError) -> String {
    let values = ids.map(PropertyValue.objectID)
    return ids.count == 1
      ? try FetchPredicate(format: "SELF == %@", values[0]).description
      : try FetchPredicate(format: "SELF IN %@", PropertyValue.list(values)).description
  }

  /// Returns a condition that objects with this value of a column meet.
  func predicate(_ column: String, _ value: PropertyValue) throws(ArborError) -> String {
    let path: String
    if entity.attributes.contains(where: { $0.name == column }) {
      path = PredicatePrinter.name(column)
    } else if let relationship = entity.relationships.first(where: { $0.name == column }) {
      path = PredicatePrinter.name(column) + (relationship.isToMany ? ".@count" : "")
    } else {
      // An expression, without the name of its column.
      path = column.replacing(#/\s+AS\s+\S+$/#.ignoresCase(), with: "")
        .replacing("%", with: "%%")
    }
    return try FetchPredicate(format: "\(path) == %@", limits: .untrusted, value).description
  }

  /// Returns a Swift expression for these objects.
  func swift(_ ids: [ObjectID]) -> String {
    let calls = ids.map { id in
      "store.objectID(\(SourceText.literal(id.entityName)), number: \(id.number))"
    }
    if calls.count == 1 { return "try \(calls[0])" }
    return "try context.objects(with: [\n  \(calls.joined(separator: ",\n  ")),\n])"
  }

  /// Returns Swift code that fetches the objects with this value of a column.
  func swift(_ column: String, _ value: PropertyValue) throws(ArborError) -> String {
    let condition = SourceText.literal(try predicate(column, value))
    return "try context.fetch(\(className).self, matching: \(condition))"
  }

  private var className: String {
    let last = entity.description.className?.split(separator: ".").last.map(String.init)
    return SourceText.identifier(SourceText.typeName(last ?? entity.name))
  }
}
