internal import ArborFoundation
package import ArborModel

/// Encodes one commit as an entry of the `history` database, keyed by its sequence number.
///
/// ```
/// format u8 = 1 · flags u8 · seconds since 2001 f64 · [author] · [context name]
/// · changes · for each change, by object number:
///     distance from the last number · kind u8
///     for an update: property bits [· relationships · for each its catalog number]
/// · [tombstones · for each, by object number:
///     distance from the last number · values · for each, by name: name · tagged value]
/// · crc32c u32
/// ```
///
/// Counts, distances, bits and numbers are variable-length numbers; texts are bytes preceded by
/// their length. The checksum is seeded with the sequence number.
///
/// Properties are identified by catalog numbers (see ``ChangeNumbers``), so that code with
/// another model can interpret the entry.
package enum HistoryCodec {
  private static let format: UInt8 = 1
  /// The kind of an update with a list of relationships.
  private static let updateWithLinks: UInt8 = 4

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let bulk = Flags(rawValue: 1)
    static let author = Flags(rawValue: 2)
    static let contextName = Flags(rawValue: 4)
    static let tombstones = Flags(rawValue: 8)
  }

  /// - Parameter schema: The schema whose property positions the entry uses.
  /// - Precondition: The entry's changes and tombstones ascend by number.
  package static func encode(_ entry: HistoryEntry, _ schema: ModelSchema) -> [UInt8] {
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
    append(entry.changes, schema, to: &writer)
    if !entry.tombstones.isEmpty { append(entry.tombstones, to: &writer) }
    writer.appendChecksum(seed: Checksum.seed(key: entry.sequence))
    return writer.bytes
  }

  private static func append(
    _ changes: [HistoryEntry.Change], _ schema: ModelSchema, to writer: inout ByteWriter
  ) {
    writer.appendVariable(UInt64(changes.count))
    var last: UInt64 = 0
    var properties = PropertyNames(schema)
    for change in changes {
      writer.appendVariable(change.number.rawValue - last)
      last = change.number.rawValue
      guard change.kind == .update, let numbers = properties.numbers(of: change.number) else {
        writer.append(change.kind.rawValue)
        if change.kind == .update { writer.appendVariable(EntitySchema.otherProperties) }
        continue
      }
      let bits = change.changedProperties
      let links = numbers.linkCount(in: bits)
      writer.append(links == 0 ? change.kind.rawValue : updateWithLinks)
      writer.appendVariable(numbers.numbered(bits))
      guard links > 0 else { continue }
      writer.appendVariable(UInt64(links))
      numbers.forEachLink(in: bits) { writer.appendVariable(UInt64($0)) }
    }
  }

  /// A cache of the numbers of the current entity's properties. The changes are grouped by entity.
  private struct PropertyNames {
    private let schema: ModelSchema
    private var entity: UInt16?
    private var numbers: ChangeNumbers?

    init(_ schema: ModelSchema) { self.schema = schema }

    mutating func numbers(of number: ObjectNumber) -> ChangeNumbers? {
      if number.entity != entity {
        entity = number.entity
        numbers = schema.changeNumbers(of: number)
      }
      return numbers
    }
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

  /// Decodes the output of ``encode(_:_:)`` for `sequence`. Returns `nil` for other bytes.
  ///
  /// - Parameter schema: The schema whose property positions the entry should use. Objects of
  ///   entities that it lacks are reported with all properties changed.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, sequence: UInt64, _ schema: ModelSchema
  ) -> HistoryEntry? {
    guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
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
    guard let changes = readChanges(&reader, schema) else { return nil }
    var tombstones: [HistoryEntry.Tombstone] = []
    if flags.contains(.tombstones) {
      guard let found = readTombstones(&reader) else { return nil }
      tombstones = found
    }
    guard reader.isAtEnd else { return nil }
    return HistoryEntry(
      sequence: sequence, date: Date(timeIntervalSinceReferenceDate: Double(bitPattern: date)),
      author: author, contextName: contextName, isBulk: flags.contains(.bulk), changes: changes,
      tombstones: tombstones)
  }

  /// Returns the date of an entry's commit, or `nil` if the bytes are not an entry.
  static func date(of bytes: UnsafeRawBufferPointer) -> Date? {
    var reader = ByteReader(bytes)
    guard reader.read(UInt8.self) == format, reader.read(UInt8.self) != nil,
      let date: UInt64 = reader.read()
    else { return nil }
    return Date(timeIntervalSinceReferenceDate: Double(bitPattern: date))
  }

  private static func readChanges(
    _ reader: inout ByteReader, _ schema: ModelSchema
  ) -> [HistoryEntry.Change]? {
    guard let count = reader.readVariable(),
      count <= UInt64(StoreFormat.maximumListedChanges)
    else { return nil }
    var changes: [HistoryEntry.Change] = []
    changes.reserveCapacity(Int(count))
    var number = ObjectNumber(rawValue: 0)
    var properties = PropertyNames(schema)
    for _ in 0..<count {
      guard let distance = reader.readVariable(), let stored = reader.read(UInt8.self) else {
        return nil
      }
      let hasLinks = stored == updateWithLinks
      guard let kind = hasLinks ? .update : ChangeSet.RecordChange.Kind(rawValue: stored) else {
        return nil
      }
      number = ObjectNumber(rawValue: number.rawValue &+ distance)
      var bits = UInt64.max
      if kind == .update {
        guard let read = reader.readVariable() else { return nil }
        let numbers = properties.numbers(of: number)
        bits = numbers?.bits(numbered: read) ?? .max
        if hasLinks {
          guard let links = readLinks(&reader, numbers) else { return nil }
          bits |= links
        }
      }
      changes.append(HistoryEntry.Change(number: number, kind: kind, changedProperties: bits))
    }
    return changes
  }

  /// Reads a list of relationships and returns their bits, or `nil` if the list is damaged.
  private static func readLinks(_ reader: inout ByteReader, _ numbers: ChangeNumbers?) -> UInt64? {
    guard let count = reader.readVariable(), count <= UInt64(UInt16.max) else { return nil }
    var bits: UInt64 = 0
    for _ in 0..<count {
      guard let number = reader.readVariable().flatMap(UInt16.init(exactly:)) else { return nil }
      bits |= numbers?.bit(ofLink: number) ?? 0
    }
    return bits
  }

  private static func readTombstones(_ reader: inout ByteReader) -> [HistoryEntry.Tombstone]? {
    guard let count = reader.readVariable(), count <= UInt64(StoreFormat.maximumListedChanges)
    else { return nil }
    var tombstones: [HistoryEntry.Tombstone] = []
    var number: UInt64 = 0
    for _ in 0..<count {
      guard let distance = reader.readVariable(), let values = reader.readVariable() else {
        return nil
      }
      number &+= distance
      var kept: [String: PropertyValue] = [:]
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
