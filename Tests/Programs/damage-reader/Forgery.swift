import ArborModel
import ArborStore
import CArborBits
import LMDB

/// A store file in which one entry was changed and all checksums recomputed, as an attacker would
/// do and no checksum reveals.
///
/// The same seed and number produce the same forgery.
struct Forgery {
  /// The kind of an entry, which determines the position of its checksum.
  private enum Kind {
    case header
    case checked
    case record(entity: UInt16, seed: UInt32)
    case history
    case plain
  }

  private var random: SplitMix
  private(set) var description = ""

  init(_ number: Int, seed: UInt64) {
    random = SplitMix(state: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// Forges an entry of a store's file, which must not be open.
  ///
  /// - Parameters:
  ///   - databases: The names and flags of the store's databases.
  ///   - entities: The catalog numbers of its entities, by database name.
  mutating func forge(
    _ path: String, _ databases: [(name: String, flags: DatabaseFlags)],
    _ entities: [String: UInt16]
  ) throws {
    var options = EnvironmentOptions()
    options.durability = .none
    options.initialMapSize = 1 << 26
    let environment = try Environment.open(path: path, options: options)
    defer { try? environment.close() }
    // At least one forgery in six concerns the entries that describe the store, which are few but
    // matter most.
    let choice = random.below(0, 6)
    let pool = choice == 0 ? databases.filter { $0.name == StoreFormat.arborDatabase } : databases
    let picked = pool[random.below(0, pool.count)]
    let opened = try environment.openDatabases([
      (name: StoreFormat.arborDatabase, flags: StoreFormat.arborFlags), picked,
    ])
    guard opened[0] != nil, let database = opened[1] else { return }
    try environment.write { transaction in
      var header = try StoreHeader.read(transaction.reader)
      header.transactionID = transaction.id
      if choice == 1 {
        description = "header"
        let bytes = forged(header.encoded(), .header, key: 0)
        try StoreHeader.write(header, in: transaction)
        try put(bytes, transaction)
        return
      }
      try forgeEntry(of: database, entities[picked.name], transaction)
      try StoreHeader.write(header, in: transaction)
    }
  }

  private func put(
    _ header: [UInt8], _ transaction: borrowing WriteTransaction
  ) throws {
    try put(.unnamed, Array(StoreFormat.headerKey.utf8), header, transaction)
  }

  private mutating func forgeEntry(
    of database: Database, _ entity: UInt16?, _ transaction: borrowing WriteTransaction
  ) throws {
    let count = try transaction.reader.entryCount(database)
    guard count > 0 else { return }
    let cursor = try transaction.reader.cursor(database)
    var entry = try cursor.first()
    for _ in 0..<random.below(0, min(count, 200)) { entry = try cursor.next() }
    guard let entry else { return }
    var key = Array(entry.key)
    let value = Array(entry.value)
    let number = key.count == 8 ? key.withUnsafeBytes { $0.load(as: UInt64.self) } : 0
    let kind = kind(of: database, key, value, entity)
    let hasSeveral = database.flags.contains(.duplicates)
    switch random.below(0, 10) {
    case 0:
      description = "key in \(database.name)"
      try delete(database, key, hasSeveral ? value : nil, transaction)
      // Keeps the width, so that a number remains a number and a string a valid key.
      mutate(&key, resizes: false)
      let moved = key.count == 8 ? key.withUnsafeBytes { $0.load(as: UInt64.self) } : 0
      try put(database, key, sealed(value, kind, key: moved), transaction)
    case 1:
      description = "entry gone from \(database.name)"
      try delete(database, key, hasSeveral ? value : nil, transaction)
    default:
      description = "value in \(database.name), key \(key.prefix(24))"
      let forged = forged(value, kind, key: number)
      if hasSeveral { try delete(database, key, value, transaction) }
      try put(database, key, forged, transaction)
    }
  }

  private func delete(
    _ database: Database, _ key: [UInt8], _ value: [UInt8]?,
    _ transaction: borrowing WriteTransaction
  ) throws {
    try key.withUnsafeBytes { key in
      guard let value else {
        _ = try transaction.delete(database, key: key)
        return
      }
      try value.withUnsafeBytes { _ = try transaction.delete(database, key: key, value: $0) }
    }
  }

  private func put(
    _ database: Database, _ key: [UInt8], _ value: [UInt8],
    _ transaction: borrowing WriteTransaction
  ) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { _ = try transaction.put(database, key: key, value: $0) }
    }
  }

  private func kind(
    of database: Database, _ key: [UInt8], _ value: [UInt8], _ entity: UInt16?
  ) -> Kind {
    if database.name == StoreFormat.historyDatabase { return .history }
    if let entity {
      let number = ObjectNumber(
        rawValue: key.count == 8 ? key.withUnsafeBytes { $0.load(as: UInt64.self) } : 0)
      let seed = value.withUnsafeBytes { RecordChecksum.seed(of: $0, key: number) }
      return .record(entity: entity, seed: seed ?? 0)
    }
    guard database.name == StoreFormat.arborDatabase else { return .plain }
    let isChecked = ["counter/", "layout/", StoreFormat.catalogKey].contains {
      key.starts(with: $0.utf8)
    }
    return isChecked ? .checked : .plain
  }

  // MARK: Bytes

  /// Numbers at which arithmetic is prone to fail.
  private static let extremes: [UInt64] = [
    0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    1 << 32, (1 << 48) - 1, 1 << 48, 1 << 62, (1 << 63) - 1, 1 << 63, .max - 1, .max,
    // Infinity and NaN, in both widths.
    0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 0x7F80_0000, 0x7FC0_0000,
    // The greatest and the least finite floating-point number.
    0x7FEF_FFFF_FFFF_FFFF, 0xFFEF_FFFF_FFFF_FFFF,
  ]

  private mutating func forged(_ value: [UInt8], _ kind: Kind, key: UInt64) -> [UInt8] {
    var forged = value
    switch kind {
    case .header:
      var head = Array(value.prefix(HeaderRecord.size - 4))
      mutate(&head, resizes: false)
      forged.replaceSubrange(..<head.count, with: head)
    case .plain: mutate(&forged, resizes: true)
    case .checked, .record, .history:
      forged.removeLast(min(4, forged.count))
      mutate(&forged, resizes: true)
      forged += [0, 0, 0, 0]
    }
    return sealed(forged, kind, key: key)
  }

  private mutating func mutate(_ bytes: inout [UInt8], resizes: Bool) {
    for _ in 0..<random.below(1, 4) {
      guard !bytes.isEmpty else { return }
      let position = random.below(0, bytes.count)
      switch random.below(0, resizes ? 8 : 5) {
      case 0: bytes[position] ^= 1 << UInt8(random.below(0, 8))
      case 1: bytes[position] = UInt8(random.below(0, 256))
      case 2...4: overwrite(&bytes, position)
      case 5: bytes.removeSubrange(position...)
      case 6:
        bytes += (0..<random.below(1, 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      default:
        let other = random.below(0, bytes.count)
        bytes.insert(contentsOf: bytes[min(position, other)..<max(position, other)], at: position)
      }
    }
  }

  /// Overwrites bytes with an extreme number of random width and byte order.
  private mutating func overwrite(_ bytes: inout [UInt8], _ position: Int) {
    let number = Self.extremes[random.below(0, Self.extremes.count)]
    let width = [1, 2, 4, 8][random.below(0, 4)]
    // Most fields are aligned to their width.
    let start = random.below(0, 2) == 0 ? position : position / width * width
    let isBig = random.below(0, 4) == 0
    for index in 0..<min(width, bytes.count - start) {
      let shift = UInt64(8 * (isBig ? width - 1 - index : index))
      bytes[start + index] = UInt8(truncatingIfNeeded: number >> shift)
    }
  }

  // MARK: Checksums

  private func sealed(_ value: [UInt8], _ kind: Kind, key: UInt64) -> [UInt8] {
    switch kind {
    case .plain: return value
    case .header: return sealed(value, upTo: HeaderRecord.size - 4, seed: 0)
    case .checked: return sealed(value, upTo: value.count - 4, seed: 0)
    case .history:
      let seed = withUnsafeBytes(of: key.littleEndian) { Self.checksum($0, seed: 0) }
      return sealed(value, upTo: value.count - 4, seed: seed)
    case .record(let entity, let seed):
      guard value.count > 4 else { return value }
      var sealed = value
      let checksum = value.withUnsafeBytes { bytes -> UInt32 in
        guard let base = bytes.baseAddress else { return 0 }
        return arbor_record_crc32c(key, entity, base, bytes.count - 4) ^ seed
      }
      withUnsafeBytes(of: checksum.littleEndian) {
        sealed.replaceSubrange(value.count - 4..<value.count, with: $0)
      }
      return sealed
    }
  }

  private func sealed(_ value: [UInt8], upTo end: Int, seed: UInt32) -> [UInt8] {
    guard end >= 0, value.count >= end + 4 else { return value }
    var sealed = value
    let checksum = value.withUnsafeBytes {
      Self.checksum(UnsafeRawBufferPointer(rebasing: $0[..<end]), seed: seed)
    }
    withUnsafeBytes(of: checksum.littleEndian) { sealed.replaceSubrange(end..<end + 4, with: $0) }
    return sealed
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt32) -> UInt32 {
    bytes.baseAddress.map { arbor_crc32c(seed, $0, bytes.count) } ?? seed
  }
}
