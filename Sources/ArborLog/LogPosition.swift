internal import ArborFoundation
internal import ArborStore

/// The position of a store in the log that it follows.
///
/// `log UUID · base u32 · sequence u64 · chain u128 · crc32c u32`, under the key `follows` of the
/// store.
struct LogPosition: Sendable, Hashable {
  let log: UUID
  let base: UInt32
  let sequence: UInt64
  /// The chain of the history up to the sequence.
  let chain: CommitChain
}

extension LogPosition {
  init(log: UUID, _ end: LogEnd) {
    self.init(log: log, base: end.base, sequence: end.sequence, chain: end.chain)
  }

  /// The position as the store records it.
  var recorded: FollowedPosition { FollowedPosition(sequence: sequence, bytes: encoded()) }

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(log)
    writer.append(base)
    writer.append(sequence)
    writer.append(chain.bits)
    writer.appendChecksum()
    return writer.bytes
  }

  /// Returns `nil` for bytes that ``encoded()`` has not produced.
  init?(_ bytes: [UInt8]) {
    let found = bytes.withRawBytes { bytes -> LogPosition? in
      guard var reader = ByteReader(checked: bytes), let log = reader.readUUID(),
        let base: UInt32 = reader.read(), let sequence: UInt64 = reader.read(),
        let chain: UInt128 = reader.read(), reader.isAtEnd
      else { return nil }
      return LogPosition(log: log, base: base, sequence: sequence, chain: CommitChain(bits: chain))
    }
    guard let found else { return nil }
    self = found
  }
}
