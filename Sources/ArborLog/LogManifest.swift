internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The description of a snapshot in a log.
///
/// ```
/// magic 8 bytes · version u16 · zero u16 · log UUID · store UUID · base u32 · generation u32
/// · sequence u64 · chain before u128 · date f64 · date of the commit f64 · size u64
/// · counters · for each: name · value u64 · blocks · for each: crc32c u32 · crc32c u32
/// ```
///
/// `chain before` is the chain of the commits after the previous snapshot, or 0 if they don't lead
/// to this one. They do if they end at the same commit or at a migration. A block is 1 MiB of the
/// snapshot; the last one may be shorter.
struct LogManifest: Sendable, Hashable {
  static let blockSize = 1 << 20
  private static let magic = Array("ArborBas".utf8)
  private static let version: UInt16 = 1

  let log: UUID
  let store: UUID
  let base: UInt32
  /// The generation of the store's model.
  let generation: UInt32
  /// The sequence of the newest commit in the snapshot.
  let sequence: UInt64
  /// The chain of the commits after the previous snapshot, or `nil` if they don't lead to this one.
  let previous: CommitChain?
  let date: Date
  /// The date of the newest commit, or the date of the snapshot if that is unknown.
  let commitDate: Date
  let size: UInt64
  let counters: [String: UInt64]
  let checksums: [UInt32]

  /// The start of the chain of the commits after the snapshot.
  var chain: CommitChain { CommitChain(store: store, sequence: sequence) }

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Self.version)
    writer.append(UInt16(0))
    writer.append(log)
    writer.append(store)
    writer.append(base)
    writer.append(generation)
    writer.append(sequence)
    writer.append(previous?.bits ?? 0)
    writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
    writer.append(commitDate.timeIntervalSinceReferenceDate.bitPattern)
    writer.append(size)
    writer.append(counters: counters)
    writer.appendVariable(UInt64(checksums.count))
    for checksum in checksums { writer.append(checksum) }
    writer.appendChecksum()
    return writer.bytes
  }
}

extension LogManifest {
  /// - Throws: ``ArborError`` `corrupted`.
  init(_ bytes: [UInt8], path: String) throws(ArborError) {
    guard let found = bytes.withUnsafeBytes({ Self.read($0) }) else {
      throw ArborError.damagedLog(path, "its checksum doesn't match")
    }
    self = found
  }

  private static func read(_ bytes: UnsafeRawBufferPointer) -> LogManifest? {
    guard var reader = ByteReader(checked: bytes), reader.skips(magic), reader.read() == version,
      reader.read(UInt16.self) != nil, let log = reader.readUUID(), let store = reader.readUUID(),
      let base: UInt32 = reader.read(), let generation: UInt32 = reader.read(),
      let sequence: UInt64 = reader.read(), let previous: UInt128 = reader.read(),
      let date: UInt64 = reader.read(), let commitDate: UInt64 = reader.read(),
      let size: UInt64 = reader.read(), let counters = reader.readCounters(),
      let count = reader.readVariable(),
      count == (size + UInt64(blockSize) - 1) / UInt64(blockSize),
      count <= UInt64(reader.bytesLeft / 4)
    else { return nil }
    let checksums = (0..<count).compactMap { _ in reader.read(UInt32.self) }
    guard reader.isAtEnd else { return nil }
    return LogManifest(
      log: log, store: store, base: base, generation: generation, sequence: sequence,
      previous: previous == 0 ? nil : CommitChain(bits: previous),
      date: Date(timeIntervalSinceReferenceDate: Double(bitPattern: date)),
      commitDate: Date(timeIntervalSinceReferenceDate: Double(bitPattern: commitDate)), size: size,
      counters: counters, checksums: checksums)
  }
}
