internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// The history entry of one change set.
struct CommitHistory {
  private let author: String?
  private let contextName: String?
  private let isBulk: Bool
  private let changes: [HistoryEntry.Change]
  private let tombstones: [HistoryEntry.Tombstone]

  /// - Parameters:
  ///   - changes: The change set's records in the order of their numbers.
  ///   - tombstones: The tombstones of deleted objects in the order of their numbers.
  init(
    _ set: ChangeSet, changes: [ChangeSet.RecordChange], tombstones: [HistoryEntry.Tombstone],
    schema: ModelSchema
  ) {
    author = set.author
    contextName = set.contextName
    var linkBits = set.links.isEmpty ? nil : Self.linkBits(set, schema)
    isBulk = changes.count + (linkBits?.count ?? 0) > StoreFormat.maximumListedChanges
    guard !isBulk else {
      (self.changes, self.tombstones) = ([], [])
      return
    }
    self.tombstones = tombstones
    var listed = changes.map { change in
      HistoryEntry.Change(
        number: change.number, kind: change.kind,
        changedProperties: change.changedProperties
          | (linkBits?.removeValue(forKey: change.number) ?? 0))
    }
    if let linkBits, !linkBits.isEmpty {
      listed += linkBits.map {
        HistoryEntry.Change(number: $0.key, kind: .update, changedProperties: $0.value)
      }
      listed.sort { $0.number < $1.number }
    }
    self.changes = listed
  }

  /// Returns the bits of the relationships that the change set edits, by owner.
  private static func linkBits(_ set: ChangeSet, _ schema: ModelSchema) -> [ObjectNumber: UInt64] {
    var bits: [ObjectNumber: UInt64] = [:]
    for link in set.links {
      let bit = schema.entity(of: link.owner)?.changeBit(ofLinks: link.slot)
      bits[link.owner, default: 0] |= bit ?? EntitySchema.otherProperties
    }
    return bits
  }

  /// An entry that only records that anything may have changed.
  static let everything = CommitHistory(isBulk: true)

  /// An entry without changes.
  static let nothing = CommitHistory(isBulk: false)

  private init(isBulk: Bool) {
    author = nil
    contextName = nil
    self.isBulk = isBulk
    changes = []
    tombstones = []
  }

  /// Returns the encoded entry of the commit.
  func encoded(sequence: UInt64, date: Date, _ schema: ModelSchema) -> [UInt8] {
    HistoryCodec.encode(
      HistoryEntry(
        sequence: sequence, date: date, author: author, contextName: contextName,
        isBulk: isBulk, changes: changes, tombstones: tombstones), schema)
  }

  /// Records a commit in the space after the header or, once that is full, in the history database.
  ///
  /// - Parameters:
  ///   - entry: The result of ``encoded(sequence:_:)``.
  ///   - header: The header, which already has the commit's sequence number and receives the entry.
  static func write(
    _ entry: [UInt8], behind header: inout HeaderRecord, _ history: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    if header.latestCommits.append(entry) { return }
    try header.latestCommits.forEach(endingWith: header.sequence - 1) {
      (sequence, entry) throws(LMDBError) in
      _ = try transaction.put(history, key: sequence, value: entry, .append)
    }
    header.latestCommits = LatestCommits()
    if !header.latestCommits.append(entry) {
      try transaction.put(history, key: header.sequence, value: entry, .append)
    }
    try trim(history, until: header.sequence, transaction)
  }

  /// Removes the commits that are older than the ``StoreFormat/historyLength`` commits up to
  /// `last`.
  static func trim(
    _ history: Database, until last: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard last > StoreFormat.historyLength else { return }
    let newestToGo = last - StoreFormat.historyLength
    // A deletion invalidates cursors, so each iteration creates one. A key that a damaged tree
    // lists but cannot find is left to the store check.
    while let oldest = try transaction.reader.cursor(history).first()?.integerKey,
      oldest <= newestToGo, try transaction.delete(history, key: oldest)
    {}
  }
}
