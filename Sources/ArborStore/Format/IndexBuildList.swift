internal import ArborModel
internal import LMDB

/// The indexes of a store that do not have all of their entries yet, and how far each is filled.
///
/// A migration that adds an index over many objects leaves it empty, and it is filled in batches
/// while others read and write. While there is such an index a flag in the header says so, and this
/// list is the entry `index-builds` of the `arbor` database:
///
/// ```
/// builds u16 · then for each, by number:
///   number of the index u16 · state u8 · part that is written, in 65,536ths u16
///   the last entry that was written: object number u64 · length of its key · key
/// crc32c u32
/// ```
///
/// Indexes are filled in the order of their entries, so that each page is written about once. Every
/// commit keeps them for the objects that it touches, wherever their entries lie. So an index in
/// this list holds no entry that no record asks for, and all entries up to the last one that was
/// written; of those behind it it may lack some.
package struct IndexBuildList: Sendable, Hashable {
  package enum State: UInt8, Sendable, Hashable {
    /// The index is being filled.
    case building = 1
    /// The index is filled, and written by every commit; it is not read, since nobody has seen yet
    /// that its values are unique.
    case writeOnly = 2
  }

  /// An entry of an index, or a position between two.
  package struct Position: Sendable, Hashable {
    package let key: [UInt8]
    package let number: UInt64

    /// Whether an entry lies at the position or before it.
    func reaches(_ otherKey: UnsafeRawBufferPointer, _ otherNumber: UInt64) -> Bool {
      key.withUnsafeBytes { key in
        if otherKey.isBefore(key) { return true }
        return !key.isBefore(otherKey) && otherNumber <= number
      }
    }
  }

  package struct Build: Sendable, Hashable {
    /// The catalogue number of the index.
    package let index: UInt16
    package var state = State.building
    /// The part of the entries that is written, in 65,536ths.
    package var part: UInt16 = 0
    /// The last entry that was written while the index is being filled; nil before the first.
    package var position: Position?

    /// Whether the index has to have an entry that a record asks for.
    func isDue(_ key: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
      state == .writeOnly || position?.reaches(key, number) ?? false
    }
  }

  /// By the numbers of the indexes; each once.
  package private(set) var builds: [Build]

  package init(_ builds: [Build] = []) { self.builds = builds.sorted { $0.index < $1.index } }

  package var isEmpty: Bool { builds.isEmpty }

  package func build(of index: UInt16) -> Build? { builds.first { $0.index == index } }

  // MARK: Progress

  /// The index that is filled next; nil where all are filled.
  package var next: Build? { builds.first { $0.state == .building } }

  /// Records that an index is filled up to an entry.
  mutating func advance(_ index: UInt16, to position: Position, part: UInt16) {
    change(index) { ($0.position, $0.part) = (position, part) }
  }

  /// Records that an index is filled: it is ready, unless its values have to be unique.
  mutating func finish(_ index: UInt16, isUnique: Bool) {
    guard isUnique else { return remove([index]) }
    change(index) { $0 = Build(index: index, state: .writeOnly, part: .max) }
  }

  private mutating func change(_ index: UInt16, _ body: (inout Build) -> Void) {
    for buildIndex in builds.indices where builds[buildIndex].index == index {
      body(&builds[buildIndex])
    }
  }

  mutating func remove(_ indexes: [UInt16]) { builds.removeAll { indexes.contains($0.index) } }

  // MARK: Bytes

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt16(builds.count))
    for build in builds {
      writer.append(build.index)
      writer.append(build.state.rawValue)
      writer.append(build.part)
      writer.append(build.position?.number ?? 0)
      writer.appendRun(build.position?.key ?? [])
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// nil for bytes that ``encoded()`` did not make of a list that is not empty.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let count: UInt16 = reader.read(), count > 0
    else { return nil }
    builds = []
    for _ in 0..<count {
      guard let index: UInt16 = reader.read(), let byte: UInt8 = reader.read(),
        let state = State(rawValue: byte), let part: UInt16 = reader.read(),
        let number: UInt64 = reader.read(), let key = reader.readRun(),
        key.count <= KeyBuffer.indexLimit, index > builds.last?.index ?? 0,
        state == .building || key.isEmpty && part == .max, !key.isEmpty || number == 0
      else { return nil }
      let position = key.isEmpty ? nil : Position(key: Array(key), number: number)
      builds.append(Build(index: index, state: state, part: part, position: position))
    }
    guard reader.isAtEnd else { return nil }
  }

  // MARK: In the store

  private static let key = Array(StoreFormat.indexBuildsKey.utf8)

  /// The list of a transaction's state; empty without a lookup where the header says that there is
  /// none.
  static func read(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> IndexBuildList {
    guard header.hasIndexBuilds else { return IndexBuildList() }
    let bytes = try reader.entry(StoreFormat.indexBuildsKey, in: arbor)
    guard let list = IndexBuildList(bytes) else {
      throw .corrupted(what: "The entry \(StoreFormat.indexBuildsKey) is damaged.")
    }
    return list
  }

  /// Writes the list and says so in the header; an empty one is removed.
  func write(
    _ header: inout HeaderRecord, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    guard header.hasIndexBuilds || !isEmpty else { return }
    header.hasIndexBuilds = !isEmpty
    try storing { () throws(LMDBError) in
      if isEmpty {
        _ = try transaction.delete(arbor, key: Self.key)
      } else {
        _ = try transaction.put(arbor, key: Self.key, value: encoded())
      }
    }
  }
}

extension ModelSchema {
  /// The catalogue number of an index; 0 where the catalogue does not have it.
  func catalogNumber(of index: IndexSchema) -> UInt16 {
    let owner = entities[index.declaringEntity].name
    return catalog.entries[owner]?.indexes[index.name]?.number ?? 0
  }
}
