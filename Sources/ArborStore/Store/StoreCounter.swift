package import LMDB

/// The counters in the `arbor` database: each the first number that nobody has reserved.
package enum StoreCounter {
  package static func read(
    _ name: String, _ arbor: Database, _ reader: TransactionReader
  ) throws(StoreError) -> UInt64 {
    let key = Array(StoreFormat.counterKey(name).utf8)
    guard
      let bytes = try storing({ () throws(LMDBError) in try reader.get(arbor, key: key) }),
      bytes.count == 8
    else {
      throw .corrupted(
        entity: nil, object: nil, what: "The counter \(name) is missing or damaged.")
    }
    return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
  }

  package static func write(
    _ name: String, _ value: UInt64, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    let key = Array(StoreFormat.counterKey(name).utf8)
    try transaction.put(arbor, key: key, value: withUnsafeBytes(of: value.littleEndian, Array.init))
  }
}
