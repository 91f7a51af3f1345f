package import ArborModel

/// The record layouts of a store, old ones included, and the way from an old record to a new one.
///
/// A record stays in the layout it was written in until it is next written. Code that reads one in
/// an older layout gets it in the newest: fields are found by their catalogue numbers, and one that
/// the record does not have yet holds the value that was frozen when the field was added.
package final class StoreLayouts: Sendable {
  /// By entity, then by layout number; most stores have none.
  private let conversions: [UInt16: [RecordConversion?]]

  /// The layouts of a store whose records are all in the newest ones.
  package init() { conversions = [:] }

  /// Works out the conversions.
  ///
  /// - Parameters:
  ///   - stored: All layouts of the entities of which there is more than one, in any order.
  ///   - entities: The entities as they are now.
  /// - Throws: `corrupted` where nothing says how a field of one layout becomes that of another.
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

  /// Returns the conversions from the older layouts of an entity, by layout number, or an empty
  /// array if there are none.
  func conversions(of entity: EntitySchema) -> [RecordConversion?] {
    conversions[entity.number] ?? []
  }

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

  /// The same of the value of an entry, which may be empty.
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

  @inline(never)
  private func upgraded(
    _ record: RecordView, of number: ObjectNumber, entity: EntitySchema,
    allocator: SlabAllocator, after damage: RecordView.Damage
  ) throws(StoreError) -> RecordView {
    var damage = damage
    // The layout number can be read as soon as the record has a header.
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
  /// What is wrong, for a message.
  package var sentence: String {
    switch self {
    case .tooShort: "The record is shorter than its layout."
    case .unknownFormat: "The record's format byte is unknown."
    case .otherLayout: "The record has a layout that the store doesn't know."
    case .badChecksum: "The record's checksum doesn't match its bytes."
    case .fieldOutOfBounds: "A field of the record is outside its bytes."
    }
  }
}
