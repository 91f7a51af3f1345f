internal import LMDB

extension TransactionReader {
  /// The bytes that a store keeps of itself under a key.
  ///
  /// - Throws: `corrupted` where there is no such entry.
  func entry(
    _ key: String, in arbor: Database
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let bytes = try entryIfPresent(key, in: arbor) else {
      throw .corrupted(entity: nil, object: nil, what: "The entry \(key) is missing.")
    }
    return bytes
  }

  /// The same of an entry that need not exist; nil where it does not.
  func entryIfPresent(
    _ key: String, in arbor: Database
  ) throws(StoreError) -> UnsafeRawBufferPointer? {
    try storing { () throws(LMDBError) in try get(arbor, key: Array(key.utf8)) }
  }
}
