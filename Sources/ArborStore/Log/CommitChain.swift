internal import ArborModel
package import Foundation

/// A value that tells two histories apart: it follows from every commit before, by the sequence,
/// length and checksum of each.
package struct CommitChain: Sendable, Hashable {
  private var hash: WideHash

  package var bits: UInt128 { hash.bits }

  /// The beginning of a chain at a snapshot.
  package init(store: UUID, sequence: UInt64) {
    hash = WideHash()
    withUnsafeBytes(of: store.uuid) { for byte in $0 { hash.mix(byte) } }
    hash.mix(number: sequence)
  }

  package init(bits: UInt128) { hash = WideHash(bits: bits) }

  /// Goes on by a commit.
  package mutating func append(_ sequence: UInt64, _ body: UnsafeRawBufferPointer) {
    hash.mix(number: sequence)
    hash.mix(number: UInt64(body.count))
    // The last four bytes are the commit's checksum.
    for byte in body.suffix(4) { hash.mix(byte) }
  }
}
