/// The newest commits, which are stored after the header until they exceed their space.
///
/// Every commit rewrites the header's page anyway. Adding an entry to the `history` database would
/// write two more pages, so about a dozen commits are moved there at once.
///
/// ```
/// header · for each commit, oldest first: length of its entry (variable) · entry
/// ```
///
/// The last entry belongs to the header's sequence number. Each entry has its own checksum.
package struct LatestCommits: Sendable, Hashable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var count: UInt64 = 0

  package init() {}

  /// Decodes the bytes after a header. Returns `nil` if their lengths are inconsistent.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard reader.readRun() != nil else { return nil }
      count += 1
    }
    self.bytes = Array(bytes)
  }

  /// Appends the next commit's entry.
  ///
  /// - Returns: `false`, without any change, if there is not enough space.
  package mutating func append(_ entry: [UInt8]) -> Bool {
    // A length within the limit has at most two bytes.
    guard bytes.count + entry.count + 2 <= StoreFormat.latestCommitsSize else { return false }
    var writer = ByteWriter(reserving: bytes.count + entry.count + 2)
    writer.append(bytes)
    writer.appendRun(entry)
    bytes = writer.bytes
    count += 1
    return true
  }

  /// Calls `body` with the sequence number and the bytes of each entry, oldest first.
  ///
  /// - Parameter last: The sequence number of the last entry, from the header.
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
