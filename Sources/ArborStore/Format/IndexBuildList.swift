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
///   number of the index u16 · state u8 · objects up to this number are in the index u64
/// crc32c u32
/// ```
///
/// Every commit keeps these indexes for the objects that it touches, wherever they lie. So an index
/// in this list holds no entry that no record asks for, and all entries of the objects up to its
/// number; of the others it may lack some.
package struct IndexBuildList: Sendable, Hashable {
  package enum State: UInt8, Sendable, Hashable {
    /// The index is being filled.
    case building = 1
    /// The index is filled, and written by every commit; it is not read, since nobody has seen yet
    /// that its values are unique.
    case writeOnly = 2
  }

  package struct Build: Sendable, Hashable {
    /// The catalogue number of the index.
    package let index: UInt16
    package var state: State
    /// The raw number of the last object that is in the index; `UInt64.max` once all are.
    package var filled: UInt64

    package init(index: UInt16, state: State = .building, filled: UInt64 = 0) {
      self.index = index
      self.state = state
      self.filled = filled
    }
  }

  /// By the numbers of the indexes; each once.
  package private(set) var builds: [Build]

  package init(_ builds: [Build] = []) { self.builds = builds.sorted { $0.index < $1.index } }

  package var isEmpty: Bool { builds.isEmpty }

  package func build(of index: UInt16) -> Build? { builds.first { $0.index == index } }

  // MARK: Progress

  /// What is filled next: the indexes that are filled least, up to where others are.
  package struct Round: Sendable, Hashable {
    package let indexes: [UInt16]
    package let filled: UInt64
    package let bound: UInt64
  }

  /// nil where every index is filled.
  package var round: Round? {
    let building = builds.filter { $0.state == .building }
    guard let filled = building.map(\.filled).min() else { return nil }
    return Round(
      indexes: building.filter { $0.filled == filled }.map(\.index), filled: filled,
      bound: building.map(\.filled).filter { $0 > filled }.min() ?? .max)
  }

  /// Takes down that the indexes of a round are filled up to an object.
  ///
  /// - Parameter isUnique: Whether an index has to be looked through for values that are not
  ///   unique; the others are ready when they are filled.
  mutating func advance(_ round: Round, to filled: UInt64, isUnique: (UInt16) -> Bool) {
    for place in builds.indices where round.indexes.contains(builds[place].index) {
      builds[place].filled = filled
      if filled == .max { builds[place].state = .writeOnly }
    }
    builds.removeAll { $0.state == .writeOnly && !isUnique($0.index) }
  }

  mutating func remove(_ indexes: [UInt16]) {
    builds.removeAll { indexes.contains($0.index) }
  }

  // MARK: Bytes

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt16(builds.count))
    for build in builds {
      writer.append(build.index)
      writer.append(build.state.rawValue)
      writer.append(build.filled)
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
        let state = State(rawValue: byte), let filled: UInt64 = reader.read(),
        index > builds.last?.index ?? 0, state == .building || filled == .max
      else { return nil }
      builds.append(Build(index: index, state: state, filled: filled))
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
    let bytes = try StoreOpener.entry(StoreFormat.indexBuildsKey, reader, arbor)
    guard let list = IndexBuildList(bytes) else {
      throw .corrupted(
        entity: nil, object: nil, what: "The entry \(StoreFormat.indexBuildsKey) is damaged.")
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
        try transaction.delete(arbor, key: Self.key)
      } else {
        try transaction.put(arbor, key: Self.key, value: encoded())
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
