import ArborModel
import ArborStore
import LMDB
import TestSupport

/// Bytes as libraries of earlier formats wrote them.
enum EarlierFormat {
  /// A catalogue of the formats 1 and 2, without stored names.
  static func catalog(_ catalog: SchemaCatalog) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ number: UInt16) { bytes += [UInt8(number & 0xFF), UInt8(number >> 8)] }
    func add(_ name: String) { bytes += [UInt8(name.utf8.count)] + name.utf8 }
    add(UInt16(catalog.entries.count))
    for (name, entry) in catalog.entries.sorted(by: { $0.value.number < $1.value.number }) {
      add(entry.number)
      add(entry.layoutNumber)
      add(name)
      add(UInt16(entry.properties.count))
      for (property, number) in entry.properties.sorted(by: { $0.value < $1.value }) {
        add(number)
        add(property)
      }
    }
    let checksum = checksum(bytes)
    return bytes + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
  }

  /// CRC-32C, bit by bit.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var rest: UInt32 = ~0
    for byte in bytes {
      rest ^= UInt32(byte)
      for _ in 0..<8 { rest = rest >> 1 ^ (rest & 1 == 1 ? 0x82F6_3B78 : 0) }
    }
    return ~rest
  }

  /// Makes an open store one of format 2.2, whose databases are named after its model.
  static func enter(_ file: StoreEngine) throws {
    try Vandal(file: file).write { transaction, header in
      (header.majorVersion, header.minorVersion) = (2, 2)
      let catalog = EarlierFormat.catalog(file.schema.catalog)
      try Array(StoreFormat.catalogKey.utf8).withUnsafeBytes { key in
        try catalog.withUnsafeBytes {
          _ = try transaction.put(file.databases.arbor, key: key, value: $0)
        }
      }
    }
  }
}
