package import ArborFoundation
package import ArborModel
internal import LMDB

/// Large binaries that are stored outside their records, in chunks.
package enum BlobStorage {
  /// Returns the reference to a value that is about to be stored.
  package static func reference(
    to data: Data, of number: ObjectNumber, version: UInt32
  ) -> BlobReference {
    BlobReference(
      version: version, checksum: checksum(data, number), length: UInt64(data.count))
  }

  /// Returns the checksum, which is seeded with the object's number, so that another object's value
  /// is rejected.
  private static func checksum(_ data: Data, _ number: ObjectNumber) -> UInt32 {
    data.withUnsafeBytes { Checksum.of($0, seed: Checksum.seed(key: number.rawValue)) }
  }

  static func chunkCount(_ reference: BlobReference) -> UInt32 {
    let size = UInt64(StoreFormat.blobChunkSize)
    return UInt32(clamping: reference.length / size + (reference.length % size > 0 ? 1 : 0))
  }

  /// Reads a blob. Returns `nil` if it is missing or doesn't match the reference.
  static func read(
    _ reference: BlobReference, _ name: BlobName, _ database: Database, _ reader: TransactionReader
  ) throws(LMDBError) -> Data? {
    var data = Data()
    for chunk in 0..<chunkCount(reference) {
      guard let bytes = try reader.get(database, key: name.key(chunk: chunk)) else { return nil }
      // The length in a damaged reference cannot be trusted.
      if chunk == 0, reference.length <= 1 << 30 { data.reserveCapacity(Int(reference.length)) }
      data.append(contentsOf: bytes)
    }
    guard UInt64(data.count) == reference.length, checksum(data, name.number) == reference.checksum
    else { return nil }
    return data
  }

  static func write(
    _ blob: ChangeSet.Blob, _ database: Database, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    // `Data` does not preserve the error type of its closure.
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
      try transaction.put(database, key: name.key(chunk: chunk), value: part)
      (start, chunk) = (end, chunk + 1)
    }
  }

  static func delete(
    _ reference: BlobReference, _ name: BlobName, _ database: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    // A damaged reference may claim billions of chunks, so deletion stops at the first missing one.
    for chunk in 0..<chunkCount(reference) {
      guard try transaction.delete(database, key: name.key(chunk: chunk)) else { return }
    }
  }
}
