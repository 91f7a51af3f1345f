package import ArborModel

/// The record layouts of a store, old ones included, and the way from an old record to a new one.
///
/// A record stays in the layout it was written in until it is next written. Whoever reads one in an
/// older layout gets it in the newest: fields are found by their catalogue numbers, and one that
/// the record does not have yet holds the value that was frozen when the field was added.
package final class StoreLayouts: Sendable {
  /// In no order; the newest layouts are the entities' own. Most stores have none.
  private let older: [StoredLayout]

  package init(older: [StoredLayout] = []) { self.older = older }

  /// Checks bytes that come from the file and gives them in the newest layout.
  ///
  /// - Returns: The bytes themselves where they are in the newest layout already; else a copy in
  ///   the allocator's slab, without checksum.
  /// - Throws: `corrupted`.
  @inline(__always)
  package func verified(
    _ record: RecordView, of number: ObjectNumber, entity: EntitySchema,
    allocator: SlabAllocator
  ) throws(StoreError) -> RecordView {
    guard let damage = record.verify(entity.layout, key: number) else { return record }
    return try upgraded(record, of: number, entity: entity, allocator: allocator, after: damage)
  }

  @inline(never)
  private func upgraded(
    _ record: RecordView, of number: ObjectNumber, entity: EntitySchema,
    allocator: SlabAllocator, after damage: RecordView.Damage
  ) throws(StoreError) -> RecordView {
    var damage = damage
    let ofEntity = older.filter { $0.layout.entity == entity.number }
      .sorted { $0.layout.number < $1.layout.number }
    // The layout number can be read as soon as the record has a header.
    if record.count >= RecordLayout.headerSize,
      let place = ofEntity.firstIndex(where: { $0.layout.number == record.layoutNumber })
    {
      let old = ofEntity[place].layout
      guard let oldDamage = record.verify(old, key: number) else {
        return Self.convert(
          record, from: old, to: StoredLayout(entity),
          through: Array(ofEntity[(place + 1)...]), allocator: allocator)
      }
      damage = oldDamage
    }
    throw .corrupted(entity: entity.name, object: number, what: damage.sentence)
  }

  /// Copies every field that both layouts have; the others get the value that the first layout
  /// with them froze.
  private static func convert(
    _ record: RecordView, from old: RecordLayout, to newest: StoredLayout,
    through between: [StoredLayout], allocator: SlabAllocator
  ) -> RecordView {
    var buffer = RecordBuffer(copying: newest.layout.template, into: allocator)
    for field in newest.layout.fields {
      var value = Value.null
      if let source = old.fields.first(where: { $0.catalogNumber == field.catalogNumber }) {
        value = record.value(source)
      } else {
        for stored in between + [newest] {
          guard
            let place = stored.layout.fields.firstIndex(where: {
              $0.catalogNumber == field.catalogNumber
            })
          else { continue }
          value = stored.defaults[place]
          break
        }
      }
      if field.isExternal, !value.isNull,
        let source = old.fields.first(where: { $0.catalogNumber == field.catalogNumber })
      {
        // As it stands there, a reference or not.
        buffer.setFlags(record.flags)
        buffer.store(field, bytes: record.bytes(source), allocator: allocator)
      } else if !buffer.set(field, value, allocator: allocator) {
        buffer.setNull(field)
      }
    }
    buffer.setVersion(record.version)
    return buffer.view
  }
}

extension RecordView.Damage {
  /// What is wrong, for a message.
  package var sentence: String {
    switch self {
    case .tooShort: "The record is shorter than its layout."
    case .unknownFormat: "The record's format byte is unknown."
    case .otherLayout: "The record is in a layout that the store does not know."
    case .badChecksum: "The record's checksum does not match its bytes."
    case .fieldOutOfBounds: "A field of the record lies outside it."
    }
  }
}
