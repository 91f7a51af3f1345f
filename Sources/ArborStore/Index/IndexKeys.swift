package import ArborModel

/// Makes the keys of one index from the records of one concrete entity.
///
/// It resolves the index's columns to places in the record once, since a bulk insert makes a key
/// for every index of every record.
package struct IndexKeys: Sendable {
  /// One column, found in the records of the entity.
  package struct Column: Sendable {
    package let field: RecordField
    package let isAscending: Bool
  }

  // Most indexes have one column; it lies beside the others so that no array is touched for it.
  private let first: Column
  private let others: [Column]

  /// - Precondition: The index covers the entity.
  package init(_ index: IndexSchema, of entity: EntitySchema) {
    let columns = index.columns.map { column in
      Column(field: entity.field(of: column.source), isAscending: column.isAscending)
    }
    first = columns[0]
    others = Array(columns.dropFirst())
  }

  package var columns: [Column] { [first] + others }

  /// Writes a record's key over what the buffer held.
  @inline(__always)
  package func key(of record: RecordView, into key: inout KeyBuffer) {
    key.removeAll()
    KeyEncoder.append(first.field, of: record, isAscending: first.isAscending, to: &key)
    for column in others {
      KeyEncoder.append(column.field, of: record, isAscending: column.isAscending, to: &key)
    }
  }
}

extension EntitySchema {
  /// Where the records of this entity hold what an index column is over.
  package func field(of source: IndexSchema.Column.Source) -> RecordField {
    switch source {
    case .attribute(let slot): return attributes[slot].field
    case .toOne(let slot):
      guard case .field(let index) = relationships[slot].storage else {
        preconditionFailure("A to-many relationship has no field; index its to-one side.")
      }
      return layout.fields[index]
    }
  }

  /// The columns of an index, as ``KeyDecoder`` wants them.
  package func keyColumns(of index: IndexSchema) -> [KeyDecoder.Column] {
    index.columns.map { (kind: field(of: $0.source).kind, isAscending: $0.isAscending) }
  }
}
