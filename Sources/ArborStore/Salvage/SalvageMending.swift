internal import ArborModel
internal import LMDB

/// Removes dangling data from the records of the new store: to-one links to objects that are
/// missing or don't link back, and references to damaged large binaries.
final class SalvageMending {
  private let target: SalvageTarget
  private var mended: [(number: ObjectNumber, buffer: RecordBuffer)] = []
  private(set) var lostLinks = SalvagedLinks.LinkOutcome()
  private(set) var lostBinaries: [SalvageOutcome.LostBinary] = []
  private(set) var lostBinaryCount = 0

  init(_ target: SalvageTarget) { self.target = target }

  /// - Returns: Whether a record was changed, so that other links may now be dangling.
  func run() throws(StoreError) -> Bool {
    var hasChanged = false
    for plan in target.entities {
      let external = plan.entity.layout.externalFields
      guard !plan.references.isEmpty || !external.isEmpty else { continue }
      try target.forEachRecord(of: plan) { (number, record) throws(StoreError) in
        try mend(number, record, plan)
      } batch: { () throws(StoreError) in
        if try write() { hasChanged = true }
      }
    }
    return hasChanged
  }

  private func mend(
    _ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan
  ) throws(StoreError) {
    let lost = try target.read { (reader) throws(StoreError) in
      let allocator = SlabAllocator(slabSize: 4 << 10)
      var references: [(WritePlan.Reference, ObjectNumber)] = []
      for reference in plan.references {
        guard let other = record.reference(reference.field),
          try !isKept(number, reference, other, plan.entity, reader, allocator)
        else { continue }
        references.append((reference, other))
      }
      var binaries: [RecordField] = []
      for field in plan.entity.layout.externalFields {
        guard let reference = record.blob(field),
          try !isWhole(reference, number, field, plan.entity, reader)
        else { continue }
        binaries.append(field)
      }
      return (references: references, binaries: binaries)
    }
    guard !lost.references.isEmpty || !lost.binaries.isEmpty else { return }
    let allocator = SlabAllocator(slabSize: 4 << 10)
    var buffer = RecordBuffer(copying: record.bytes, into: allocator)
    for (reference, other) in lost.references {
      buffer.setNull(reference.field)
      lostLinks.note((number, plan.entity.relationships[reference.slot], other))
    }
    for field in lost.binaries { remove(field, from: &buffer, number, plan.entity, allocator) }
    mended.append((number, buffer))
  }

  /// Removes a lost binary value. A mandatory one becomes empty, because an object without it would
  /// be invalid.
  private func remove(
    _ field: RecordField, from buffer: inout RecordBuffer, _ number: ObjectNumber,
    _ entity: EntitySchema, _ allocator: SlabAllocator
  ) {
    let attribute = entity.attributes.first { $0.field.catalogNumber == field.catalogNumber }
    buffer.setNull(field)
    if let attribute, !attribute.description.isOptional {
      buffer.store(
        external: field, bytes: UnsafeRawBufferPointer(start: nil, count: 0), allocator: allocator)
    }
    lostBinaryCount += 1
    guard lostBinaries.count < SalvageOutcome.maximumListed else { return }
    lostBinaries.append(SalvageOutcome.LostBinary(owner: number, attribute: attribute?.name ?? ""))
  }

  private func isKept(
    _ number: ObjectNumber, _ reference: WritePlan.Reference, _ other: ObjectNumber,
    _ entity: EntitySchema, _ reader: TransactionReader, _ allocator: SlabAllocator
  ) throws(StoreError) -> Bool {
    let relationship = entity.relationships[reference.slot]
    guard target.schema.leads(relationship, to: other), try storing(target.exists(other, reader))
    else { return false }
    guard reference.listIndex == nil else { return true }
    let inverse = target.schema.inverse(of: relationship)
    guard let record = try target.record(other, reader, allocator),
      let field = target.field(inverse, of: other)
    else { return false }
    return record.reference(field) == number
  }

  private func isWhole(
    _ reference: BlobReference, _ number: ObjectNumber, _ field: RecordField,
    _ entity: EntitySchema, _ reader: TransactionReader
  ) throws(StoreError) -> Bool {
    guard let database = target.databases.blobs(entity.index) else { return false }
    return try storing(
      BlobStorage.read(reference, BlobName(reference, of: number, field), database, reader) != nil)
  }

  private func write() throws(StoreError) -> Bool {
    guard !mended.isEmpty else { return false }
    try target.write { (transaction) throws(StoreError) in
      for (number, buffer) in mended {
        guard let entity = target.schema.entity(of: number) else { continue }
        let records = target.databases.records(entity.index)
        try transaction.put(buffer.view, of: number, entity, in: records)
      }
    }
    mended.removeAll()
    return true
  }
}
