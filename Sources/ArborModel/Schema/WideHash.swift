/// A 128-bit FNV-1a hash. It is simple, yields the same hash on all machines and in all processes,
/// and is wide enough to make collisions between the models of a project, or the histories of a
/// store, implausible. It detects mistakes, not forgery.
package struct WideHash: Sendable, Hashable {
  package private(set) var bits: UInt128

  package init() { bits = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d }

  /// Creates a hash that continues from an earlier state.
  package init(bits: UInt128) { self.bits = bits }

  package mutating func mix(_ byte: UInt8) {
    bits = (bits ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
  }

  /// Mixes in a string followed by a zero byte, which names cannot contain, or a single byte 1 for
  /// `nil`.
  mutating func mix(_ text: String?) {
    guard let text else { return mix(1) }
    for byte in text.utf8 { mix(byte) }
    mix(0)
  }

  mutating func mix(_ flags: Bool...) { mix(flags.reduce(UInt8(1)) { $0 << 1 | ($1 ? 1 : 0) }) }

  /// Mixes in the bytes of a number, least significant first.
  package mutating func mix(number: UInt64) {
    for index in 0..<UInt64(8) { mix(UInt8(truncatingIfNeeded: number >> (index * 8))) }
  }

  /// Mixes in the number of the elements that follow.
  mutating func mix(count: Int) { mix(number: UInt64(bitPattern: Int64(count))) }
}
