internal import ArborModel

/// The source from which a transaction is restored after a power failure.
enum Redo: Hashable {
  /// None, so LMDB has to sync the transaction or, in a journaled store, a checkpoint has to
  /// follow.
  case none
  /// The journal. The commits are encoded by ``LoggedCommitCodec``.
  case commits([[UInt8]])
  /// The log that the store shares. Also used if nothing is lost with the transaction.
  case sharedLog
}

/// The commits of one transaction in a journal.
///
/// ```
///  0          4          8          16              24             28
/// ┌──────────┬──────────┬──────────┬───────────────┬──────────────┬──────┐
/// │magic u32 │length u32│epoch u64 │transaction u64│chain u32     │body  │
/// └──────────┴──────────┴──────────┴───────────────┴──────────────┴──────┘
/// body: counters · for each: name · value u64
///       first sequence u64 · commits · for each: bytes of LoggedCommitCodec
/// ```
///
/// In the file, these bytes are divided into ``JournalSectors``. The length is that of the undivided
/// entry. The next one begins at a multiple of 4,096, so that writing it replaces whole blocks of the
/// disk. The chain is the checksum of the entry before, or the lower half of the epoch for the first
/// one. Counts are variable-length numbers; names and commits are preceded by their length.
struct JournalEntry {
  private static let magic: UInt32 = 0x4A41_4531
  private static let headerSize = 28
  /// The alignment of entries in the file.
  static let alignment = 4096

  /// Returns the number of bytes up to the next entry.
  ///
  /// - Parameter size: The size of a divided entry.
  static func paddedSize(_ size: Int) -> Int { (size + alignment - 1) / alignment * alignment }

  /// Returns the size of a journal that has room for an entry with commits of a size.
  static func room(for commits: Int) -> Int {
    paddedSize(JournalSectors.dividedSize(commits + largestFrame))
  }

  /// Returns the maximum size of the commits of an entry in `room` bytes.
  static func largestCommits(in room: Int) -> Int {
    room / JournalSectors.size * JournalSectors.capacity - largestFrame
  }

  /// More than an entry has apart from its commits.
  private static let largestFrame = 4096

  /// The ID of the LMDB transaction that contains the commits.
  let transactionID: UInt64
  /// The counters that the transaction has raised, with their new values.
  let counters: [(name: String, value: UInt64)]
  /// The sequence number of the first commit.
  let first: UInt64
  /// The commits as encoded by ``LoggedCommitCodec``.
  let commits: [[UInt8]]

  /// Returns the sectors of the entry and the position after it.
  func encoded(
    at position: JournalPosition, epoch: UInt64
  ) -> (bytes: [UInt8], end: JournalPosition) {
    let size = commits.reduce(Self.headerSize + 64 * (counters.count + 1)) { $0 + $1.count + 8 }
    var body = ByteWriter(reserving: size)
    body.appendVariable(UInt64(counters.count))
    for counter in counters {
      body.appendRun(counter.name.utf8)
      body.append(counter.value)
    }
    body.append(first)
    body.appendVariable(UInt64(commits.count))
    for commit in commits { body.appendRun(commit) }
    let length = Self.headerSize + body.bytes.count
    var writer = ByteWriter(reserving: length)
    writer.append(Self.magic)
    writer.append(UInt32(length))
    writer.append(epoch)
    writer.append(transactionID)
    writer.append(position.chain)
    writer.append(body.bytes)
    let owner = JournalSectors.Owner(
      transactionID: transactionID, checksum: Checksum.of(writer.bytes))
    return (JournalSectors.divide(writer.bytes, owner), position.after(length: length, owner))
  }

  /// The beginning of an entry, which is enough to read the rest.
  struct Frame {
    let length: Int
    let epoch: UInt64
    let transactionID: UInt64
    let chain: UInt32

    static let size = JournalEntry.headerSize

    /// Returns `nil` for bytes that are not the beginning of an entry.
    init?(_ bytes: UnsafeRawBufferPointer) {
      var reader = ByteReader(bytes)
      guard reader.read(UInt32.self) == JournalEntry.magic, let length: UInt32 = reader.read(),
        length >= Self.size,
        let epoch: UInt64 = reader.read(), let transactionID: UInt64 = reader.read(),
        let chain: UInt32 = reader.read()
      else { return nil }
      self.length = Int(length)
      self.epoch = epoch
      self.transactionID = transactionID
      self.chain = chain
    }
  }

  /// Decodes a complete entry, whose checksum has been verified. Returns `nil` if the body is
  /// invalid.
  ///
  /// - Parameter bytes: The undivided entry.
  init?(_ frame: Frame, _ bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    guard reader.readBytes(Self.headerSize) != nil, let count = reader.readVariable(),
      count <= UInt64(reader.bytesLeft)
    else { return nil }
    var counters: [(name: String, value: UInt64)] = []
    for _ in 0..<count {
      guard let name = reader.readText(), let value: UInt64 = reader.read() else { return nil }
      counters.append((name, value))
    }
    guard let first: UInt64 = reader.read(), let commitCount = reader.readVariable(),
      commitCount <= UInt64(reader.bytesLeft)
    else { return nil }
    var commits: [[UInt8]] = []
    for _ in 0..<commitCount {
      guard let run = reader.readRun() else { return nil }
      commits.append(Array(run))
    }
    transactionID = frame.transactionID
    self.counters = counters
    self.first = first
    self.commits = commits
  }

  init(
    transactionID: UInt64, counters: [(name: String, value: UInt64)], first: UInt64,
    commits: [[UInt8]]
  ) {
    self.transactionID = transactionID
    self.counters = counters
    self.first = first
    self.commits = commits
  }
}
