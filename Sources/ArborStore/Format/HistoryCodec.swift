internal import ArborModel
internal import Foundation

/// One commit in the `history` database, under its sequence.
///
/// ```
/// format u8 = 1 · flags u8 · seconds since 2001 f64 · [author] · [context name]
/// · changes · for each change, by object number:
///     distance from the last number · kind u8 · property bits, for an update
/// · [tombstones · for each, by object number:
///     distance from the last number · values · for each, by name: name · tagged value]
/// · crc32c u32
/// ```
///
/// Texts, counts, distances and bits are variable numbers or runs of bytes after one. The checksum
/// begins with the sequence.
package enum HistoryCodec {
  private static let format: UInt8 = 1

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let bulk = Flags(rawValue: 1)
    static let author = Flags(rawValue: 2)
    static let contextName = Flags(rawValue: 4)
    static let tombstones = Flags(rawValue: 8)
  }

  /// - Precondition: The entry's changes and tombstones ascend by number.
  package static func encode(_ entry: HistoryEntry) -> [UInt8] {
    var writer = ByteWriter(reserving: 32 + 12 * entry.changes.count)
    writer.append(format)
    var flags: Flags = entry.isBulk ? .bulk : []
    if entry.author != nil { flags.insert(.author) }
    if entry.contextName != nil { flags.insert(.contextName) }
    if !entry.tombstones.isEmpty { flags.insert(.tombstones) }
    writer.append(flags.rawValue)
    writer.append(entry.date.timeIntervalSinceReferenceDate.bitPattern)
    if let author = entry.author { writer.appendRun(author.utf8) }
    if let name = entry.contextName { writer.appendRun(name.utf8) }
    writer.appendVariable(UInt64(entry.changes.count))
    var last: UInt64 = 0
    for change in entry.changes {
      writer.appendVariable(change.number.rawValue - last)
      last = change.number.rawValue
      writer.append(change.kind.rawValue)
      if change.kind == .update { writer.appendVariable(change.changedProperties) }
    }
    if !entry.tombstones.isEmpty { append(entry.tombstones, to: &writer) }
    writer.appendChecksum(seed: Checksum.seed(key: entry.sequence))
    return writer.bytes
  }

  private static func append(_ tombstones: [HistoryEntry.Tombstone], to writer: inout ByteWriter) {
    writer.appendVariable(UInt64(tombstones.count))
    var last: UInt64 = 0
    for tombstone in tombstones {
      writer.appendVariable(tombstone.number.rawValue - last)
      last = tombstone.number.rawValue
      writer.appendVariable(UInt64(tombstone.values.count))
      for (name, value) in tombstone.values.sorted(by: { $0.key < $1.key }) {
        writer.appendRun(name.utf8)
        writer.appendRun(ValueCodec.encode(value))
      }
    }
  }

  /// The entry of bytes that ``encode(_:)`` made under `sequence`, or nil for others.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, sequence: UInt64
  ) -> HistoryEntry? {
    guard
      var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
      reader.read(UInt8.self) == format, let flags = reader.read(UInt8.self).map(Flags.init),
      let date: UInt64 = reader.read()
    else { return nil }
    var author: String?
    var contextName: String?
    if flags.contains(.author) {
      guard let text = reader.readText() else { return nil }
      author = text
    }
    if flags.contains(.contextName) {
      guard let text = reader.readText() else { return nil }
      contextName = text
    }
    guard let changes = readChanges(&reader) else { return nil }
    var tombstones: [HistoryEntry.Tombstone] = []
    if flags.contains(.tombstones) {
      guard let found = readTombstones(&reader) else { return nil }
      tombstones = found
    }
    guard reader.isAtEnd else { return nil }
    return HistoryEntry(
      sequence: sequence,
      date: Date(timeIntervalSinceReferenceDate: Double(bitPattern: date)), author: author,
      contextName: contextName, isBulk: flags.contains(.bulk), changes: changes,
      tombstones: tombstones)
  }

  private static func readChanges(_ reader: inout ByteReader) -> [HistoryEntry.Change]? {
    guard let count = reader.readVariable(),
      count <= UInt64(StoreFormat.mostListedChanges)
    else { return nil }
    var changes: [HistoryEntry.Change] = []
    changes.reserveCapacity(Int(count))
    var number: UInt64 = 0
    for _ in 0..<count {
      guard let distance = reader.readVariable(),
        let kind = reader.read(UInt8.self).flatMap(ChangeSet.RecordChange.Kind.init)
      else { return nil }
      number &+= distance
      var bits = UInt64.max
      if kind == .update {
        guard let stored = reader.readVariable() else { return nil }
        bits = stored
      }
      changes.append(
        HistoryEntry.Change(
          number: ObjectNumber(rawValue: number), kind: kind, changedProperties: bits))
    }
    return changes
  }

  private static func readTombstones(_ reader: inout ByteReader) -> [HistoryEntry.Tombstone]? {
    guard let count = reader.readVariable(), count <= UInt64(StoreFormat.mostListedChanges)
    else { return nil }
    var tombstones: [HistoryEntry.Tombstone] = []
    var number: UInt64 = 0
    for _ in 0..<count {
      guard let distance = reader.readVariable(), let values = reader.readVariable() else {
        return nil
      }
      number &+= distance
      var kept: [String: Value] = [:]
      for _ in 0..<values {
        guard let name = reader.readText(), let value = reader.readRun().flatMap(ValueCodec.decode)
        else { return nil }
        kept[name] = value
      }
      tombstones.append(
        HistoryEntry.Tombstone(number: ObjectNumber(rawValue: number), values: kept))
    }
    return tombstones
  }
}
