internal import LMDB

/// Puts and deletions of keys that are made of text: the few of the `arbor` database.
extension WriteTransaction {
  func put(_ database: Database, key: [UInt8], value: [UInt8]) throws(LMDBError) {
    try key.withUnsafeBufferPointer { (key) throws(LMDBError) in
      try value.withUnsafeBufferPointer { (value) throws(LMDBError) in
        _ = try put(
          database, key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(value))
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
