internal import ArborModel
internal import ArborStore

/// A hash index of pending objects by the values of indexed properties, so that lookups among
/// thousands of objects examine only a few.
///
/// ```
/// entity ─▶ columns ─▶ key, hashed ─▶ object numbers
/// ```
///
/// A table is created at the second lookup by its columns, because a single lookup is faster with a
/// scan of all objects. From then on, objects whose record is written or replaced are recorded and
/// read again at the next lookup. An object that has been read is marked, so that only its first
/// subsequent write has to record it (``PendingObject/noteRead()``).
///
/// The results may include objects that don't have the value or no longer have a change, but never
/// omit one that matches.
final class PendingKeys {
  /// The tables of one concrete entity.
  private struct Family {
    var tables: [PendingKeyTable] = []
    /// The lists of columns that at least one lookup has used.
    var wanted: [[IndexSchema.Column]] = []
    /// The objects whose entries may be outdated.
    var unread: [ObjectNumber] = []
  }

  private var families: [Family]

  init(entityCount: Int) {
    families = Array(repeating: Family(), count: entityCount)
  }

  /// Records that an object's record has changed.
  func note(_ number: ObjectNumber, of entity: EntitySchema) {
    let family = entity.index
    guard !families[family].tables.isEmpty else { return }
    families[family].unread.append(number)
    // Discards the tables if there hasn't been a lookup for a long time.
    if families[family].unread.count > 2 * families[family].tables[0].count + 1024 {
      families[family] = Family()
    }
  }

  /// Returns the objects of one concrete entity that match a selection, and possibly others, or
  /// `nil` if there is no table yet.
  ///
  /// - Parameters:
  ///   - count: The number of pending objects of the entity.
  ///   - all: A closure that returns all pending objects of the entity.
  ///   - read: A closure that returns the record of a pending object, or `nil` if it isn't pending
  ///     or is deleted. The next write of the record must be reported with ``note(_:of:)``.
  func numbers(
    of selection: PendingSelection, of entity: EntitySchema,
    among count: Int, _ all: () -> [ObjectNumber], _ read: (ObjectNumber) -> RecordView?
  ) -> [ObjectNumber]? {
    let family = entity.index
    // Discards the tables if they contain too many entries of objects that are no longer pending.
    if let table = families[family].tables.first, table.count > 2 * count + 1024 {
      families[family] = Family()
    }
    let unread = families[family].unread
    families[family].unread.removeAll(keepingCapacity: true)
    for number in unread {
      guard let record = read(number) else { continue }
      for table in families[family].tables { table.set(number, record) }
    }
    let known = families[family].tables.first { $0.columns == selection.columns }
    guard let table = known ?? make(selection.columns, of: entity, all, read) else { return nil }
    return table.numbers(of: selection.keys)
  }

  /// Creates a table if it has been needed before.
  private func make(
    _ columns: [IndexSchema.Column], of entity: EntitySchema,
    _ all: () -> [ObjectNumber], _ read: (ObjectNumber) -> RecordView?
  ) -> PendingKeyTable? {
    guard families[entity.index].wanted.contains(columns) else {
      families[entity.index].wanted.append(columns)
      return nil
    }
    let table = PendingKeyTable(columns, of: entity)
    for number in all() {
      if let record = read(number) { table.set(number, record) }
    }
    families[entity.index].tables.append(table)
    return table
  }
}

/// A hash index that maps the keys of some columns to the objects of one concrete entity.
///
/// Only the hash of a key is stored; objects with the same hash are chained.
final class PendingKeyTable {
  private struct Entry {
    let number: ObjectNumber
    var hash: Int
    var next: Int
    var previous: Int
  }

  /// The index that marks the end of a chain.
  private static let nowhere = -1

  let columns: [IndexSchema.Column]
  private let keys: IndexKeys
  private var key = KeyBuffer()
  private var entries: ContiguousArray<Entry> = []
  private let entryOfNumber = NumberMap()
  private var firstOfHash: [Int: Int] = [:]

  init(_ columns: [IndexSchema.Column], of entity: EntitySchema) {
    self.columns = columns
    keys = IndexKeys(columns, of: entity)
  }

  var count: Int { entries.count }

  /// Updates the entry of an object to its record's key.
  func set(_ number: ObjectNumber, _ record: RecordView) {
    keys.key(of: record, into: &key)
    let hash = Self.hash(key.bytes)
    guard let word = entryOfNumber[number] else {
      entryOfNumber.set(number, UInt(entries.count))
      entries.append(Entry(number: number, hash: hash, next: Self.nowhere, previous: Self.nowhere))
      return link(entries.count - 1)
    }
    let index = Int(word)
    guard entries[index].hash != hash else { return }
    unlink(index)
    entries[index].hash = hash
    link(index)
  }

  /// Returns the objects with one of several keys, without duplicates, and possibly others.
  func numbers(of keys: [[UInt8]]) -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    for hash in Set(keys.map { $0.withUnsafeBytes(Self.hash) }) {
      var index = firstOfHash[hash] ?? Self.nowhere
      while index != Self.nowhere {
        numbers.append(entries[index].number)
        index = entries[index].next
      }
    }
    return numbers
  }

  private func link(_ index: Int) {
    let next = firstOfHash.updateValue(index, forKey: entries[index].hash) ?? Self.nowhere
    entries[index].next = next
    entries[index].previous = Self.nowhere
    if next != Self.nowhere { entries[next].previous = index }
  }

  private func unlink(_ index: Int) {
    let (next, previous) = (entries[index].next, entries[index].previous)
    if next != Self.nowhere { entries[next].previous = previous }
    if previous != Self.nowhere {
      entries[previous].next = next
    } else {
      firstOfHash[entries[index].hash] = next == Self.nowhere ? nil : next
    }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }
}
