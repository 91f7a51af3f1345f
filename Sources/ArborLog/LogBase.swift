internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// A snapshot of a store and the commits after it: one folder of a log.
///
/// ```
/// base-00000001/
///   manifest                                             description and checksums of the snapshot
///   snapshot.arbor                                       the copy of the store
///   00000000000000000042-00000000000000000107.segment    commits 42 to 107
///   00000000000000000108-00000000000000000108.segment    …
/// ```
///
/// The folder gets its name once snapshot and manifest are complete and durable.
struct LogBase: Sendable {
  static let snapshotName = "snapshot.arbor"
  static let manifestName = "manifest"
  private static let prefix = "base-"

  /// The path of the log.
  let log: String
  let folder: String
  let number: UInt32
  let manifest: LogManifest

  static func folder(_ number: UInt32, in log: String) -> String {
    let digits = String(number)
    return "\(log)/\(prefix)\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits)"
  }

  /// Returns the number in a folder's name, or `nil` for other names.
  static func number(ofName name: String) -> UInt32? {
    guard name.hasPrefix(prefix), let number = UInt32(name.dropFirst(prefix.count)),
      folder(number, in: "") == "/\(name)"
    else { return nil }
    return number
  }

  /// - Throws: ``ArborError`` `corrupted` if the manifest is damaged or belongs to another log.
  init(_ number: UInt32, in log: String, of identity: LogIdentity) throws(ArborError) {
    self.number = number
    self.log = log
    folder = Self.folder(number, in: log)
    let path = "\(folder)/\(Self.manifestName)"
    guard let bytes = try LogFiles.contents(path) else {
      throw ArborError.damagedLog(path, "it is missing")
    }
    manifest = try LogManifest(bytes, path: path)
    guard manifest.log == identity.log, manifest.store == identity.store, manifest.base == number
    else { throw ArborError.damagedLog(path, "it belongs to another log") }
  }

  var snapshotPath: String { "\(folder)/\(Self.snapshotName)" }

  /// Returns the segments in order.
  ///
  /// - Throws: ``ArborError`` `corrupted` if one is missing between others.
  func segments() throws(ArborError) -> [LogSegment] {
    let segments = (try LogFiles.names(in: folder) ?? []).compactMap(LogSegment.init(name:))
    var next = manifest.sequence + 1
    for segment in segments {
      guard segment.first == next else {
        let last = segment.first &- 1
        let missing =
          last == next ? "commit \(next), which comes" : "commits \(next) to \(last), which come"
        throw ArborError(
          .corrupted,
          "The log \(folder) lacks \(missing) before \(segment.name). Restore the missing segment "
            + "from another copy of the log.")
      }
      next = segment.last + 1
    }
    return segments
  }

  func path(of segment: LogSegment) -> String { "\(folder)/\(segment.name)" }

  func size(of segment: LogSegment) throws(ArborError) -> UInt64 {
    guard let file = try LogInput(path(of: segment)) else { return 0 }
    return UInt64(file.size)
  }

  /// Visits the commits after a sequence, oldest first. Keeps one commit in memory at a time.
  ///
  /// - Parameters:
  ///   - last: The sequence of the last commit to visit, even if the log has later ones.
  ///   - known: The expected chain of the history up to `sequence`; `nil` to skip the check.
  ///   - onlyLastSegment: Whether to skip all segments but the last one, if that one determines the
  ///     end of the log.
  ///   - body: A closure that receives each commit and returns whether to continue.
  /// - Returns: The end of the log after the last visited commit.
  /// - Throws: ``ArborError`` `corrupted`, which names the file; errors of `body`.
  func forEachEntry(
    after sequence: UInt64, upTo last: UInt64 = .max, knowing known: CommitChain? = nil,
    onlyLastSegment: Bool = false, _ body: (SegmentEntry) throws(ArborError) -> Bool
  ) throws(ArborError) -> LogEnd {
    var end = LogEnd(
      base: number, sequence: manifest.sequence, chain: manifest.chain, counters: manifest.counters)
    try check(end, at: sequence, knowing: known)
    let segments = try segments()
    for (index, segment) in segments.enumerated() where segment.first <= last {
      let isLast = index == segments.count - 1
      guard isLast || segment.last > sequence && !onlyLastSegment else { continue }
      let path = path(of: segment)
      guard var reader = try LogSegment.Reader(path, segment) else {
        guard isLast else { throw Self.cut(path, before: segment.first) }
        // In that case, the segments before it determine the end of the log.
        if onlyLastSegment, segments.count > 1 {
          return try forEachEntry(after: 0, upTo: last, body)
        }
        end.isCut = true
        return end
      }
      let isFirst = end.sequence + 1 == segment.first
      guard reader.header.base == number, reader.header.log == manifest.log,
        !isFirst || reader.header.chain == end.chain
      else { throw ArborError.damagedLog(path, "its commits belong to another history") }
      (end.sequence, end.chain) = (segment.first - 1, reader.header.chain)
      end.counters.merge(reader.header.counters) { max($0, $1) }
      try check(end, at: sequence, knowing: known)
      while end.sequence < last, let entry = try reader.read() {
        (end.sequence, end.chain) = (entry.sequence, entry.chain)
        try check(end, at: sequence, knowing: known)
        if entry.sequence > sequence, try !body(entry) { return end }
      }
      guard !reader.isCut || isLast else { throw Self.cut(path, before: reader.next) }
      end.isCut = reader.isCut
    }
    return end
  }

  /// Returns the end of the log after the snapshot.
  func end() throws(ArborError) -> LogEnd {
    try forEachEntry(after: .max, onlyLastSegment: true) { (_) in true }
  }

  /// Throws if a commit between the previous snapshot and this one has been lost.
  ///
  /// - Parameters:
  ///   - end: The end of the commits after the previous snapshot.
  ///   - folder: The folder of the previous snapshot.
  /// - Throws: ``ArborError`` `corrupted` if the manifest contains another chain.
  func checkContinues(_ end: LogEnd, in folder: String) throws(ArborError) {
    guard let known = manifest.previous, known != end.chain else { return }
    throw ArborError(
      .corrupted,
      "The log \(folder) ends with commit \(end.sequence) and lacks the later commits that "
        + "\(self.folder) continues. Restore the missing segments from another copy of the log.")
  }

  /// Throws if the log's commit with the store's last sequence differs from the store's.
  private func check(
    _ end: LogEnd, at sequence: UInt64, knowing known: CommitChain?
  ) throws(ArborError) {
    guard let known, end.sequence == sequence, end.chain != known else { return }
    throw ArborError(
      .conflict,
      "Commit \(sequence) of the log \(folder) differs from the store's: the store and the log "
        + "have diverged. Move the store's file away, and open the store again to rebuild it from "
        + "the log.")
  }

  private static func cut(_ path: String, before sequence: UInt64) -> ArborError {
    ArborError.damagedLog(
      path, "it ends before commit \(sequence), but later segments exist")
  }

  // MARK: The snapshot

  /// Calls `body` with each block of the snapshot, after verifying the block's checksum.
  func forEachBlock(
    _ body: (UnsafeRawBufferPointer) throws(ArborError) -> Void
  ) throws(ArborError) {
    guard let file = try LogInput(snapshotPath), file.size == Int(manifest.size) else {
      throw ArborError.damagedLog(snapshotPath, "its size differs from its manifest")
    }
    for (index, checksum) in manifest.checksums.enumerated() {
      let block = try file.read(from: index * LogManifest.blockSize, count: LogManifest.blockSize)
      guard Checksum.of(block) == checksum else {
        throw ArborError.damagedLog(snapshotPath, "block \(index) is damaged")
      }
      try block.withRawBytes { (block) throws(ArborError) in try body(block) }
    }
  }
}

/// The end of a log, or the position at which a visit ended.
struct LogEnd: Sendable, Hashable {
  let base: UInt32
  var sequence: UInt64
  var chain: CommitChain
  /// The highest values of the store's counters recorded in the log.
  var counters: [String: UInt64]
  /// Whether the last segment is truncated after this commit.
  var isCut = false
}
