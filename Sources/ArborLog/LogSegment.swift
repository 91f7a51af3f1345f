internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// A file of consecutive commits. It is written once, created atomically and never changed.
///
/// ```
/// header: magic 8 bytes · version u16 · zero u16 · size u32 · crc32c of these 16 bytes u32
///         · log UUID · base u32 · first sequence u64 · chain before u128
///         · counters · for each: name · value u64 · crc32c of everything after the first u32
/// for each commit: length u64 · sequence u64 · crc32c of both u32 · commit
/// end:    all bits set u64 · last sequence u64 · chain after u128 · crc32c u32
/// ```
///
/// A commit is encoded by `LoggedCommitCodec`, with its own checksum. The size is that of the
/// entire header. A truncated file ends with its last complete commit, whereas a file with altered
/// bytes is damaged; the two are never confused.
struct LogSegment: Sendable {
  static let suffix = ".segment"
  private static let magic = Array("ArborSeg".utf8)
  private static let version: UInt16 = 1
  private static let entryHeaderSize = 20
  private static let endSize = 36
  private static let endMark = UInt64.max
  private static let markSize = 20

  let first: UInt64
  let last: UInt64

  var name: String { "\(Self.digits(first))-\(Self.digits(last))\(Self.suffix)" }

  /// Returns a sequence padded with zeros, so that names sort in the order of their sequences.
  private static func digits(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: 20 - digits.count) + digits
  }
}

extension LogSegment {
  /// Returns `nil` for names of other files.
  init?(name: String) {
    guard name.hasSuffix(Self.suffix) else { return nil }
    let parts = name.dropLast(Self.suffix.count).split(separator: "-")
    guard parts.count == 2, let first = UInt64(parts[0]), let last = UInt64(parts[1]), first <= last
    else { return nil }
    self.init(first: first, last: last)
    guard self.name == name else { return nil }
  }

  // MARK: Writing

  struct Header: Sendable, Hashable {
    let log: UUID
    let base: UInt32
    let first: UInt64
    let chain: CommitChain
    /// The values of the store's counters when the segment was written.
    let counters: [String: UInt64]

    func encoded() -> [UInt8] {
      var body = ByteWriter()
      body.append(log)
      body.append(base)
      body.append(first)
      body.append(chain.bits)
      body.append(counters: counters)
      body.appendChecksum()
      var writer = ByteWriter(reserving: markSize + body.bytes.count)
      writer.append(magic)
      writer.append(version)
      writer.append(UInt16(0))
      writer.append(UInt32(markSize + body.bytes.count))
      writer.appendChecksum()
      writer.append(body.bytes)
      return writer.bytes
    }
  }

  static func write(
    _ sequence: UInt64, _ body: UnsafeRawBufferPointer, to output: inout LogOutput
  ) throws(ArborError) {
    var writer = ByteWriter(reserving: entryHeaderSize)
    writer.append(UInt64(body.count))
    writer.append(sequence)
    writer.appendChecksum()
    try output.append(writer.bytes)
    try output.append(body)
  }

  static func writeEnd(
    _ last: UInt64, _ chain: CommitChain, to output: inout LogOutput
  ) throws(ArborError) {
    var writer = ByteWriter(reserving: endSize)
    writer.append(endMark)
    writer.append(last)
    writer.append(chain.bits)
    writer.appendChecksum()
    try output.append(writer.bytes)
  }

  // MARK: Reading

  /// A reader of a segment, from its start.
  struct Reader: ~Copyable {
    private let file: LogInput
    private let segment: LogSegment
    private var offset: Int
    let header: Header
    private(set) var chain: CommitChain
    private(set) var next: UInt64
    /// Whether the file is truncated before the end of its commits.
    private(set) var isCut = false

    /// - Returns: `nil` for a file that is truncated in its header.
    /// - Throws: ``ArborError`` `corrupted`, `inputOutput`.
    init?(_ path: String, _ segment: LogSegment) throws(ArborError) {
      guard let file = try LogInput(path) else {
        throw ArborError.damagedLog(path, "it is missing")
      }
      guard let size = try Self.headerSize(file) else { return nil }
      let bytes = try file.read(from: markSize, count: size - markSize)
      guard bytes.count == size - markSize else { return nil }
      guard let header = Self.header(of: bytes), header.first == segment.first else {
        throw ArborError.damagedLog(path, "its header is damaged")
      }
      self.header = header
      self.segment = segment
      chain = header.chain
      next = header.first
      offset = size
      self.file = file
    }

    /// - Returns: The size of the header, or `nil` if the file ends before the field with the size.
    private static func headerSize(_ file: borrowing LogInput) throws(ArborError) -> Int? {
      let mark = try file.read(from: 0, count: markSize)
      guard mark.count == markSize else { return nil }
      let (found, size) = mark.withUnsafeBytes { bytes -> (UInt16?, UInt32?) in
        guard var reader = ByteReader(checked: bytes), reader.skips(magic),
          let version: UInt16 = reader.read(), reader.read(UInt16.self) != nil
        else { return (nil, nil) }
        return (version, reader.read())
      }
      guard let found, let size, Int(size) >= markSize else {
        throw ArborError.damagedLog(file.path, "its header is damaged")
      }
      guard found <= version else {
        throw ArborError(
          .formatTooNew,
          "\(file.path) has format \(found), which requires a later version of the library.")
      }
      return Int(size)
    }

    private static func header(of bytes: [UInt8]) -> Header? {
      bytes.withUnsafeBytes { bytes in
        guard var reader = ByteReader(checked: bytes), let log = reader.readUUID(),
          let base: UInt32 = reader.read(), let first: UInt64 = reader.read(),
          let chain: UInt128 = reader.read(), let counters = reader.readCounters(), reader.isAtEnd
        else { return nil }
        return Header(
          log: log, base: base, first: first, chain: CommitChain(bits: chain), counters: counters)
      }
    }

    /// Returns the next commit, or `nil` after the last one or if the file is truncated.
    mutating func read() throws(ArborError) -> SegmentEntry? {
      let left = file.size - offset
      let head = try file.read(from: offset, count: LogSegment.entryHeaderSize)
      if head.count >= 8, head[..<8].allSatisfy({ $0 == 0xFF }) { return try readEnd(left) }
      guard head.count == LogSegment.entryHeaderSize else {
        isCut = true
        return nil
      }
      let found = head.withUnsafeBytes { bytes -> (count: UInt64, sequence: UInt64)? in
        guard var reader = ByteReader(checked: bytes), let count: UInt64 = reader.read(),
          let sequence: UInt64 = reader.read()
        else { return nil }
        return (count, sequence)
      }
      guard let found, found.sequence == next else {
        throw ArborError.damagedLog(file.path, "commit \(next) is damaged")
      }
      guard found.count <= UInt64(max(0, left - head.count)) else {
        isCut = true
        return nil
      }
      let body = try file.read(from: offset + head.count, count: Int(found.count))
      let isWhole = body.withUnsafeBytes {
        LoggedCommitCodec.summary($0, sequence: found.sequence) != nil
      }
      guard isWhole else {
        throw ArborError.damagedLog(file.path, "commit \(next) is damaged")
      }
      offset += head.count + body.count
      body.withUnsafeBytes { chain.append(found.sequence, $0) }
      next += 1
      return SegmentEntry(sequence: found.sequence, body: body, chain: chain)
    }

    private mutating func readEnd(_ left: Int) throws(ArborError) -> SegmentEntry? {
      guard left >= LogSegment.endSize else {
        isCut = true
        return nil
      }
      let bytes = try file.read(from: offset, count: left)
      let (last, bits) = bytes.withUnsafeBytes { bytes -> (UInt64?, UInt128?) in
        guard var reader = ByteReader(checked: bytes), reader.read(UInt64.self) != nil else {
          return (nil, nil)
        }
        return (reader.read(), reader.read())
      }
      guard left == LogSegment.endSize, last == segment.last, next == segment.last + 1,
        bits == chain.bits
      else {
        throw ArborError.damagedLog(file.path, "its end is damaged")
      }
      return nil
    }
  }
}

/// A commit in a log: its sequence, and everything needed to replay it.
struct SegmentEntry: Sendable, Hashable {
  let sequence: UInt64
  /// The encoding by `LoggedCommitCodec`, including its checksum.
  let body: [UInt8]
  /// The chain of the history up to this commit.
  let chain: CommitChain
}

extension ByteWriter {
  mutating func append(counters: [String: UInt64]) {
    appendVariable(UInt64(counters.count))
    for (name, value) in counters.sorted(by: { $0.key < $1.key }) {
      appendRun(name.utf8)
      append(value)
    }
  }
}

extension ByteReader {
  mutating func readCounters() -> [String: UInt64]? {
    guard let count = readVariable(), count <= UInt64(bytesLeft) else { return nil }
    var counters: [String: UInt64] = [:]
    for _ in 0..<count {
      guard let name = readText(), let value: UInt64 = read() else { return nil }
      counters[name] = value
    }
    return counters
  }
}
