import ArborData
import Foundation

/// A log in a folder that simulates another machine: faults injected into the store's files don't
/// affect it. Only one process at a time may append to it.
///
/// Each entry and each snapshot is a file whose name contains everything but its payload.
struct FileLog: CommitLog {
  private let folder: URL
  /// The last visible sequence number. Later entries are hidden, which shows the log at an earlier
  /// time.
  private let end: UInt64
  private let acknowledge: @Sendable (String) -> Void

  /// - Parameters:
  ///   - end: The last commit that the log shows.
  ///   - acknowledge: Receives a line for every appended entry.
  init(
    _ folder: URL, end: UInt64 = .max, acknowledge: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.folder = folder
    self.end = end
    self.acknowledge = acknowledge
  }

  var name: String { "in \(folder.lastPathComponent)" }

  // MARK: Files

  /// Returns the names of the files of a kind, split into words.
  private func names(_ kind: String) throws(ArborError) -> [[Substring]] {
    try typed {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        .map { $0.split(separator: " ") }.filter { $0[0] == kind }
    }
  }

  private func bytes(_ words: [Substring]) throws(ArborError) -> [UInt8] {
    let file = folder.appending(path: words.joined(separator: " "))
    return try typed { [UInt8](try Data(contentsOf: file)) }
  }

  private func write(_ bytes: [UInt8], as name: String) throws(ArborError) {
    try typed { try Data(bytes).write(to: folder.appending(path: name), options: .atomic) }
  }

  private func typed<R>(_ body: () throws -> R) throws(ArborError) -> R {
    do { return try body() } catch { throw ArborError(.logUnavailable, "\(error)") }
  }

  private static func hex(_ digest: CommitLogDigest) -> String {
    digest.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func digest(_ text: Substring) -> CommitLogDigest? {
    let digits = text.compactMap(\.hexDigitValue).map { UInt8($0) }
    return CommitLogDigest(
      bytes: stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  // MARK: Entries

  func head() throws(ArborError) -> CommitLogHead? {
    guard let begun = try snapshots("begun").first else { return nil }
    let last = try entries(after: begun.sequence, limit: .max).last
    return CommitLogHead(
      store: begun.store, sequence: last?.last ?? begun.sequence,
      digest: last?.digest ?? begun.digest)
  }

  func begin(with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]) throws(ArborError)
    -> Bool
  {
    if let begun = try snapshots("begun").first { return begun == snapshot }
    for entry in entries { try add(entry) }
    try write([], as: Self.name("begun", snapshot))
    return true
  }

  func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    guard let head = try head() else { return .forked }
    if try entries(after: entry.first - 1, limit: .max).contains(where: { $0.batch == entry.batch })
    {
      return .written
    }
    if head.sequence >= entry.first {
      return .behind(try entries(after: entry.first - 1, limit: .max))
    }
    guard head.sequence == entry.first - 1, head.digest == entry.previous else { return .forked }
    try add(entry)
    acknowledge("logged \(entry.last)")
    return .written
  }

  private func add(_ entry: CommitLogEntry) throws(ArborError) {
    let first = String(format: "%012d", Int(entry.first))
    let digests = "\(Self.hex(entry.previous)) \(Self.hex(entry.digest))"
    try write(entry.body, as: "entry \(first) \(entry.last) \(entry.batch.uuidString) \(digests)")
  }

  func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [CommitLogEntry] {
    var found: [CommitLogEntry] = []
    for words in try names("entry") where found.count < limit {
      guard let first = UInt64(words[1]), let last = UInt64(words[2]), last > sequence, last <= end,
        let batch = UUID(uuidString: String(words[3])), let previous = Self.digest(words[4]),
        let digest = Self.digest(words[5])
      else { continue }
      found.append(
        CommitLogEntry(
          batch: batch, first: first, last: last, previous: previous, digest: digest,
          body: try bytes(words)))
    }
    return found
  }

  func trim(through sequence: UInt64) throws(ArborError) {}

  // MARK: Counters

  func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64> {
    let name =
      Self.counterPrefix + Data(counter.utf8).base64EncodedString().replacing("/", with: "-")
    let stored = try? bytes([Substring(name)])
    let next = stored.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
    let first = max(next, least)
    try write(Array("\(first + count)".utf8), as: name)
    return first..<(first + count)
  }

  private static let counterPrefix = "counter "

  func counters() throws(ArborError) -> [String: UInt64] {
    var counters: [String: UInt64] = [:]
    for words in try names("counter") {
      let encoded = words[1].replacing("-", with: "/")
      guard let name = Data(base64Encoded: String(encoded)),
        let value = UInt64(String(decoding: try bytes(words), as: UTF8.self))
      else { continue }
      counters[String(decoding: name, as: UTF8.self)] = value
    }
    return counters
  }

  // MARK: Snapshots

  private static func name(_ kind: String, _ snapshot: CommitLogSnapshot) -> String {
    "\(kind) \(snapshot.sequence) \(snapshot.id.uuidString) \(snapshot.store.uuidString) "
      + hex(snapshot.digest)
  }

  private func snapshots(_ kind: String) throws(ArborError) -> [CommitLogSnapshot] {
    try names(kind).compactMap { words in
      guard let sequence = UInt64(words[1]), let id = UUID(uuidString: String(words[2])),
        let store = UUID(uuidString: String(words[3])), let digest = Self.digest(words[4])
      else { return nil }
      return CommitLogSnapshot(id: id, store: store, sequence: sequence, digest: digest)
    }
  }

  func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    let bytes = try typed { [UInt8](try Data(contentsOf: file)) }
    try write(bytes, as: Self.name("snapshot", snapshot))
  }

  func newestSnapshot() throws(ArborError) -> CommitLogSnapshot? {
    let begun = try snapshots("begun")
    let ends = try entries(after: 0, limit: .max).map(\.last)
    return try snapshots("snapshot")
      .filter { begun.contains($0) || ends.contains($0.sequence) }
      .max { $0.sequence < $1.sequence }
  }

  func fetch(_ snapshot: CommitLogSnapshot, to file: URL) throws(ArborError) {
    let bytes = try bytes([Substring(Self.name("snapshot", snapshot))])
    try typed { try Data(bytes).write(to: file) }
  }
}
