package import ArborFoundation
package import ArborModel

extension StoreSnapshot {
  /// Returns the value of a field with external storage for a reference. If the reference is out of
  /// date, returns the object's current value.
  ///
  /// - Returns: `nil` if the object no longer exists or its current value is `nil`.
  /// - Throws: `corrupted` if the blob is damaged or missing.
  package func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) throws(StoreError) -> Data? {
    try translatingErrors { try source.blob(reference, of: number, field) }
  }
}

extension QuerySource {
  /// Returns the same as ``StoreSnapshot/blob(_:of:_:)``.
  func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) throws -> Data? {
    if let data = try stored(reference, number, field) { return data }
    // Keeps a converted record alive until the end.
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
        what: "A binary value stored outside the record is damaged or missing.")
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
