internal import ArborModel

/// Summarizes several key paths and expressions of the rows in one pass.
struct PathSummaries: RowSink {
  /// A value that is read once per row, no matter how many functions use it.
  private struct Entry {
    let text: String
    let isDistinct: Bool
    let keepsValues: Bool
    let path: BoundPath?
    /// The index of the expression in ``readers`` if there is no path.
    let expressionIndex: Int

    /// A summary that reads the stored field directly, or `nil` if values have to be created from
    /// it.
    var fieldSummary: FieldSummary? {
      guard !isDistinct, !keepsValues, case .attribute(let attribute)? = path?.leaf else {
        return nil
      }
      return FieldSummary(kind: attribute.field.kind)
    }
  }

  private let columns: SortColumns
  private let readers: RowReaders
  private let entries: [Entry]
  private let readsExpressions: Bool
  private var fields: [FieldSummary?]
  private var values: [ValueSummary?]
  private var rowCount = 0
  /// The index of each aggregate's entry, or `nil` for a count of the rows themselves.
  private let entryOf: [Int?]
  private let functions: [AggregateExpression.Function]

  init(
    _ aggregates: [BoundAggregate], columns: SortColumns, _ environment: PredicateEnvironment,
    _ resolver: SnapshotResolver
  ) {
    self.columns = columns
    functions = aggregates.map(\.function)
    var (entries, entryOf): ([Entry], [Int?]) = ([], [])
    var expressions: [BoundExpression] = []
    for aggregate in aggregates {
      var path: BoundPath?
      switch aggregate.source {
      case .objects:
        entryOf.append(nil)
        continue
      case .path(let own): path = own
      case .expression: break
      }
      let keepsValues = aggregate.function.takesAllValues
      let known = entries.firstIndex {
        $0.text == aggregate.text && $0.isDistinct == aggregate.isDistinct
          && $0.keepsValues == keepsValues
      }
      entryOf.append(known ?? entries.count)
      guard known == nil else { continue }
      entries.append(
        Entry(
          text: aggregate.text, isDistinct: aggregate.isDistinct, keepsValues: keepsValues,
          path: path, expressionIndex: expressions.count))
      if case .expression(let expression) = aggregate.source { expressions.append(expression) }
    }
    self.entries = entries
    self.entryOf = entryOf
    readers = RowReaders(expressions, environment, resolver)
    readsExpressions = !expressions.isEmpty
    fields = entries.map(\.fieldSummary)
    values = zip(fields, entries).map { field, entry in
      field == nil
        ? ValueSummary(isDistinct: entry.isDistinct, keepsValues: entry.keepsValues) : nil
    }
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    rowCount += rows.count
    for index in rows.indices {
      let row = rows[index]
      try add(row.number, row.record, of: entity)
    }
    return true
  }

  private mutating func add(
    _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) throws {
    let computed = readsExpressions ? try readers.values(number, record, of: entity) : []
    for index in entries.indices {
      guard let path = entries[index].path else {
        values[index]?.add(computed[entries[index].expressionIndex])
        continue
      }
      switch columns.operand(path, number, record, of: entity) {
      case .null: break
      case .field(let field, let view):
        if fields[index] != nil {
          fields[index]?.add(view, field)
        } else {
          values[index]?.add(view.value(field))
        }
      case .binary(let data): values[index]?.add(.binary(data))
      case .object(let target): values[index]?.add(.integer(Int64(bitPattern: target.rawValue)))
      case .text(let text): values[index]?.add(.string(text))
      }
    }
  }

  /// The result of each aggregate.
  var results: [PropertyValue] {
    zip(functions, entryOf).map { function, entry in
      guard let entry else { return .integer(Int64(rowCount)) }
      return fields[entry]?.value(of: function) ?? values[entry]?.value(of: function) ?? .null
    }
  }
}
