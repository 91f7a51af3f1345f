internal import ArborModel
internal import Foundation

/// Reads what sort keys are about from records.
struct SortColumns {
  private let keys: [BoundSortKey]
  private let schema: ModelSchema
  /// The locale of localized keys without one of their own.
  let locale: Locale
  private let resolver: SnapshotResolver?
  /// Compute the keys that are no paths, in their order; nil where all are paths.
  private let readers: RowReaders?

  /// What a sort key found at the end of its path.
  enum Operand {
    case null
    case field(RecordField, RecordView)
    case object(ObjectNumber)
    case text(String)
  }

  /// - Parameter resolver: Follows relationships; nil where no key leads over one.
  init(_ keys: [BoundSortKey], _ environment: PredicateEnvironment, resolver: SnapshotResolver?) {
    self.keys = keys
    schema = environment.schema
    locale = environment.locale
    self.resolver = resolver
    let computed = keys.compactMap(\.expression)
    readers = computed.isEmpty ? nil : RowReaders(computed, environment, resolver)
  }

  /// What a path leads to from a row. The view is valid until the resolver is asked again.
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

  /// Compiles what is computed of an entity's objects, so that reading of them cannot fail.
  func prepare(for entity: EntitySchema) throws(ArborError) { try readers?.prepare(for: entity) }

  /// What the keys find at a row, as values; objects by their numbers.
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
    case .object(let number): .integer(Int64(bitPattern: number.rawValue))
    case .text(let text): .string(text)
    }
  }
}
