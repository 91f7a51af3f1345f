package import ArborModel

/// The record layouts of a store, including older ones, and the conversions to the newest ones.
///
/// A record stays in the layout it was written in until it is next written. Records in older
/// layouts are converted when read: fields are matched by catalog number, and a field that the
/// record lacks has the value that was frozen when the field was added.
package final class StoreLayouts: Sendable {
  /// The conversions by entity and layout number. Most stores have none.
  private let conversions: [UInt16: [RecordConversion?]]

  /// Creates the layouts of a store whose records are all in the newest layouts.
  package init() { conversions = [:] }

  /// Determines the conversions.
  ///
  /// - Parameters:
  ///   - stored: All layouts of the entities that have more than one, in any order.
  ///   - entities: The current entities.
  /// - Throws: `corrupted` if a field of one layout cannot be converted to another.
  package init(_ stored: [StoredLayout], of entities: [EntitySchema]) throws(StoreError) {
    var conversions: [UInt16: [RecordConversion?]] = [:]
    let byEntity = Dictionary(grouping: stored) { $0.layout.entity }
    for entity in entities {
      let layouts = (byEntity[entity.number] ?? []).sorted { $0.layout.number < $1.layout.number }
      for (index, old) in layouts.enumerated() where old.layout.number < entity.layout.number {
        guard
          let conversion = RecordConversion(
            from: old.layout, through: Array(layouts[(index + 1)...]), to: entity.layout)
        else {
          throw .corrupted(
            entity: entity.name,
            what: "The layout \(old.layout.number) has a field of a kind that cannot be converted.")
        }
        let none = [RecordConversion?](repeating: nil, count: Int(entity.layout.number))
        conversions[entity.number, default: none][Int(old.layout.number)] = conversion
      }
    }
    self.conversions = conversions
  }

  /// Returns the conversions from the older layouts of an entity, by layout number.
  func conversions(of entity: EntitySchema) -> [RecordConversion?] {
    conversions[entity.number] ?? []
  }

  /// Verifies a record from the file and returns it in the newest layout.
  ///
  /// - Returns: The record itself if it is in the newest layout. Otherwise a converted copy in the
  ///   allocator's slab, without checksum.
  /// - Throws: `corrupted` if the record is damaged.
  @inline(__always)
  package func verified(
    _ record: RecordView, of number: ObjectNumber, entity: EntitySchema,
    allocator: SlabAllocator
  ) throws(StoreError) -> RecordView {
    guard let damage = record.verify(entity.layout, key: number) else { return record }
    return try upgraded(record, of: number, entity: entity, allocator: allocator, after: damage)
  }

  /// Verifies the value of an entry, which may be empty, and returns it in the newest layout.
  @inline(__always)
  func verified(
    _ bytes: UnsafeRawBufferPointer, of number: ObjectNumber, entity: EntitySchema,
    allocator: SlabAllocator
  ) throws(StoreError) -> RecordView {
    guard let base = bytes.baseAddress else {
      throw .corrupted(entity: entity.name, object: number, what: "The record is empty.")
    }
    let record = RecordView(base: base, count: bytes.count)
    return try verified(record, of: number, entity: entity, allocator: allocator)
  }

  /// Converts a record of an older layout.
  ///
  /// - Parameter damage: The reason why the record isn't valid in the newest layout.
  /// - Returns: A copy in the allocator's slab, without checksum.
  /// - Throws: `corrupted` if the record isn't valid in any layout.
  @inline(never)
  func upgraded(
    _ record: RecordView, of number: ObjectNumber, entity: EntitySchema,
    allocator: SlabAllocator, after damage: RecordView.Damage
  ) throws(StoreError) -> RecordView {
    var damage = damage
    // The layout number can be read once the record is known to have a header.
    let conversions = conversions(of: entity)
    if record.count >= RecordLayout.headerSize,
      conversions.indices.contains(Int(record.layoutNumber)),
      let conversion = conversions[Int(record.layoutNumber)]
    {
      guard let oldDamage = record.verify(conversion.old, key: number) else {
        return conversion.convert(record, allocator: allocator)
      }
      damage = oldDamage
    }
    throw .corrupted(entity: entity.name, object: number, what: damage.sentence)
  }
}

extension RecordView.Damage {
  /// The damage as a sentence for messages.
  package var sentence: String {
    switch self {
    case .tooShort: "The record is shorter than its layout."
    case .otherLayout: "The record has a layout that the store doesn't know."
    case .badChecksum: "The record's checksum doesn't match its bytes."
    case .fieldOutOfBounds: "The fields don't fill the bytes of the record."
    }
  }
}
