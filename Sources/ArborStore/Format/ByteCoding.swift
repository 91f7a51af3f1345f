internal import CArborBits

/// Appends numbers and texts to bytes: little-endian, unaligned, with a checksum at the end.
struct ByteWriter {
  private(set) var bytes: [UInt8]

  /// - Parameter count: How many bytes will come, as far as that is known.
  init(reserving count: Int = 0) {
    bytes = []
    bytes.reserveCapacity(count)
  }

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ run: some Sequence<UInt8>) { bytes.append(contentsOf: run) }

  /// Seven bits a byte, the lowest first, the highest bit set in all but the last.
  mutating func appendVariable(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// A length as ``appendVariable(_:)``, then so many bytes.
  mutating func appendRun(_ run: some Collection<UInt8>) {
    appendVariable(UInt64(run.count))
    bytes.append(contentsOf: run)
  }

  /// The CRC-32C of everything before it.
  mutating func appendChecksum(seed: UInt32 = 0) {
    append(Checksum.of(bytes, seed: seed))
  }
}

/// Reads what ``ByteWriter`` wrote. Every read is checked; nil means that the bytes are no such
/// thing.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Reads everything before the checksum at the end; nil where that does not match.
  init?(checked bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) {
    let end = bytes.count - 4
    guard end >= 0 else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    let stored = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
    guard Checksum.of(body, seed: seed) == stored else { return nil }
    self.bytes = body
  }

  var isAtEnd: Bool { position == bytes.count }

  mutating func read<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    let size = MemoryLayout<Number>.size
    guard bytes.count - position >= size else { return nil }
    defer { position += size }
    return Number(
      littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
  }

  mutating func readVariable() -> UInt64? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count, shift < 64 {
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }

  mutating func readBytes(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, bytes.count - position >= count else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
  }

  mutating func readRun() -> UnsafeRawBufferPointer? {
    guard let count = readVariable(), count <= UInt64(bytes.count) else { return nil }
    return readBytes(Int(count))
  }

  mutating func readText() -> String? {
    readRun().flatMap { String(validating: $0, as: UTF8.self) }
  }
}

/// CRC-32C of runs of bytes.
enum Checksum {
  static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
    guard let base = bytes.baseAddress else { return seed }
    return arbor_crc32c(seed, base, bytes.count)
  }

  static func of(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { of($0, seed: seed) }
  }

  /// The seed that ties a checksum to the key of its bytes.
  static func seed(key: UInt64) -> UInt32 {
    withUnsafeBytes(of: key.littleEndian) { of($0) }
  }
}
