/// Positions in trees at which only sound pages lie: those whose page the writer has verified, as
/// long as nobody else commits.
///
/// A commit writes the pages on the paths of its changes anew, up to the roots, and the next one
/// would have to verify them again, which takes most of the time of a small commit. What lies at a
/// position that was verified is that page still, or one that this process has written since: pages
/// that are split, joined, or get nodes of a neighbour are written, and one that is not written
/// keeps its keys, so it does not come to the position of another.
///
/// A table of hashes, in which a position may take the place of another. What is missing in it is
/// verified.
struct SoundPositions: ~Copyable {
  private static let bits = 12
  private let table: UnsafeMutablePointer<UInt64>

  init() {
    // Sound: freed with the value, which cannot be copied; no index is larger.
    table = .allocate(capacity: 1 << Self.bits)
    table.initialize(repeating: 0, count: 1 << Self.bits)
  }

  deinit { table.deallocate() }

  @inline(__always)
  private func entry(of position: UInt64) -> UnsafeMutablePointer<UInt64> {
    table + Int(truncatingIfNeeded: position >> UInt64(64 - Self.bits))
  }

  /// Whether a position is known: a hash of the tree, the height in it, and the least key.
  @inline(__always)
  func contains(_ position: UInt64) -> Bool { entry(of: position).pointee == position | 1 }

  /// Adds a position, whose page is verified.
  @inline(__always)
  func insert(_ position: UInt64) { entry(of: position).pointee = position | 1 }

  /// Forgets all, since somebody else has committed, or a tree is another one.
  func removeAll() { table.update(repeating: 0, count: 1 << Self.bits) }
}
