internal import ArborModel
internal import LMDB

/// The incomplete indexes of a store and the progress of each.
///
/// A migration that adds an index over many objects leaves it empty. The index is then filled in
/// batches while the store is in use. A flag in the header indicates that there are such indexes,
/// and this list is the entry `index-builds` of the `arbor` database:
///
/// ```
/// builds u16 · then for each, by number:
///   number of the index u16 · state u8 · part that is written, in 65,536ths u16
///   the last entry that was written: object number u64 · length of its key · key
/// crc32c u32
/// ```
///
/// Indexes are filled in the order of their entries, so that each page is written about once. Every
/// commit maintains them for the objects that it changes. An index in this list therefore has no
/// stray entries and is complete up to the last written entry; after that, entries may be missing.
package struct IndexBuildList: Sendable, Hashable {
  package enum State: UInt8, Sendable, Hashable {
    /// The index is being filled.
    case building = 1
    /// The index is complete and maintained by every commit, but must not be read until its values
    /// are known to be unique.
    case writeOnly = 2
  }

  /// An entry of an index, or a position between two entries.
  package struct Position: Sendable, Hashable {
    package let key: [UInt8]
    package let number: UInt64

    /// Returns whether an entry is at the position or before it.
    func reaches(_ otherKey: UnsafeRawBufferPointer, _ otherNumber: UInt64) -> Bool {
      key.withUnsafeBytes { key in
        if otherKey.isBefore(key) { return true }
        return !key.isBefore(otherKey) && otherNumber <= number
      }
    }
  }

  package struct Build: Sendable, Hashable {
    /// The catalog number of the index.
    package let index: UInt16
    package var state = State.building
    /// The fraction of the entries that is written, in units of 1/65,536.
    package var part: UInt16 = 0
    /// The last written entry while the index is being filled, or `nil` before the first one.
    package var position: Position?

    /// Returns whether an expected entry must already be in the index.
    func isDue(_ key: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
      state == .writeOnly || position?.reaches(key, number) ?? false
    }
  }

  /// The builds in the order of their index numbers, which are unique.
  package private(set) var builds: [Build]

  package init(_ builds: [Build] = []) { self.builds = builds.sorted { $0.index < $1.index } }

  package var isEmpty: Bool { builds.isEmpty }

  package func build(of index: UInt16) -> Build? { builds.first { $0.index == index } }

  // MARK: Progress

  /// The next index to fill, or `nil` if all are filled.
  package var next: Build? { builds.first { $0.state == .building } }

  /// Records that an index is complete up to an entry.
  mutating func advance(_ index: UInt16, to position: Position, part: UInt16) {
    change(index) { ($0.position, $0.part) = (position, part) }
  }

  /// Records that an index is complete. It becomes ready unless its values have to be checked for
  /// uniqueness.
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

  /// Decodes the output of ``encoded()`` for a nonempty list. Returns `nil` for other bytes.
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

  /// Reads the list in a transaction. Returns an empty list without a lookup if the header's flag
  /// is not set.
  static func read(
    _ header: HeaderRecord, _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> IndexBuildList {
    guard header.hasIndexBuilds else { return IndexBuildList() }
    let bytes = try reader.entry(StoreFormat.indexBuildsKey, in: arbor)
    guard let list = IndexBuildList(bytes) else {
      throw .corrupted(what: "The entry \"\(StoreFormat.indexBuildsKey)\" is damaged.")
    }
    return list
  }

  /// Writes the list and updates the flag in the header. Removes the entry if the list is empty.
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
  /// Returns the catalog number of an index, or 0 if it is not in the catalog.
  func catalogNumber(of index: IndexSchema) -> UInt16 {
    let owner = entities[index.declaringEntity].name
    return catalog.entries[owner]?.indexes[index.name]?.number ?? 0
  }
}
