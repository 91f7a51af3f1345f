package import ArborFoundation
internal import CArborBits

/// Encodes numbers and texts as bytes: little-endian, unaligned, with a checksum at the end.
package struct ByteWriter {
  package private(set) var bytes: [UInt8]

  /// - Parameter count: The expected number of bytes, if known.
  package init(reserving count: Int = 0) {
    bytes = []
    bytes.reserveCapacity(count)
  }

  package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func append(_ id: UUID) { withUnsafeBytes(of: id.uuid) { append($0) } }

  package mutating func append(_ run: some Sequence<UInt8>) { bytes.append(contentsOf: run) }

  /// Appends a variable-length number: seven bits per byte, least significant first, with the high
  /// bit set in all bytes but the last.
  package mutating func appendVariable(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a length as ``appendVariable(_:)``, followed by the bytes.
  package mutating func appendRun(_ run: some Collection<UInt8>) {
    appendVariable(UInt64(run.count))
    bytes.append(contentsOf: run)
  }

  /// Appends a length as ``appendVariable(_:)``, followed by the bytes that `fill` writes.
  package mutating func appendRun(of count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    appendVariable(UInt64(count))
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    bytes.withUnsafeMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
  }

  /// Appends the CRC-32C of all bytes so far.
  package mutating func appendChecksum(seed: UInt32 = 0) { append(Checksum.of(bytes, seed: seed)) }
}

/// Decodes the output of ``ByteWriter``. Every read is bounds-checked and returns `nil` for invalid
/// bytes.
package struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  package private(set) var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Creates a reader for the bytes before a trailing checksum, or `nil` if the checksum doesn't
  /// match.
  package init?(checked bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) {
    let end = bytes.count - 4
    guard end >= 0 else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
    guard Checksum.of(body, seed: seed) == stored else { return nil }
    self.bytes = body
  }

  package var isAtEnd: Bool { position == bytes.count }

  package var bytesLeft: Int { bytes.count - position }

  package mutating func read<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    let size = MemoryLayout<Number>.size
    guard bytes.count - position >= size else { return nil }
    defer { position += size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
  }

  package mutating func readVariable() -> UInt64? {
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

  package mutating func readBytes(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, bytes.count - position >= count else { return nil }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
  }

  package mutating func readUUID() -> UUID? {
    readBytes(16).map { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  package mutating func readRun() -> UnsafeRawBufferPointer? {
    guard let count = readVariable(), count <= UInt64(bytes.count) else { return nil }
    return readBytes(Int(count))
  }

  package mutating func readText() -> String? {
    readRun().flatMap { String(validating: $0, as: UTF8.self) }
  }
}

/// Computes CRC-32C checksums.
package enum Checksum {
  package static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
    guard let base = bytes.baseAddress else { return seed }
    return arbor_crc32c(seed, base, bytes.count)
  }

  package static func of(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { of($0, seed: seed) }
  }

  /// Returns the seed that binds a checksum to the key of its bytes.
  package static func seed(key: UInt64) -> UInt32 {
    withUnsafeBytes(of: key.littleEndian) { of($0) }
  }
}
