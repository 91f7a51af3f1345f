internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The contents of the file `counters` in a log's folder: the values of the store's counters at the
/// last backup, so that reserved numbers are not reserved again in a restored store.
///
/// Numbers can be reserved without a commit, and then are in neither a segment nor a snapshot. The
/// file is replaced atomically, and its values never decrease.
///
/// `magic 8 bytes · version u16 · zero u16 · log UUID · counters · for each: name · value u64 ·
/// crc32c u32`
struct LogCounters: Sendable, Hashable {
  static let fileName = "counters"
  private static let magic = Array("ArborCnt".utf8)
  private static let version: UInt16 = 1

  let log: UUID
  /// The first unreserved number of each counter, by name.
  let values: [String: UInt64]

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Self.version)
    writer.append(UInt16(0))
    writer.append(log)
    writer.append(counters: values)
    writer.appendChecksum()
    return writer.bytes
  }
}

extension LogCounters {
  /// Returns `nil` for bytes that ``encoded()`` has not produced.
  init?(_ bytes: [UInt8]) {
    let found = bytes.withRawBytes { bytes -> LogCounters? in
      guard var reader = ByteReader(checked: bytes), reader.skips(Self.magic),
        reader.read() == Self.version, reader.read(UInt16.self) != nil,
        let log = reader.readUUID(), let values = reader.readCounters(), reader.isAtEnd
      else { return nil }
      return LogCounters(log: log, values: values)
    }
    guard let found else { return nil }
    self = found
  }
}

extension FolderLog {
  /// Returns the recorded values of the store's counters, which are empty if no backup has recorded
  /// any.
  ///
  /// - Throws: ``ArborError`` `corrupted`, `inputOutput`.
  func recordedCounters(of identity: LogIdentity) throws(ArborError) -> [String: UInt64] {
    let path = "\(try path)/\(LogCounters.fileName)"
    guard let bytes = try LogFiles.contents(path) else { return [:] }
    guard let counters = LogCounters(bytes), counters.log == identity.log else {
      throw ArborError.damagedLog(path, "it doesn't contain the counters of the log's store")
    }
    return counters.values
  }

  /// Records the values of the store's counters, unless the log has them already.
  func addCounters(
    of file: StoreEngine, to base: LogBase, _ identity: LogIdentity, _ path: String
  ) throws {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let present = try snapshot.counters()
    // A damaged file is replaced.
    var recorded: [String: UInt64] = [:]
    do throws(ArborError) { recorded = try recordedCounters(of: identity) } catch {
      guard error.code == .corrupted else { throw error }
    }
    let known = recorded.merging(try base.end().counters) { max($0, $1) }
    guard present.contains(where: { known[$0.key, default: 0] < $0.value }) else { return }
    let counters = LogCounters(
      log: identity.log, values: known.merging(present) { max($0, $1) })
    try LogFiles.write(in: path) { output in
      try output.append(counters.encoded())
      return LogCounters.fileName
    }
  }
}
