package import ArborFoundation

/// The time of the last scrub of a store's file, and the progress of an unfinished one.
///
/// ```
///  0             8            16       17      20
/// ┌─────────────┬────────────┬────────┬───────┬ for each database ┬───────┐
/// │completed f64│begun f64   │flags u8│zeros  │hash of its name   │crc32c │
/// │             │            │1 pages │       │u64                │u32    │
/// └─────────────┴────────────┴────────┴───────┴───────────────────┴───────┘
/// ```
///
/// Times are seconds since 2001-01-01 UTC, or 0 for none. The databases are those that were found
/// to be undamaged since `begun`. Later changes to them are covered by their digests.
package struct ScrubRecord: Sendable, Hashable {
  /// The time at which the last complete scrub ended, or `nil` if there isn't one.
  package var completed: Date?
  /// The time at which the unfinished scrub began, or `nil` if there isn't one.
  package var begun: Date?
  package var hasReadPages = false
  /// The seeds of the databases that the unfinished scrub has read; see ``EntryDigest/seed(of:)``.
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

  /// Decodes the output of ``encoded()``. Returns `nil` for other bytes.
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
