/// The layout of an entity's records in one version of the entity.
///
/// ```
///  0        1          3           7            7+n
/// ┌────────┬──────────┬───────────┬────────────┬─────────────┬──────┬───────────────┬──────────┬───────┐
/// │flags u8│layout u16│version u32│ null bits  │ fixed slots │ ends │ variable area │commit u48│crc u32│
/// └────────┴──────────┴───────────┴────────────┴─────────────┴──────┴───────────────┴──────────┴───────┘
/// ```
///
/// - There is one null bit per field, 1 for null, lowest bit first; `n` is the number of fields /
///   8, rounded up. The slot of a null field is zero.
/// - Fixed slots are in field order without gaps, with the width of their kinds.
/// - There is one end per variable field, in field order: the u32 offset, from the start of the
///   variable area, of the end of its bytes. They start at the end of the preceding variable field.
///   A null field has no bytes, and the last field ends with the area.
/// - `version` counts the writes of the record, for optimistic concurrency control.
/// - `commit` is the sequence number of the commit that wrote the record.
/// - The checksum is CRC-32C over object number (u64), entity number (u16) and all preceding bytes,
///   XORed with the store's seed, so that a record stored under another key or in another store is
///   detected. A record in memory has neither commit nor checksum: it ends with its variable area.
///
/// All numbers are little-endian and unaligned.
@usableFromInline
package final class RecordLayout: Sendable {
  package static let headerSize = 7
  /// The size of what follows the variable area of a stored record: commit and checksum.
  @usableFromInline package static let trailerSize = 10
  static let commitSize = 6
  /// The flag of records in which a field with external storage may contain a reference.
  package static let blobFlag: UInt8 = 1
  package static let flagsOffset = 0
  @usableFromInline package static let layoutOffset = 1
  @usableFromInline package static let versionOffset = 3

  /// The entity's catalog number.
  @usableFromInline package let entity: UInt16
  /// The layout's number within its entity, counting from 1.
  @usableFromInline package let number: UInt16
  /// The store's seed of checksums; see ``SchemaCatalog/seed``.
  @usableFromInline package let seed: UInt32
  package let fields: [RecordField]
  /// The start of the variable area.
  @usableFromInline package let fixedEnd: Int
  /// The start of the ends of variable fields.
  @usableFromInline let endsStart: Int
  /// The fields whose bytes are in the variable area, in their order there.
  @usableFromInline package let variableFields: [RecordField]
  let transientFields: [RecordField]
  /// The fields whose values may be stored outside the record.
  package let externalFields: [RecordField]
  /// The fields whose values the store computes.
  package let derivedFields: [RecordField]
  /// A new record with default values and version 0, without a checksum.
  package let template: [UInt8]

  /// Creates a layout with fields in the given order.
  ///
  /// - Parameters:
  ///   - fields: For each field, its kind, whether it is transient, its catalog number, and the
  ///     value in new records, which must match the kind; see ``RecordBuffer/set(_:_:allocator:)``.
  ///   - external: The catalog numbers of binary fields that may be stored outside the record.
  ///   - derived: The catalog numbers of fields whose values the store computes.
  package init(
    entity: UInt16, number: UInt16, seed: UInt32 = 0,
    fields specifications: [(
      kind: FieldKind, isTransient: Bool, catalogNumber: UInt16, defaultValue: PropertyValue
    )], external: Set<UInt16> = [], derived: Set<UInt16> = []
  ) {
    self.entity = entity
    self.number = number
    self.seed = seed
    var slot = Self.headerSize + (specifications.count + 7) / 8
    let endsStart = specifications.reduce(slot) { $0 + ($1.kind.isVariable ? 0 : $1.kind.width) }
    let fixedEnd = specifications.reduce(slot) { $0 + $1.kind.width }
    var end = endsStart
    var fields: [RecordField] = []
    fields.reserveCapacity(specifications.count)
    for (position, field) in specifications.enumerated() {
      let isVariable = field.kind.isVariable
      fields.append(
        RecordField(
          kind: field.kind, isTransient: field.isTransient,
          isExternal: external.contains(field.catalogNumber),
          isDerived: derived.contains(field.catalogNumber), position: position,
          offset: isVariable ? end : slot,
          area: isVariable ? .init(start: fixedEnd, isFirst: end == endsStart) : nil,
          catalogNumber: field.catalogNumber))
      if isVariable { end += field.kind.width } else { slot += field.kind.width }
    }
    self.fields = fields
    self.endsStart = endsStart
    self.fixedEnd = fixedEnd
    variableFields = fields.filter(\.kind.isVariable)
    transientFields = fields.filter(\.isTransient)
    externalFields = fields.filter(\.isExternal)
    derivedFields = fields.filter(\.isDerived)
    template = Self.makeTemplate(
      fields: fields, fixedEnd: fixedEnd, number: number,
      defaults: specifications.map(\.defaultValue))
  }

  /// Creates an older layout with its fields in the order of a newer one, for reading only.
  ///
  /// - Parameter fields: For each field of the newer layout, the corresponding field of the older
  ///   one. Any field can be passed for those that the older layout doesn't have, because they are
  ///   never read.
  init(_ older: RecordLayout, rearranged fields: [RecordField]) {
    entity = older.entity
    number = older.number
    seed = older.seed
    self.fields = fields
    endsStart = older.endsStart
    fixedEnd = older.fixedEnd
    variableFields = older.variableFields
    transientFields = older.transientFields
    externalFields = fields.filter(\.isExternal)
    derivedFields = fields.filter(\.isDerived)
    template = []
  }

  private static func makeTemplate(
    fields: [RecordField], fixedEnd: Int, number: UInt16, defaults: [PropertyValue]
  ) -> [UInt8] {
    var empty = [UInt8](repeating: 0, count: fixedEnd)
    empty[layoutOffset] = UInt8(truncatingIfNeeded: number)
    empty[layoutOffset + 1] = UInt8(truncatingIfNeeded: number >> 8)
    for field in fields { empty[Int(field.nullOffset)] |= field.nullMask }
    let allocator = SlabAllocator(slabSize: 4096)
    var record = RecordBuffer(copying: empty, into: allocator)
    for (field, value) in zip(fields, defaults) where !value.isNull {
      _ = record.set(field, value, allocator: allocator)
    }
    return Array(record.view.bytes)
  }
}
