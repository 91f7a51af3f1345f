package import ArborModel
package import Foundation
internal import LMDB

/// Whose blob something is; see ``BlobReference``.
package struct BlobName: Sendable, Hashable {
  package let number: ObjectNumber
  /// The property's catalogue number.
  package let property: UInt16
  package let version: UInt32

  package init(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) {
    self.number = number
    property = field.catalogNumber
    version = reference.version
  }

  init(number: ObjectNumber, property: UInt16, version: UInt32) {
    self.number = number
    self.property = property
    self.version = version
  }

  /// The key of a chunk: all parts big-endian, so that the chunks of a blob follow one another.
  package func key(chunk: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(Self.keySize)
    func append(_ word: some FixedWidthInteger) {
      withUnsafeBytes(of: word.bigEndian) { key.append(contentsOf: $0) }
    }
    append(number.rawValue)
    append(property)
    append(version)
    append(chunk)
    return key
  }

  private static let keySize = 18

  /// The blob and the chunk of a key; nil for bytes that are none.
  package static func of(key: UnsafeRawBufferPointer) -> (name: BlobName, chunk: UInt32)? {
    guard key.count == keySize else { return nil }
    func word<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
      T(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    let name = BlobName(
      number: ObjectNumber(rawValue: word(0, UInt64.self)), property: word(8, UInt16.self),
      version: word(10, UInt32.self))
    return (name, word(14, UInt32.self))
  }
}

/// Large binaries outside of their records, in chunks.
package enum BlobStorage {
  /// The reference to a value that is about to be stored.
  package static func reference(
    to data: Data, of number: ObjectNumber, version: UInt32
  ) -> BlobReference {
    BlobReference(
      version: version, checksum: checksum(data, number), length: UInt64(data.count))
  }

  /// The checksum begins with the object's number, so that another object's value does not pass.
  private static func checksum(_ data: Data, _ number: ObjectNumber) -> UInt32 {
    data.withUnsafeBytes { Checksum.of($0, seed: Checksum.seed(key: number.rawValue)) }
  }

  static func chunkCount(_ reference: BlobReference) -> UInt32 {
    let size = UInt64(StoreFormat.blobChunkSize)
    return UInt32(clamping: reference.length / size + (reference.length % size > 0 ? 1 : 0))
  }

  /// Reads a blob; nil where it is not there, or another is.
  static func read(
    _ reference: BlobReference, _ name: BlobName, _ database: Database, _ reader: TransactionReader
  ) throws(LMDBError) -> Data? {
    var data = Data()
    for chunk in 0..<chunkCount(reference) {
      guard let bytes = try reader.get(database, key: name.key(chunk: chunk)) else { return nil }
      // What a damaged reference promises is not believed.
      if chunk == 0, reference.length <= 1 << 30 { data.reserveCapacity(Int(reference.length)) }
      data.append(contentsOf: bytes)
    }
    guard UInt64(data.count) == reference.length,
      checksum(data, name.number) == reference.checksum
    else { return nil }
    return data
  }

  static func write(
    _ blob: ChangeSet.Blob, _ database: Database, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    // `Data` forgets what type its closure throws.
    var failure: LMDBError?
    blob.data.withUnsafeBytes { bytes in
      do throws(LMDBError) { try write(bytes, blob.name, database, transaction) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, _ name: BlobName, _ database: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    var (start, chunk) = (0, UInt32(0))
    while start < bytes.count {
      let end = min(start + StoreFormat.blobChunkSize, bytes.count)
      let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      try name.key(chunk: chunk).withUnsafeBufferPointer { (key) throws(LMDBError) in
        _ = try transaction.put(database, key: UnsafeRawBufferPointer(key), value: part)
      }
      (start, chunk) = (end, chunk + 1)
    }
  }

  static func delete(
    _ reference: BlobReference, _ name: BlobName, _ database: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    // A damaged reference may promise billions of chunks: the first that is missing is the last.
    for chunk in 0..<chunkCount(reference) {
      guard try transaction.delete(database, key: name.key(chunk: chunk)) else { return }
    }
  }
}

extension StoreEngine {
  /// Whether large binaries of an entity can lie outside of its records: not in a file of an
  /// earlier format that was opened for reading only.
  package func keepsBlobs(of entity: EntitySchema) -> Bool {
    databases.blobs(entity.index) != nil
  }
}

extension StoreSnapshot {
  /// The value of a field with external storage, by the reference that somebody holds; where that
  /// is out of date, the value that the object has by now.
  ///
  /// - Returns: nil where the object is gone, or its value is nil by now.
  /// - Throws: `corrupted` where the blob is damaged or lost.
  package func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) throws(StoreError) -> Data? {
    try answering { try source.blob(reference, of: number, field) }
  }
}

extension QuerySource {
  /// As ``StoreSnapshot/blob(_:of:_:)``.
  func blob(
    _ reference: BlobReference, of number: ObjectNumber, _ field: RecordField
  ) throws -> Data? {
    if let data = try stored(reference, number, field) { return data }
    guard let entity = schema.entity(of: number), !entity.isAbstract,
      let bytes = try reader.get(records(entity), key: number.rawValue),
      let base = bytes.baseAddress
    else { return nil }
    let record = try store.verified(
      RecordView(base: base, count: bytes.count), of: number, entity: entity,
      allocator: SlabAllocator(slabSize: 4 << 10))
    guard !record.isNull(field) else { return nil }
    switch record.content(field) {
    case .value(let bytes): return Data(bytes)
    case .reference(let current):
      if current != reference, let data = try stored(current, number, field) { return data }
      throw StoreError.corrupted(
        entity: entity.name, object: number,
        what: "A binary outside of the record is damaged or missing.")
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
