/// What a store's file is made of, in bytes.
///
/// ```swift
/// let space = try store.spaceUsage()
/// if space.reclaimable > space.file / 2 { try store.compact() }
/// print(space)
/// // 12288000 bytes: records 3100672, indexes 1404928, …, free 7340032
/// for database in space.databases { print(database) }
/// // records of Employee · 10000 entries · 410 pages · 92 % full
/// ```
///
/// Every figure but that of the file counts whole pages, of ``pageSize`` bytes each. The file,
/// ``used``, ``free``, ``pinned``, records, large binaries and history are exact. The figures of an
/// index or relationship of more than 4096 leaf pages in which objects share values are estimated
/// from 4096 of them; ``Database/isEstimated`` tells. The figures add up to the file all the same.
public struct StoreSpace: Sendable, Hashable {
  /// Bytes of the file.
  public let file: Int
  /// Bytes of a page.
  public let pageSize: Int
  /// The records of all objects.
  public let records: Int
  /// The indexes, those of uniqueness constraints included.
  public let indexes: Int
  /// The members of to-many relationships, and their order.
  public let relationships: Int
  /// Binaries that lie outside of their records.
  public let largeBinaries: Int
  /// What the last commits changed, for those who follow them.
  public let history: Int
  /// The model, metadata, the engine's own lists, and what other programs put into the file.
  public let other: Int
  /// Pages that hold nothing: later commits use them before the file grows.
  public let free: Int
  /// What of the free pages no commit can use yet, because a process reads an earlier state; see
  /// ``longReaders``.
  public let pinned: Int
  /// What `compact()` would give back, to within some pages.
  public let reclaimable: Int
  /// The databases of the file, by entity and property; those that hold nothing included.
  public let databases: [Database]
  /// The readers that pin more pages than `StoreOptions.pinnedPagesThreshold`, those that
  /// read the oldest state first.
  public let longReaders: [StoreReader]

  /// Bytes of pages that hold something.
  public var used: Int { records + indexes + relationships + largeBinaries + history + other }

  /// Describes a file.
  package init(
    file: Int, pageSize: Int, records: Int, indexes: Int, relationships: Int, largeBinaries: Int,
    history: Int, other: Int, free: Int, pinned: Int = 0, reclaimable: Int,
    databases: [Database] = [], longReaders: [StoreReader] = []
  ) {
    self.file = file
    self.pageSize = pageSize
    self.records = records
    self.indexes = indexes
    self.relationships = relationships
    self.largeBinaries = largeBinaries
    self.history = history
    self.other = other
    self.free = free
    self.pinned = pinned
    self.reclaimable = reclaimable
    self.databases = databases
    self.longReaders = longReaders
  }

  /// The bytes of used pages by what they hold, each with a word for it.
  package var kinds: [(name: String, bytes: Int, isEstimated: Bool)] {
    func isEstimated(_ kinds: Database.Kind...) -> Bool {
      databases.contains { $0.isEstimated && kinds.contains($0.kind) }
    }
    let areIndexes = isEstimated(.index)
    let areRelationships = isEstimated(.relationship, .order)
    return [
      ("records", records, false), ("indexes", indexes, areIndexes),
      ("relationships", relationships, areRelationships),
      ("large binaries", largeBinaries, false), ("history", history, false),
      ("other", other, areIndexes || areRelationships),
    ]
  }
}

extension StoreSpace: CustomStringConvertible {
  /// All figures on one line.
  public var description: String {
    let parts =
      kinds + [("free", free, false)] + (pinned > 0 ? [("of which pinned", pinned, false)] : [])
    return "\(file) bytes: "
      + parts.map { "\($0.name) \($0.isEstimated ? "about " : "")\($0.bytes)" }
      .joined(separator: ", ")
  }
}
