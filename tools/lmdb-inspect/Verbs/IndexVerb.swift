import ArborModel
import ArborStore
import ArgumentParser

/// `index`: the indexes of a store.
struct IndexVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Lists a store's indexes with what they are over and sizes.")

  @OptionGroup var target: FileArguments

  @Argument(help: "The entity whose indexes are listed; all where it is left out.")
  var entity: String?

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let store = try file.requireStore()
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    var indexes = try snapshot.indexes()
    if let entity {
      guard store.schema.entity(named: entity) != nil else {
        throw InspectError.notFound(
          "The store has no entity \(entity)."
            + NearestName.hint(entity, in: store.schema.entities.map(\.name)))
      }
      indexes = indexes.filter { $0.entity == entity }
    }
    printer.print(json: .array(indexes.map(Self.json)), text: Self.text(indexes))
  }

  private static func json(_ index: IndexStatistics) -> JSONValue {
    [
      "entity": .string(index.entity),
      "name": .string(index.name),
      "columns": .array(
        index.columns.map { column in
          [
            "property": .string(column.property), "descending": .bool(!column.isAscending),
            "kind": .string(column.kind.rawValue),
          ]
        }),
      "unique": .bool(index.isUnique),
      "where": index.condition.map(JSONValue.string) ?? .null,
      "entries": JSONValue(index.entries),
      "pages": JSONValue(index.pages),
      "bytes": JSONValue(index.bytes),
    ]
  }

  private static func text(_ indexes: [IndexStatistics]) -> String {
    guard !indexes.isEmpty else { return "no indexes" }
    var text = TextTable(["entries", "pages", "bytes", "index", "over"])
    for index in indexes {
      let summary = FetchIndexDescription(
        name: index.name, elements: index.columns, partialIndexPredicate: index.condition,
        isUnique: index.isUnique
      ).summary
      text.add(
        [index.entries, index.pages, index.bytes].map(String.init)
          + ["\(index.entity).\(index.name)", summary])
    }
    return text.text
  }
}
