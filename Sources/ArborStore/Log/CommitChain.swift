package import Foundation

/// A value that tells two histories apart: it follows from every commit before.
///
/// 128 bits of FNV-1a over the value before, the sequence, and the length and checksum of the
/// commit. It guards against mistakes, not against forgery.
package struct CommitChain: Sendable, Hashable {
  package private(set) var bits: UInt128

  /// The beginning of a chain at a snapshot.
  package init(store: UUID, sequence: UInt64) {
    bits = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    withUnsafeBytes(of: store.uuid) { mix($0) }
    mix(sequence)
  }

  package init(bits: UInt128) { self.bits = bits }

  /// Goes on by a commit.
  package mutating func append(_ sequence: UInt64, _ body: UnsafeRawBufferPointer) {
    mix(sequence)
    mix(UInt64(body.count))
    // The last four bytes are the commit's checksum.
    mix(UnsafeRawBufferPointer(rebasing: body.suffix(4)))
  }

  private mutating func mix(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { mix($0) }
  }

  private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      bits = (bits ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }
  }
}
