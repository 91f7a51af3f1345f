internal import LMDB

/// Puts and deletions of bytes in arrays: the few of the `arbor` database, and what a migration
/// copies.
extension WriteTransaction {
  func put(
    _ database: Database, key: [UInt8], value: [UInt8], _ mode: PutMode = .overwrite
  ) throws(LMDBError) {
    try key.withUnsafeBufferPointer { (key) throws(LMDBError) in
      try value.withUnsafeBufferPointer { (value) throws(LMDBError) in
        _ = try put(
          database, key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(value), mode)
      }
    }
  }

  @discardableResult
  func delete(_ database: Database, key: [UInt8]) throws(LMDBError) -> Bool {
    try key.withUnsafeBufferPointer { (key) throws(LMDBError) in
      try delete(database, key: UnsafeRawBufferPointer(key))
    }
  }
}
