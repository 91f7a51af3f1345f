internal import ArborModel
internal import ArborStore

/// Finds objects that wait for a commit by the values of indexed properties, so that a look-up
/// among thousands of them looks at few.
///
/// ```
/// entity ─▶ columns ─▶ key, hashed ─▶ object numbers
/// ```
///
/// A table is made at the second look-up by its columns, since one alone is answered sooner by
/// going through all objects. From then on the objects whose record is written or replaced are
/// listed, and read again at the next look-up; an object that has been read is marked, so that only
/// its first write afterwards takes the time to list it (``PendingObject/noteRead()``).
///
/// A table may name objects that have no such value, or no change any more; it names all that do.
final class PendingKeys {
  /// The tables of one concrete entity.
  private struct Family {
    var tables: [PendingKeyTable] = []
    /// The columns that one look-up went by.
    var wanted: [[IndexSchema.Column]] = []
    /// The objects that the tables are not sure of.
    var unread: [ObjectNumber] = []
  }

  private var families: [Family]

  init(entityCount: Int) {
    families = Array(repeating: Family(), count: entityCount)
  }

  /// Records that an object's record is another one from now on.
  func note(_ number: ObjectNumber, of entity: EntitySchema) {
    let family = entity.index
    guard !families[family].tables.isEmpty else { return }
    families[family].unread.append(number)
    // Nobody has looked anything up for long.
    if families[family].unread.count > 2 * families[family].tables[0].count + 1024 {
      families[family] = Family()
    }
  }

  /// The objects of one concrete entity that a selection means, and perhaps others; nil where there
  /// is no table yet.
  ///
  /// - Parameters:
  ///   - count: How many objects of the entity wait.
  ///   - all: All of them.
  ///   - read: The record of an object that waits; nil of one that does not, or is deleted. The
  ///     next write of the record has to be reported by ``note(_:of:)``.
  func numbers(
    of selection: PendingSelection, of entity: EntitySchema,
    among count: Int, _ all: () -> [ObjectNumber], _ read: (ObjectNumber) -> RecordView?
  ) -> [ObjectNumber]? {
    let family = entity.index
    // Objects that came and went have left their entries.
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

  /// Makes a table that has been wanted before.
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

/// The objects of one concrete entity by their keys, which are made of some columns.
///
/// Only the hash of a key is kept; those with the same one are chained.
final class PendingKeyTable {
  private struct Entry {
    let number: ObjectNumber
    var hash: Int
    var next: Int
    var previous: Int
  }

  /// Ends a chain.
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

  /// Names an object by its record's key, and no longer by the one it had.
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

  /// The objects that have one of some keys, each once, and perhaps others.
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
