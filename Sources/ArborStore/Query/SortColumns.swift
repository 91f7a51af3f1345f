internal import ArborModel

/// Reads what sort keys are about from records.
struct SortColumns {
  private let keys: [BoundSortKey]
  private let schema: ModelSchema
  private let resolver: SnapshotResolver?

  /// What a sort key found at the end of its path.
  enum Operand {
    case null
    case field(RecordField, RecordView)
    case object(ObjectNumber)
    case text(String)
  }

  /// - Parameter resolver: Follows relationships; nil where no key's path leads over one.
  init(_ keys: [BoundSortKey], schema: ModelSchema, resolver: SnapshotResolver?) {
    self.keys = keys
    self.schema = schema
    self.resolver = resolver
  }

  /// What a key reads from a row. The view is valid until the resolver is asked again.
  func operand(
    _ key: BoundSortKey, _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) -> Operand {
    operand(key.path, number, record, of: entity)
  }

  /// What a path leads to from a row. The view is valid until the resolver is asked again.
  func operand(
    _ path: BoundPath, _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) -> Operand {
    var (number, record, entity) = (number, record, entity)
    for hop in path.hops {
      guard case .field(let index) = entity.relationships[hop.slot].storage,
        let target = record.reference(entity.layout.fields[index]),
        let targetEntity = schema.entity(of: target),
        let targetRecord = resolver?.record(of: target)
      else { return .null }
      (number, record, entity) = (target, targetRecord, targetEntity)
    }
    switch path.leaf {
    case .attribute(let attribute):
      let field = entity.attributes[attribute.slot].field
      return record.isNull(field) ? .null : .field(field, record)
    case .toOne(let relationship):
      guard case .field(let index) = entity.relationships[relationship.slot].storage else {
        return .null
      }
      return record.reference(entity.layout.fields[index]).map(Operand.object) ?? .null
    case .object: return .object(number)
    case .entityName: return .text(entity.name)
    }
  }

  /// What a key reads from a row, as a value; objects by their numbers.
  func value(
    _ key: BoundSortKey, _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) -> Value {
    switch operand(key, number, record, of: entity) {
    case .null: .null
    case .field(let field, let view): view.value(field)
    case .object(let number): .integer(Int64(bitPattern: number.rawValue))
    case .text(let text): .string(text)
    }
  }
}
