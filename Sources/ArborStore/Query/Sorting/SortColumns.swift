internal import ArborFoundation
internal import ArborModel

/// Reads the values of sort keys from records.
struct SortColumns {
  private let keys: [BoundSortKey]
  private let schema: ModelSchema
  /// The locale for localized keys that don't specify one.
  let locale: Locale
  private let resolver: SnapshotResolver?
  /// The readers of the computed keys, in their order, or `nil` if all keys are paths.
  private let readers: RowReaders?

  /// The value at the end of a sort key's path.
  enum Operand {
    case null
    case field(RecordField, RecordView)
    /// A binary value that is stored outside of the record.
    case binary(Data)
    case object(ObjectNumber)
    case text(String)
  }

  /// - Parameter resolver: The resolver that follows relationships, or `nil` if no key follows one.
  init(_ keys: [BoundSortKey], _ environment: PredicateEnvironment, resolver: SnapshotResolver?) {
    self.keys = keys
    schema = environment.schema
    locale = environment.locale
    self.resolver = resolver
    let computed = keys.compactMap(\.expression)
    readers = computed.isEmpty ? nil : RowReaders(computed, environment, resolver)
  }

  /// Returns the value at the end of a path from a row. It is valid until the next use of the
  /// resolver.
  func operand(
    _ path: BoundPath, _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) -> Operand {
    var (number, record, entity) = (number, record, entity)
    for hop in path.hops {
      guard case .field(let index) = entity.relationships[hop.slot].storage,
        let target = record.reference(entity.layout.fields[index]),
        schema.leads(hop, to: target), let targetEntity = schema.entity(of: target),
        let targetRecord = resolver?.record(of: target)
      else { return .null }
      (number, record, entity) = (target, targetRecord, targetEntity)
    }
    switch path.leaf {
    case .attribute(let attribute):
      let field = entity.attributes[attribute.slot].field
      if field.isExternal, case .binary(let data) = record.value(field, of: number, from: resolver)
      {
        return .binary(data)
      }
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

  /// Compiles the computed keys for an entity, so that reading them later cannot fail.
  func prepare(for entity: EntitySchema) throws(ArborError) { try readers?.prepare(for: entity) }

  /// Returns the values of the keys for a row, with objects as their numbers.
  func values(
    _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) throws(ArborError) -> [PropertyValue] {
    guard let readers else {
      return keys.map { $0.path.map { value($0, number, record, of: entity) } ?? .null }
    }
    var computed = try readers.values(number, record, of: entity)[...]
    return keys.map { key in
      key.path.map { value($0, number, record, of: entity) } ?? computed.popFirst() ?? .null
    }
  }

  private func value(
    _ path: BoundPath, _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) -> PropertyValue {
    switch operand(path, number, record, of: entity) {
    case .null: .null
    case .field(let field, let view): view.value(field)
    case .binary(let data): .binary(data)
    case .object(let number): .integer(Int64(bitPattern: number.rawValue))
    case .text(let text): .string(text)
    }
  }
}
