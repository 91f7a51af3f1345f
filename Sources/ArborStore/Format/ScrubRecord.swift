package import Foundation

/// When a store's file was scrubbed last, and how far a scrub is that has not ended.
///
/// ```
///  0             8            16       17      20
/// ┌─────────────┬────────────┬────────┬───────┬ for each database ┬───────┐
/// │completed f64│begun f64   │flags u8│zeros  │hash of its name   │crc32c │
/// │             │            │1 pages │       │u64                │u32    │
/// └─────────────┴────────────┴────────┴───────┴───────────────────┴───────┘
/// ```
///
/// Times are seconds since 2001-01-01 UTC, 0 for none. The databases are those that were found
/// whole since `begun`; what commits have changed of them since is in their digests.
package struct ScrubRecord: Sendable, Hashable {
  /// When the last complete scrub ended; nil where there was none.
  package var completed: Date?
  /// When the one that has not ended began; nil where every one has.
  package var begun: Date?
  package var hasReadPages = false
  /// The seeds of the databases that it has read; see ``EntryDigest/seed(of:)``.
  package var databases: Set<UInt64> = []

  private static let pagesFlag: UInt8 = 1

  package init(completed: Date? = nil) { self.completed = completed }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter(reserving: 24 + 8 * databases.count)
    for date in [completed, begun] {
      writer.append((date?.timeIntervalSinceReferenceDate ?? 0).bitPattern)
    }
    writer.append(hasReadPages ? Self.pagesFlag : 0)
    writer.append([0, 0, 0])
    for seed in databases.sorted() { writer.append(seed) }
    writer.appendChecksum()
    return writer.bytes
  }

  /// Reads what ``encoded()`` made; nil for other bytes.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let completed: UInt64 = reader.read(),
      let begun: UInt64 = reader.read(), let flags: UInt8 = reader.read(),
      reader.readBytes(3) != nil, reader.bytesLeft.isMultiple(of: 8)
    else { return nil }
    func date(_ bits: UInt64) -> Date? {
      let seconds = Double(bitPattern: bits)
      return seconds.isFinite && seconds != 0 ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }
    (self.completed, self.begun) = (date(completed), date(begun))
    hasReadPages = flags & Self.pagesFlag != 0
    while let seed: UInt64 = reader.read() { databases.insert(seed) }
  }
}
