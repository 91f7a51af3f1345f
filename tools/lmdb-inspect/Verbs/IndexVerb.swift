import ArborJSON
import ArborModel
import ArborStore
import ArgumentParser

/// `index`: lists the indexes of a store.
struct IndexVerb: RowVerb {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Lists a store's indexes with their columns and sizes.",
    discussion: "Example: lmdb-inspect index Staff.arbor Employee")

  @OptionGroup var target: FileArguments
  @OptionGroup var rows: RowArguments
  @OptionGroup var sizes: SizeArguments

  @Argument(
    help: "The entity whose indexes are listed. The default is all entities.",
    completion: StoreCompletion.entities)
  var entity: String?

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let store = try file.requireStore()
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    var indexes = try snapshot.indexes()
    if let entity {
      guard store.schema.entity(named: entity) != nil else {
        throw InspectError.unknownEntity(entity, among: store.schema.entities.map(\.name))
      }
      indexes = indexes.filter { $0.entity == entity }
    }
    let builds = try snapshot.indexBuilds()
    let listed = indexes.map { index in
      (index, builds.first { $0.entity == index.entity && $0.index == index.name })
    }
    printer.print(
      listed.map(Self.json), columns: Self.columns, table: table(listed),
      empty: "no indexes")
  }

  private static let columns = [
    "entity", "name", "columns", "unique", "where", "entries", "pages", "bytes", "state",
  ]

  private static func state(_ build: IndexBuildStatus?) -> String {
    switch build?.state {
    case nil: "ready"
    case .building: "building"
    case .writeOnly: "writeOnly"
    }
  }

  private static func json(_ index: IndexStatistics, _ build: IndexBuildStatus?) -> JSONValue {
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
      "state": .string(state(build)),
    ]
  }

  private func table(_ indexes: [(IndexStatistics, IndexBuildStatus?)]) -> TextTable {
    var text = TextTable(["entries", "pages", sizes.title, "index", "columns"])
    for (index, build) in indexes {
      let summary = FetchIndexDescription(
        name: index.name, elements: index.columns, partialIndexPredicate: index.condition,
        isUnique: index.isUnique
      ).summary
      text.add(
        [
          String(index.entries), String(index.pages), sizes.text(index.bytes),
          "\(index.entity).\(index.name)", summary + Self.note(build),
        ])
    }
    return text
  }

  private static func note(_ build: IndexBuildStatus?) -> String {
    switch build?.state {
    case nil: ""
    case .building:
      build.map { ", being filled: about \($0.objectsDone) of \($0.objectCount) objects" } ?? ""
    case .writeOnly: ", filled, uniqueness not yet verified"
    }
  }
}
