/// What one entity's sets of changed properties mean by catalogue numbers, as the history keeps
/// them.
///
/// In memory a set has the bits of ``EntitySchema/changeBit(ofField:)`` and
/// ``EntitySchema/changeBit(ofLinks:)``, which are positions: another model, or the same one
/// declared in another order, has other properties there. The numbers of the catalogue never come
/// back. In a file a set has bit *n* − 1 for the field with number *n*, up to 63, and the numbers
/// of relationships that are kept as links in a list; the highest bit stands for all others.
package struct ChangeNumbers: Sendable {
  /// The numbers of the layout's fields, in their order.
  private let fields: [UInt16]
  /// The numbers of the relationships that are kept as links, in their order.
  private let links: [UInt16]
  /// The bits of fields that have one alone.
  private let fieldBits: UInt64
  /// The bits of relationships that have one alone.
  private let linkBits: UInt64
  /// Whether each field's number follows from its position, so that the bits are the same.
  private let isInOrder: Bool
  private let layout: UInt16

  /// - Parameters:
  ///   - entities: All entities of the model.
  ///   - catalog: With numbers for all relationships, see ``SchemaCatalog/completed(for:)``.
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
    layout = entity.layout.number
  }

  /// The bit of a field's number in a file; a forged catalogue may have a number 0.
  private static func bit(_ number: UInt16) -> UInt64 {
    EntitySchema.changeBit(ofField: max(Int(number), 1) - 1)
  }

  // MARK: Into a file

  /// The bits that a file has for a set, without the relationships of
  /// ``forEachLink(in:_:)``.
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

  /// How many relationships are listed beside the bits of a set.
  package func linkCount(in bits: UInt64) -> Int { (bits & linkBits).nonzeroBitCount }

  /// Hands on the number of each relationship that is listed beside the bits of a set.
  package func forEachLink(in bits: UInt64, _ body: (UInt16) -> Void) {
    var rest = bits & linkBits
    while rest != 0 {
      body(links[rest.trailingZeroBitCount - fields.count])
      rest &= rest - 1
    }
  }

  // MARK: From a file

  /// The set that bits in a file mean; numbers that the model does not have are of what it has no
  /// longer, or not yet.
  package func bits(numbered: UInt64) -> UInt64 {
    var bits = numbered & EntitySchema.otherProperties
    if isInOrder { return bits | numbered & fieldBits }
    for (position, number) in fields.enumerated() where numbered & Self.bit(number) != 0 {
      bits |= EntitySchema.changeBit(ofField: position)
    }
    return bits
  }

  /// The bit of a relationship by its number; none where the model does not have it.
  package func bit(ofLink number: UInt16) -> UInt64 {
    links.firstIndex(of: number).map { EntitySchema.changeBit(ofField: fields.count + $0) } ?? 0
  }

  /// What a set means that a library of format 3.0 or before left: positions in the layout that was
  /// the newest then, followed by relationships in the order of a declaration that nobody knows.
  ///
  /// - Returns: Everything that may be meant, where that is more than one thing.
  package func bits(ofPositions positions: UInt64) -> UInt64 {
    if layout > 1 { return .max }
    return positions & ~fieldBits == 0
      ? positions : positions & fieldBits | linkBits | EntitySchema.otherProperties
  }
}
