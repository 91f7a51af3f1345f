package import ArborModel
package import Foundation

extension StoreSnapshot {
  /// The value of a field with external storage, by the reference that somebody holds; where that
  /// is out of date, the value that the object has by now.
  ///
  /// - Returns: nil where the object is gone, or its value is nil by now.
  /// - Throws: `corrupted` where the blob is damaged or lost.
  package func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) throws(StoreError) -> Data? {
    try translatingErrors { try source.blob(reference, of: number, field) }
  }
}

extension QuerySource {
  /// As ``StoreSnapshot/blob(_:of:_:)``.
  func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) throws -> Data? {
    if let data = try stored(reference, number, field) { return data }
    // Holds a record of an older layout until the end.
    let upgraded = SlabAllocator(slabSize: 4 << 10)
    defer { withExtendedLifetime(upgraded) {} }
    guard let entity = schema.entity(of: number), !entity.isAbstract,
      let record = try reader.record(
        number, of: entity, in: records(entity), store.layouts, upgraded), !record.isNull(field)
    else { return nil }
    switch record.content(field) {
    case .value(let bytes): return Data(bytes)
    case .reference(let current):
      if current != reference, let data = try stored(current, number, field) { return data }
      throw StoreError.corrupted(
        entity: entity.name, object: number,
        what: "A binary stored outside the record is damaged or missing.")
    }
  }

  private func stored(
    _ reference: BlobReference, _ number: ObjectNumber, _ field: RecordField
  ) throws -> Data? {
    guard let entity = schema.entity(of: number),
      let database = store.databases.blobs(entity.index)
    else { return nil }
    return try BlobStorage.read(reference, BlobName(reference, of: number, field), database, reader)
  }
}
