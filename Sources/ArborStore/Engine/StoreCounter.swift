internal import ArborModel
package import LMDB

/// The counters in the `arbor` database. Each contains the first unreserved number.
package enum StoreCounter {
  package static func read(
    _ name: String, _ arbor: Database, _ reader: TransactionReader
  ) throws(StoreError) -> UInt64 {
    guard let bytes = try reader.entryIfPresent(StoreFormat.counterKey(name), in: arbor),
      let value = decode(bytes)
    else {
      throw .corrupted(what: "The counter \(name) is missing or damaged.")
    }
    return value
  }

  /// Returns the last number that a counter can assign.
  package static func limit(_ name: String) -> UInt64 {
    name == StoreFormat.uniqueIDCounter ? UInt64(Int64.max) : ObjectNumber.maximumSequence
  }

  /// Encodes a counter as eight bytes and their checksum, because a counter that was decreased by a
  /// flipped bit would assign numbers twice.
  package static func encode(_ value: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(value)
    writer.appendChecksum()
    return writer.bytes
  }

  /// Decodes the output of ``encode(_:)``. Returns `nil` for other bytes.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard var reader = ByteReader(checked: bytes), let value: UInt64 = reader.read(), reader.isAtEnd
    else { return nil }
    return value
  }

  package static func write(
    _ name: String, _ value: UInt64, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try StoreCreation.put(StoreFormat.counterKey(name), encode(value), arbor, transaction)
  }

  /// Raises a counter to a number if the number is greater.
  static func raise(
    _ name: String, to value: UInt64, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    guard try read(name, arbor, transaction.reader) < value else { return }
    try write(name, min(value, limit(name) + 1), arbor, transaction)
  }
}

extension StoreSnapshot {
  /// Returns all counters of the store by name.
  package func counters() throws(StoreError) -> [String: UInt64] {
    let arbor = store.databases.arbor
    var counters = [
      StoreFormat.uniqueIDCounter: try StoreCounter.read(
        StoreFormat.uniqueIDCounter, arbor, try reader)
    ]
    for entity in store.schema.concreteEntities {
      let name = StoreFormat.objectCounter(entity.number)
      counters[name] = try StoreCounter.read(name, arbor, try reader)
    }
    return counters
  }
}
