internal import ArborModel

/// Summarises several key paths of rows at once.
struct PathSummaries: RowSink {
  private let columns: SortColumns
  private let entries: [Entry]
  private var fields: [FieldSummary?]
  private var values: [ValueSummary?]
  private var rowCount = 0

  /// What is read once a row, whatever the number of functions of it.
  fileprivate struct Entry: Hashable {
    let path: PathKey
    let isDistinct: Bool
  }

  /// A path by what it reads.
  fileprivate struct PathKey: Hashable {
    let hops: [Int]
    let leaf: Leaf
    enum Leaf: Hashable { case attribute(Int), toOne(Int), object, entityName }
  }

  private let paths: [BoundPath]
  /// For each aggregate the entry it is of; nil for the rows themselves.
  private let entryOf: [Int?]
  private let functions: [Aggregate.Function]

  init(_ aggregates: [BoundAggregate], columns: SortColumns) {
    self.columns = columns
    functions = aggregates.map(\.function)
    var (entries, paths, entryOf): ([Entry], [BoundPath], [Int?]) = ([], [], [])
    for aggregate in aggregates {
      guard let path = aggregate.path else {
        entryOf.append(nil)
        continue
      }
      let entry = Entry(path: PathKey(path), isDistinct: aggregate.isDistinct)
      if let known = entries.firstIndex(of: entry) {
        entryOf.append(known)
      } else {
        entryOf.append(entries.count)
        entries.append(entry)
        paths.append(path)
      }
    }
    self.entries = entries
    self.paths = paths
    self.entryOf = entryOf
    fields = zip(paths, entries).map { path, entry in
      guard !entry.isDistinct, case .attribute(let attribute) = path.leaf else { return nil }
      return FieldSummary(kind: attribute.field.kind)
    }
    values = zip(fields, entries).map { field, entry in
      field == nil ? ValueSummary(isDistinct: entry.isDistinct) : nil
    }
  }

  mutating func take(
    _ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema
  ) -> Bool {
    rowCount += 1
    for place in paths.indices {
      switch columns.operand(paths[place], number, row.record, of: entity) {
      case .null: break
      case .field(let field, let view):
        if fields[place] != nil {
          fields[place]?.add(view, field)
        } else {
          values[place]?.add(view.value(field))
        }
      case .object(let target):
        values[place]?.add(.integer(Int64(bitPattern: target.rawValue)))
      case .text(let text): values[place]?.add(.string(text))
      }
    }
    return true
  }

  /// The value of each aggregate.
  var results: [Value] {
    zip(functions, entryOf).map { function, entry in
      guard let entry else { return .integer(Int64(rowCount)) }
      return fields[entry]?.value(of: function) ?? values[entry]?.value(of: function) ?? .null
    }
  }
}

extension PathSummaries.PathKey {
  fileprivate init(_ path: BoundPath) {
    hops = path.hops.flatMap { [$0.declaringEntity, $0.slot] }
    leaf =
      switch path.leaf {
      case .attribute(let attribute): .attribute(attribute.slot)
      case .toOne(let relationship): .toOne(relationship.slot)
      case .object: .object
      case .entityName: .entityName
      }
  }
}
