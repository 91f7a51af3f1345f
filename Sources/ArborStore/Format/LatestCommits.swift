/// The newest commits, which lie behind the header until they fill their space.
///
/// Every commit rewrites the header's page in any case. The tree of the `history` database would
/// cost it two pages more, which a commit alone shows: a dozen commits go there together instead.
///
/// ```
/// header · for each commit, oldest first: length of its entry (variable) · entry
/// ```
///
/// The last entry is of the header's sequence; each carries a checksum of its own.
package struct LatestCommits: Sendable, Hashable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var count: UInt64 = 0

  package init() {}

  /// Reads what lies behind a header; nil where lengths and bytes do not agree.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard reader.readRun() != nil else { return nil }
      count += 1
    }
    self.bytes = Array(bytes)
  }

  /// Adds the next commit's entry.
  ///
  /// - Returns: false, with nothing changed, where there is no room for it.
  package mutating func append(_ entry: [UInt8]) -> Bool {
    // A length within the room has two bytes at most.
    guard bytes.count + entry.count + 2 <= StoreFormat.latestCommitsSize else { return false }
    var writer = ByteWriter(reserving: bytes.count + entry.count + 2)
    writer.append(bytes)
    writer.appendRun(entry)
    bytes = writer.bytes
    count += 1
    return true
  }

  /// Hands each entry's bytes on, oldest first.
  ///
  /// - Parameter last: The sequence of the last one, which the header has.
  package func forEach<Failure: Error>(
    endingWith last: UInt64, _ body: (UInt64, UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    var sequence = last &- count
    try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
      var reader = ByteReader(UnsafeRawBufferPointer(bytes))
      while let entry = reader.readRun() {
        sequence &+= 1
        try body(sequence, entry)
      }
    }
  }
}
