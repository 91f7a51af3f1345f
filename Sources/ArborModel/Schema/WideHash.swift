/// FNV-1a of 128 bits: short to write, equal on every machine and in every process, and wide enough
/// that no two models of a project, or histories of a store, meet. It guards against mistakes, not
/// against forgery.
package struct WideHash: Sendable, Hashable {
  package private(set) var bits: UInt128

  package init() { bits = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d }

  /// Goes on where another one was.
  package init(bits: UInt128) { self.bits = bits }

  package mutating func mix(_ byte: UInt8) {
    bits = (bits ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
  }

  /// A zero byte ends every text; a name cannot hold one.
  mutating func mix(_ text: String?) {
    guard let text else { return mix(1) }
    for byte in text.utf8 { mix(byte) }
    mix(0)
  }

  mutating func mix(_ flags: Bool...) { mix(flags.reduce(UInt8(1)) { $0 << 1 | ($1 ? 1 : 0) }) }

  /// The bytes of a number, the lowest first.
  package mutating func mix(number: UInt64) {
    for index in 0..<UInt64(8) { mix(UInt8(truncatingIfNeeded: number >> (index * 8))) }
  }

  /// A number of things; what follows is theirs.
  mutating func mix(count: Int) { mix(number: UInt64(bitPattern: Int64(count))) }
}
