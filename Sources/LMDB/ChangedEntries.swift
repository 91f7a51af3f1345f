/// The first entries that a transaction puts or deletes: as many as are worth while to look up
/// again in the state that it leaves, where the way to them is known to be sound.
struct ChangedEntries {
  struct Entry {
    let handle: UInt32
    fileprivate let keyEnd: Int
    /// nil where the key has one value only, or all of its values went.
    fileprivate let valueEnd: Int?
  }

  /// A commit of so many changes is large; the pages that they are on are few among those that the
  /// process has still to verify.
  private static let mostEntries = 64

  private var entries: [Entry] = []
  /// The keys and values, one behind the other.
  private var bytes: [UInt8] = []

  @inline(__always)
  mutating func note(
    _ handle: UInt32, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?
  ) {
    if entries.count < Self.mostEntries { append(handle, key, value) }
  }

  @inline(never)
  private mutating func append(
    _ handle: UInt32, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?
  ) {
    bytes.append(contentsOf: key)
    let keyEnd = bytes.count
    if let value { bytes.append(contentsOf: value) }
    entries.append(
      Entry(handle: handle, keyEnd: keyEnd, valueEnd: value == nil ? nil : bytes.count))
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Lends each entry: the handle of its database, its key, and one of several values.
  func forEach(
    _ body: (UInt32, UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(LMDBError) in
      let bytes = UnsafeRawBufferPointer(bytes)
      var start = 0
      for entry in entries {
        let key = UnsafeRawBufferPointer(rebasing: bytes[start..<entry.keyEnd])
        let value = entry.valueEnd.map {
          UnsafeRawBufferPointer(rebasing: bytes[entry.keyEnd..<$0])
        }
        try body(entry.handle, key, value)
        start = entry.valueEnd ?? entry.keyEnd
      }
    }
  }
}
