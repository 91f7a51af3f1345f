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
    /// The part of the field's JSON that the column contains, or `nil` for the field itself.
    let part: CodablePath?
  }

  // Most indexes have a single column. It is stored separately to avoid an array access.
  private let first: Column
  private let others: [Column]
  /// Whether the columns contain the values of fields as they are.
  private let isPlain: Bool

  /// - Precondition: The index covers the entity.
  package init(_ index: IndexSchema, of entity: EntitySchema) {
    self.init(index.columns, of: entity)
  }

  /// - Parameter columns: Leading columns of an index that covers the entity, at least one.
  package init(_ columns: [IndexSchema.Column], of entity: EntitySchema) {
    let columns = columns.map { column in
      var folding: StringFolding?
      if case .folded(let options) = column.kind { folding = options }
      var part: CodablePath?
      if case .part(_, let path) = column.source { part = path }
      return Column(
        field: entity.field(of: column.source), isAscending: column.isAscending, folding: folding,
        part: part)
    }
    first = columns[0]
    others = Array(columns.dropFirst())
    isPlain = columns.allSatisfy { $0.folding == nil && $0.part == nil }
  }

  package var columns: [Column] { [first] + others }

  /// Replaces the contents of the buffer with a record's key.
  ///
  /// - Precondition: A record has one key in the index, not one for each word or element.
  @inline(__always)
  package func key(of record: RecordView, into key: inout KeyBuffer) {
    key.removeAll()
    guard isPlain else { return appendDerived(record, to: &key) }
    KeyEncoder.append(first.field, of: record, isAscending: first.isAscending, to: &key)
    for column in others {
      KeyEncoder.append(column.field, of: record, isAscending: column.isAscending, to: &key)
    }
  }

  @inline(never)
  private func appendDerived(_ record: RecordView, to key: inout KeyBuffer) {
    for column in columns {
      if let part = column.part {
        column.append(part, of: record, to: &key)
      } else if let folding = column.folding {
        KeyEncoder.append(
          column.field, folding: folding, of: record, isAscending: column.isAscending, to: &key)
      } else {
        KeyEncoder.append(column.field, of: record, isAscending: column.isAscending, to: &key)
      }
    }
  }
}

extension IndexKeys.Column {
  /// Appends a part of the field's JSON to a key.
  fileprivate func append(_ part: CodablePath, of record: RecordView, to key: inout KeyBuffer) {
    guard let kind = part.fieldKind, !record.isNull(field) else {
      return KeyEncoder.appendNil(isAscending: isAscending, to: &key)
    }
    var value = part.indexedValue(in: record.bytes(field))
    if let folding, case .string(let text) = value { value = .string(folding.fold(text)) }
    if !KeyEncoder.append(value, as: kind, isAscending: isAscending, to: &key) {
      KeyEncoder.appendNil(isAscending: isAscending, to: &key)
    }
  }
}

extension EntitySchema {
  /// Returns the record field that an index column is derived from.
  package func field(of source: IndexSchema.Column.Source) -> RecordField {
    switch source {
    case .attribute(let slot), .part(let slot, _): return attributes[slot].field
    case .toOne(let slot):
      guard case .field(let index) = relationships[slot].storage else {
        stopProgram("A to-many relationship has no field. Index its to-one side.")
      }
      return layout.fields[index]
    }
  }

  /// Returns the kind of the values that an index column contains.
  package func kind(of column: IndexSchema.Column) -> FieldKind {
    guard case .part(_, let part) = column.source,
      let kind = column.kind == .elements ? part.elementKind : part.fieldKind
    else { return field(of: column.source).kind }
    return kind
  }

  /// Returns the columns of an index in the form that ``KeyDecoder`` expects.
  package func keyColumns(of index: IndexSchema) -> [KeyDecoder.Column] {
    index.columns.map { (kind: kind(of: $0), isAscending: $0.isAscending) }
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
