internal import ArborFoundation
package import ArborModel

/// Encodes the keys of one index from the records of one concrete entity.
///
/// The columns are resolved to record offsets once, because a bulk insert encodes a key for every
/// index of every record.
package struct IndexKeys: Sendable {
  /// A column, resolved for the records of the entity.
  package struct Column: Sendable {
    package let field: RecordField
    package let isAscending: Bool
    /// The folding of the text, or `nil` for a column of plain values.
    package let folding: StringFolding?
  }

  // Most indexes have a single column. It is stored separately to avoid an array access.
  private let first: Column
  private let others: [Column]
  private let isFolded: Bool

  /// - Precondition: The index covers the entity.
  package init(_ index: IndexSchema, of entity: EntitySchema) {
    self.init(index.columns, of: entity)
  }

  /// - Parameter columns: Leading columns of an index that covers the entity, at least one.
  package init(_ columns: [IndexSchema.Column], of entity: EntitySchema) {
    let columns = columns.map { column in
      var folding: StringFolding?
      if case .folded(let options) = column.kind { folding = options }
      return Column(
        field: entity.field(of: column.source), isAscending: column.isAscending, folding: folding)
    }
    first = columns[0]
    others = Array(columns.dropFirst())
    isFolded = columns.contains { $0.folding != nil }
  }

  package var columns: [Column] { [first] + others }

  /// Replaces the contents of the buffer with a record's key.
  ///
  /// - Precondition: The index is not a text index, which has one key per word.
  @inline(__always)
  package func key(of record: RecordView, into key: inout KeyBuffer) {
    key.removeAll()
    guard !isFolded else { return appendFolded(record, to: &key) }
    KeyEncoder.append(first.field, of: record, isAscending: first.isAscending, to: &key)
    for column in others {
      KeyEncoder.append(column.field, of: record, isAscending: column.isAscending, to: &key)
    }
  }

  @inline(never)
  private func appendFolded(_ record: RecordView, to key: inout KeyBuffer) {
    for column in columns {
      if let folding = column.folding {
        KeyEncoder.append(
          column.field, folding: folding, of: record, isAscending: column.isAscending, to: &key)
      } else {
        KeyEncoder.append(column.field, of: record, isAscending: column.isAscending, to: &key)
      }
    }
  }
}

extension EntitySchema {
  /// Returns the record field that an index column is derived from.
  package func field(of source: IndexSchema.Column.Source) -> RecordField {
    switch source {
    case .attribute(let slot): return attributes[slot].field
    case .toOne(let slot):
      guard case .field(let index) = relationships[slot].storage else {
        stopProgram("A to-many relationship has no field. Index its to-one side.")
      }
      return layout.fields[index]
    }
  }

  /// Returns the columns of an index in the form that ``KeyDecoder`` expects.
  package func keyColumns(of index: IndexSchema) -> [KeyDecoder.Column] {
    index.columns.map { (kind: field(of: $0.source).kind, isAscending: $0.isAscending) }
  }
}

/// Decides which records belong to a partial index: its condition, compiled for each entity it
/// covers.
///
/// Must be used by one thread at a time, like compiled predicates.
struct IndexFilter {
  private let conditions: [(entity: UInt16, holds: CompiledPredicate)]

  /// - Returns: `nil` for an index of all records.
  /// - Throws: `invalidModel`, which does not occur for a validated model.
  init?(_ index: IndexSchema, _ schema: ModelSchema, storeID: UUID) throws(StoreError) {
    guard let condition = index.condition else { return nil }
    let environment = PredicateEnvironment(schema: schema, storeID: storeID)
    var conditions: [(entity: UInt16, holds: CompiledPredicate)] = []
    do throws(ArborError) {
      for entityIndex in schema.entities[index.declaringEntity].concreteFamily {
        let entity = schema.entities[entityIndex]
        let bound = try condition.bound(to: entity, in: schema)
        let code = try PredicateCompiler.compile(
          [bound.root], arguments: condition.predicate.arguments, for: entity,
          environment: environment)
        conditions.append((entity.number, code))
      }
    } catch {
      throw .invalidModel(error)
    }
    self.conditions = conditions
  }

  func holds(_ record: RecordView, _ number: ObjectNumber) -> Bool {
    conditions.first { $0.entity == number.entity }?.holds(record, number, nil) ?? false
  }
}
