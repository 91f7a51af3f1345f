/// The space used by a store's file, in bytes.
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
/// All figures except ``file`` count whole pages of ``pageSize`` bytes. The figures for the file,
/// ``used``, ``free``, ``pinned``, records, large binaries and history are exact. The figures for
/// an index or relationship are estimated from 4096 of its leaf pages if it has more than that and
/// objects share values in it; ``Database/isEstimated`` indicates this. The figures always add up
/// to the size of the file.
public struct StoreSpace: Sendable, Hashable {
  /// The size of the file.
  public let file: Int
  /// The size of a page.
  public let pageSize: Int
  /// The space for the records of all objects.
  public let records: Int
  /// The space for indexes, including those of uniqueness constraints.
  public let indexes: Int
  /// The space for the members of to-many relationships and their order.
  public let relationships: Int
  /// The space for binary values that are stored outside their records.
  public let largeBinaries: Int
  /// The space for the history, which records the changes of recent commits.
  public let history: Int
  /// The space for the model, metadata, the storage engine's own lists, and data stored by other
  /// programs.
  public let other: Int
  /// The space of free pages, which later commits reuse before the file grows.
  public let free: Int
  /// The part of the free space that commits cannot use yet, because a process reads an earlier
  /// snapshot; see ``longReaders``.
  public let pinned: Int
  /// The space that `compact()` would release, accurate to within a few pages.
  public let reclaimable: Int
  /// The databases of the file, by entity and property, including empty ones.
  public let databases: [Database]
  /// The readers that pin more pages than `StoreOptions.pinnedPagesThreshold`, sorted by snapshot,
  /// oldest first.
  public let longReaders: [StoreReader]

  /// The space of pages in use.
  public var used: Int { records + indexes + relationships + largeBinaries + history + other }

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

  /// The used space by category, with the category's name.
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
