package import ArborModel

/// The position of a copy of a store in the log that it shares.
///
/// ```
/// sequence u64 · generation u32 · chain u128
/// · count u8 · for each, oldest first: sequence u64 · chain u128
/// · crc32c u32
/// ```
///
/// It is stored under the key `shared`. It includes earlier positions: if the log has lost its end,
/// they determine the last point that the store and the log have in common.
package struct SharedPosition: Sendable, Hashable {
  /// The end of a group of commits.
  package struct Point: Sendable, Hashable {
    package let sequence: UInt64
    /// The hash chain of the history up to the sequence number.
    package let chain: CommitChain

    package init(sequence: UInt64, chain: CommitChain) {
      self.sequence = sequence
      self.chain = chain
    }
  }

  /// The maximum number of earlier points to keep.
  static let maximumEarlierCount = 32

  package let newest: Point
  /// The model generation of the commits.
  package let generation: UInt32
  /// The earlier points, oldest first.
  package let earlier: [Point]

  package var sequence: UInt64 { newest.sequence }
  package var chain: CommitChain { newest.chain }

  package init(sequence: UInt64, generation: UInt32, chain: CommitChain, earlier: [Point] = []) {
    newest = Point(sequence: sequence, chain: chain)
    self.generation = generation
    self.earlier = earlier
  }

  /// Returns the position after applying a group.
  func after(_ group: LoggedGroup) -> SharedPosition {
    SharedPosition(
      sequence: group.last, generation: generation, chain: group.chain,
      earlier: (earlier + [newest]).suffix(Self.maximumEarlierCount))
  }

  /// Returns the error for a group that does not follow this position.
  func misfit(_ group: LoggedGroup) -> StoreError {
    guard group.first > sequence + 1 else {
      return .log(
        ArborError(
          .forked,
          "The store and its log diverged after commit \(sequence). Close the store and reopen it. "
            + "Reopening preserves the commits that the log doesn't have."))
    }
    return .log(
      ArborError(
        .modelChanged,
        "The log no longer has the commits after the store's newest commit, \(sequence). The store "
          + "can still be read. Close and reopen the store to rebuild it from the log's newest "
          + "snapshot."))
  }

  /// Returns the error for a store with commits that did not go through its log.
  package static func ownCommits(behind sequence: UInt64) -> ArborError {
    ArborError(
      .forked,
      "The store has commits of its own after commit \(sequence), the last one from its log. Move "
        + "the store's file away, then reopen the store to rebuild it from the log.")
  }

  // MARK: Bytes

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(sequence)
    writer.append(generation)
    writer.append(chain.bits)
    writer.append(UInt8(earlier.count))
    for point in earlier {
      writer.append(point.sequence)
      writer.append(point.chain.bits)
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// Decodes the output of ``encoded()``. Returns `nil` for other bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let sequence: UInt64 = reader.read(),
      let generation: UInt32 = reader.read(), let chain: UInt128 = reader.read(),
      let count: UInt8 = reader.read()
    else { return nil }
    var earlier: [Point] = []
    for _ in 0..<count {
      guard let sequence: UInt64 = reader.read(), let chain: UInt128 = reader.read() else {
        return nil
      }
      earlier.append(Point(sequence: sequence, chain: CommitChain(bits: chain)))
    }
    guard reader.isAtEnd else { return nil }
    self.init(
      sequence: sequence, generation: generation, chain: CommitChain(bits: chain), earlier: earlier)
  }
}
