/// Converts sets of an entity's changed properties between in-memory positions and the catalog
/// numbers that the history stores.
///
/// In memory, a set consists of the bits ``EntitySchema/changeBit(ofField:)`` and
/// ``EntitySchema/changeBit(ofLinks:)``. These are positions, which differ in another model, and
/// even in the same model if it is declared in another order. Catalog numbers are never reused.
/// In a file, bit *n* − 1 represents the field with number *n*, up to 63, and relationships that
/// are stored as links are listed by number. The highest bit represents all other properties.
package struct ChangeNumbers: Sendable {
  /// The catalog numbers of the layout's fields, in order.
  private let fields: [UInt16]
  /// The catalog numbers of the relationships that are stored as links, in order.
  private let links: [UInt16]
  /// The bits of fields that have a bit of their own.
  private let fieldBits: UInt64
  /// The bits of relationships that have a bit of their own.
  private let linkBits: UInt64
  /// Whether each field's number follows from its position, so that both forms have the same bits.
  private let isInOrder: Bool

  /// - Parameters:
  ///   - entities: All entities of the model.
  ///   - catalog: A catalog with numbers for all relationships; see
  ///     ``SchemaCatalog/completed(for:)``.
  init(_ entity: EntitySchema, in entities: [EntitySchema], _ catalog: SchemaCatalog) {
    fields = entity.layout.fields.map(\.catalogNumber)
    links = entity.relationships.filter { $0.storage == .links }.map { relationship in
      let owner = entities[relationship.declaringEntity].name
      return catalog.entries[owner]?.relationships[relationship.name]?.number ?? 0
    }
    fieldBits = EntitySchema.changeBit(ofField: fields.count) &- 1
    let end = EntitySchema.changeBit(ofField: fields.count + links.count)
    linkBits = (end &- 1) & ~fieldBits
    isInOrder = fields.enumerated().allSatisfy { Int($1) == $0 + 1 }
  }

  /// Returns the bit of a field's number in a file. A forged catalog can contain the number 0.
  private static func bit(_ number: UInt16) -> UInt64 {
    EntitySchema.changeBit(ofField: max(Int(number), 1) - 1)
  }

  // MARK: Encoding

  /// Returns the stored bits of a set, without the relationships of ``forEachLink(in:_:)``.
  package func numbered(_ bits: UInt64) -> UInt64 {
    let others = bits & EntitySchema.otherProperties
    var rest = bits & fieldBits
    if isInOrder { return rest | others }
    var numbered = others
    while rest != 0 {
      numbered |= Self.bit(fields[rest.trailingZeroBitCount])
      rest &= rest - 1
    }
    return numbered
  }

  /// Returns the number of relationships that are listed in addition to the bits of a set.
  package func linkCount(in bits: UInt64) -> Int { (bits & linkBits).nonzeroBitCount }

  /// Calls a closure with the number of each relationship that is listed in addition to the bits.
  package func forEachLink(in bits: UInt64, _ body: (UInt16) -> Void) {
    var rest = bits & linkBits
    while rest != 0 {
      body(links[rest.trailingZeroBitCount - fields.count])
      rest &= rest - 1
    }
  }

  // MARK: Decoding

  /// Returns the set for stored bits. Ignores numbers of properties that the model doesn't have.
  package func bits(numbered: UInt64) -> UInt64 {
    var bits = numbered & EntitySchema.otherProperties
    if isInOrder { return bits | numbered & fieldBits }
    for (position, number) in fields.enumerated() where numbered & Self.bit(number) != 0 {
      bits |= EntitySchema.changeBit(ofField: position)
    }
    return bits
  }

  /// Returns the bit of a relationship with the given number, or 0 if the model doesn't have it.
  package func bit(ofLink number: UInt16) -> UInt64 {
    links.firstIndex(of: number).map { EntitySchema.changeBit(ofField: fields.count + $0) } ?? 0
  }
}
