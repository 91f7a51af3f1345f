/// How far a copy of a store has the log that it shares.
///
/// `sequence u64 · chain u128 · crc32c u32`, under the key `shared` of the store.
struct SharedPosition: Sendable, Hashable {
  let sequence: UInt64
  let chain: CommitChain

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(sequence)
    writer.append(chain.bits)
    writer.appendChecksum()
    return writer.bytes
  }

  init(sequence: UInt64, chain: CommitChain) {
    self.sequence = sequence
    self.chain = chain
  }

  /// nil for bytes that ``encoded()`` did not make.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let sequence: UInt64 = reader.read(),
      let chain: UInt128 = reader.read(), reader.isAtEnd
    else { return nil }
    self.init(sequence: sequence, chain: CommitChain(bits: chain))
  }
}
