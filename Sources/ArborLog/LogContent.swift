internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The contents of an entry of a shared log.
///
/// ```
/// format u8 = 1 · kind u8
/// · commits: count · for each: the bytes of LoggedCommitCodec, as a run
/// · model: fingerprint u128 · name as a run
/// · snapshot: UUID · fingerprint u128 of the former model, only after a failed migration
/// · crc32c u32
/// ```
enum LogContent: Sendable, Hashable {
  case commits([[UInt8]])
  /// A change of the model. Only a snapshot may follow, which has the new model unless the
  /// migration fails.
  case model(ModelFingerprint, name: String)
  /// A snapshot with which the log continues. It contains the entire history, and the model of the
  /// commits that follow. `formerModel` is the fingerprint of that model if it is the one before an
  /// announced change, whose migration failed.
  case snapshot(UUID, formerModel: ModelFingerprint? = nil)

  private static let format: UInt8 = 1

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    switch self {
    case .commits(let commits):
      writer.append(UInt8(0))
      writer.appendVariable(UInt64(commits.count))
      for commit in commits { writer.appendRun(commit) }
    case .model(let fingerprint, let name):
      writer.append(UInt8(1))
      writer.append(fingerprint.bits)
      writer.appendRun(name.utf8)
    case .snapshot(let id, let formerModel):
      writer.append(UInt8(2))
      writer.append(id)
      if let formerModel { writer.append(formerModel.bits) }
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// Returns `nil` for bytes that ``encoded()`` has not produced.
  init?(_ bytes: [UInt8]) {
    let found = bytes.withRawBytes { bytes -> LogContent? in
      guard var reader = ByteReader(checked: bytes), reader.read() == Self.format,
        let kind: UInt8 = reader.read(), let content = Self.read(kind, &reader), reader.isAtEnd
      else { return nil }
      return content
    }
    guard let found else { return nil }
    self = found
  }

  private static func read(_ kind: UInt8, _ reader: inout ByteReader) -> LogContent? {
    switch kind {
    case 0:
      guard let count = reader.readVariable(), count <= UInt64(reader.bytesLeft) else { return nil }
      var commits: [[UInt8]] = []
      for _ in 0..<count {
        guard let commit = reader.readRun() else { return nil }
        commits.append(Array(commit))
      }
      return .commits(commits)
    case 1:
      guard let bits: UInt128 = reader.read(), let name = reader.readRun() else { return nil }
      return .model(ModelFingerprint(bits: bits), name: String(decoding: name, as: UTF8.self))
    case 2:
      guard let id = reader.readUUID() else { return nil }
      if reader.isAtEnd { return .snapshot(id) }
      guard let bits: UInt128 = reader.read() else { return nil }
      return .snapshot(id, formerModel: ModelFingerprint(bits: bits))
    default: return nil
    }
  }
}

extension CommitLogEntry {
  /// Creates an entry that follows a position.
  init(_ content: LogContent, after position: SharedPosition.Point, upTo last: UInt64) {
    let body = content.encoded()
    var chain = position.chain
    body.withRawBytes { chain.append(last, $0) }
    self.init(
      batch: UUID(), first: position.sequence + 1, last: last,
      previous: CommitLogDigest(bits: position.chain.bits),
      digest: CommitLogDigest(bits: chain.bits),
      body: body)
  }

  init(_ group: LoggedGroup) {
    self.init(
      batch: group.batch, first: group.first, last: group.last,
      previous: CommitLogDigest(bits: group.before.bits),
      digest: CommitLogDigest(bits: group.chain.bits),
      body: LogContent.commits(group.commits).encoded())
  }

  /// The position of the log after the entry.
  var end: SharedPosition.Point {
    SharedPosition.Point(sequence: last, chain: CommitChain(bits: digest.bits))
  }

  /// Decodes the contents of the entry.
  ///
  /// - Throws: ``ArborError`` `corrupted`.
  func content(of log: any CommitLog) throws(ArborError) -> LogContent {
    guard first <= last, let content = LogContent(body) else { throw damaged(log) }
    switch content {
    case .commits(let commits):
      guard UInt64(commits.count) == last - first + 1 else { throw damaged(log) }
    case .model, .snapshot: break
    }
    return content
  }

  private func damaged(_ log: any CommitLog) -> ArborError {
    ArborError(
      .corrupted,
      "Entry \(first) of the log \(log.name) is damaged or was written by a later version of the "
        + "library. Restore the log from a backup of the server.")
  }
}
