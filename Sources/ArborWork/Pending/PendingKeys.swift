package import ArborModel
package import ArborStore

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
package final class PendingKeys {
  /// What is known of the objects of one concrete entity.
  private struct Family {
    package var tables: [PendingKeyTable] = []
    /// The columns that one look-up went by.
    package var wanted: [[IndexSchema.Column]] = []
    /// The objects that the tables are not sure of.
    package var unread: [ObjectNumber] = []
  }

  private var families: [Family]

  package init(entityCount: Int) {
    families = Array(repeating: Family(), count: entityCount)
  }

  /// Takes down that an object's record is another one from now on.
  package func note(_ object: TrackedObject) {
    let place = object.shape.entity.index
    guard !families[place].tables.isEmpty else { return }
    families[place].unread.append(object.number)
    // Nobody has looked anything up for long.
    if families[place].unread.count > 2 * families[place].tables[0].count + 1024 {
      families[place] = Family()
    }
  }

  /// The objects of one concrete entity that a selection means, and perhaps others; nil where there
  /// is no table yet.
  ///
  /// - Parameters:
  ///   - changes: All changes of the entity.
  ///   - change: Gives the change of an object.
  package func numbers(
    of selection: PendingSelection, of entity: EntitySchema,
    in changes: ContiguousArray<PendingObject>, _ change: (ObjectNumber) -> PendingObject?
  ) -> [ObjectNumber]? {
    let place = entity.index
    // Objects that came and went have left their places.
    if let table = families[place].tables.first, table.count > 2 * changes.count + 1024 {
      families[place] = Family()
    }
    let unread = families[place].unread
    families[place].unread.removeAll(keepingCapacity: true)
    for number in unread {
      if let change = change(number) { read(change, into: families[place].tables) }
    }
    let known = families[place].tables.first { $0.columns == selection.columns }
    guard let table = known ?? make(selection.columns, of: entity, changes) else { return nil }
    return table.numbers(of: selection.keys)
  }

  /// Makes a table that has been wanted before.
  private func make(
    _ columns: [IndexSchema.Column], of entity: EntitySchema,
    _ changes: ContiguousArray<PendingObject>
  ) -> PendingKeyTable? {
    guard families[entity.index].wanted.contains(columns) else {
      families[entity.index].wanted.append(columns)
      return nil
    }
    let table = PendingKeyTable(columns, of: entity)
    for change in changes { read(change, into: [table]) }
    families[entity.index].tables.append(table)
    return table
  }

  private func read(_ change: PendingObject, into tables: [PendingKeyTable]) {
    // An object whose deletion is taken back is listed then.
    guard change.kind == .inserted || change.kind == .updated else { return }
    let record = change.object.currentRecord
    for table in tables { table.set(change.object.number, record) }
    change.noteRead()
  }
}

/// The objects of one concrete entity by their keys, which are made of some columns.
///
/// Only the hash of a key is kept; those with the same one are chained.
package final class PendingKeyTable {
  private struct Place {
    package let number: ObjectNumber
    package var hash: Int
    package var next: Int
    package var previous: Int
  }

  /// Ends a chain.
  private static let nowhere = -1

  package let columns: [IndexSchema.Column]
  private let keys: IndexKeys
  private var key = KeyBuffer()
  private var places: ContiguousArray<Place> = []
  private let placeOfNumber = NumberMap()
  private var firstOfHash: [Int: Int] = [:]

  package init(_ columns: [IndexSchema.Column], of entity: EntitySchema) {
    self.columns = columns
    keys = IndexKeys(columns, of: entity)
  }

  /// How many objects it names.
  package var count: Int { places.count }

  /// Names an object by its record's key, and no longer by the one it had.
  package func set(_ number: ObjectNumber, _ record: RecordView) {
    keys.key(of: record, into: &key)
    let hash = Self.hash(key.bytes)
    guard let word = placeOfNumber[number] else {
      placeOfNumber.set(number, UInt(places.count))
      places.append(
        Place(number: number, hash: hash, next: Self.nowhere, previous: Self.nowhere))
      return link(places.count - 1)
    }
    let place = Int(word)
    guard places[place].hash != hash else { return }
    unlink(place)
    places[place].hash = hash
    link(place)
  }

  /// The objects that have one of some keys, each once, and perhaps others.
  package func numbers(of keys: [[UInt8]]) -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    for hash in Set(keys.map { $0.withUnsafeBytes(Self.hash) }) {
      var place = firstOfHash[hash] ?? Self.nowhere
      while place != Self.nowhere {
        numbers.append(places[place].number)
        place = places[place].next
      }
    }
    return numbers
  }

  private func link(_ place: Int) {
    let next = firstOfHash.updateValue(place, forKey: places[place].hash) ?? Self.nowhere
    places[place].next = next
    places[place].previous = Self.nowhere
    if next != Self.nowhere { places[next].previous = place }
  }

  private func unlink(_ place: Int) {
    let (next, previous) = (places[place].next, places[place].previous)
    if next != Self.nowhere { places[next].previous = previous }
    if previous != Self.nowhere {
      places[previous].next = next
    } else {
      firstOfHash[places[place].hash] = next == Self.nowhere ? nil : next
    }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }
}
