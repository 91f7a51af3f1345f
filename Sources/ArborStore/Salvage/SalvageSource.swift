internal import ArborModel
internal import LMDB

/// A damaged store file and the information it contains about itself: the newest recognizable
/// state, the locations of its databases, its header, and the entries of the `arbor` database that
/// were found.
final class SalvageSource {
  let file: DamagedFile
  /// The header of the state, or an earlier header if that of the state is lost.
  private(set) var header: HeaderRecord?
  private(set) var state = SalvageOutcome.State.unknown
  /// Whether ``header`` is certain to be the header of the last commit.
  private(set) var isHeaderCertain = false
  /// The trees of the databases, by database name.
  private(set) var trees: [String: DamagedTree] = [:]
  private(set) var entries = SalvagedEntries()
  /// Whether the `arbor` database was read completely.
  private(set) var isArborWhole = false
  /// The limit that ends the reading early.
  let limit: WorkLimit
  /// Whether the names of all databases were read.
  private var knowsAllNames = false

  /// - Parameter mayBeBehind: Whether the file may lack commits that were in its journal.
  init(_ file: DamagedFile, mayBeBehind: Bool = false) throws(StoreError) {
    (self.file, limit) = (file, WorkLimit())
    file.isStopped = { [limit] in !limit.admit(1) }
    try storing(limit) { () throws(LMDBError) in
      try chooseState()
      try findNames()
      try readArbor()
    }
    if mayBeBehind { isHeaderCertain = false }
  }

  /// Opens a damaged file that no process has open.
  static func open(_ path: String) throws(StoreError) -> DamagedFile {
    let file = try storing(path: path, DamagedFile(path: path))
    guard !file.isInUse else { throw .inUse(path: file.path) }
    return file
  }

  // MARK: The state

  /// Chooses the state to salvage: that of the newest root page unless its tree is ruined, else
  /// that of the newest page with a header, else that of the previous root page.
  private func chooseState() throws(LMDBError) {
    let transactions = file.transactions
    // If both root pages are intact, their transactions are consecutive.
    let areBothSound = transactions.count == 2 && transactions[0] == transactions[1] &+ 1
    if let newest = transactions.first {
      try begin(with: newest)
      isHeaderCertain = areBothSound && header?.transactionID == newest
      if isHeaderCertain { return state = .newest }
    }
    // Anything newer than the newest of two root pages was never committed.
    guard let found = try newestHeader(upTo: areBothSound ? transactions[0] : .max) else {
      if trees.isEmpty, let previous = transactions.dropFirst().first { try begin(with: previous) }
      return state = header == nil ? .unknown : .previous
    }
    // The newest state without its header is preferable to the previous one.
    let isHeaderLost = areBothSound && found.header.transactionID < transactions[0]
    if isHeaderLost, !trees.isEmpty || file.knowsFreePages {
      (header, state) = (found.header, .newest)
      return
    }
    for transaction in transactions {
      try begin(with: transaction)
      guard header?.transactionID == found.header.transactionID else { continue }
      // The other root page may have been newer.
      return state = .previous
    }
    if let newest = transactions.first, found.header.transactionID <= newest {
      // The page with the header is unreachable, or older than the states of the root pages. It is
      // only used for data that never changes.
      try begin(with: newest)
      state = areBothSound ? .newest : .previous
      if found.header.transactionID == newest { add(found.trees) }
    } else {
      try begin(withoutRootOf: found)
    }
    header = found.header
  }

  private func add(_ found: [DamagedTree]) {
    for tree in found { trees[tree.name] = trees[tree.name] ?? tree }
  }

  private func begin(with transaction: UInt64) throws(LMDBError) {
    (header, trees) = (nil, [:])
    let isWhole = try file.begin(with: transaction) { (entry, _) throws(LMDBError) in
      self.noteName(entry)
    }
    knowsAllNames = isWhole ?? false
  }

  /// Begins with the page that contains a header whose root page is lost.
  private func begin(withoutRootOf found: FoundHeader) throws(LMDBError) {
    trees = [:]
    knowsAllNames = try file.begin(withNamesOn: found.page) { (entry, _) throws(LMDBError) in
      self.noteName(entry)
    }
    // The lost root page cannot have been newer.
    let isNewest = file.transactions.first.map { found.header.transactionID == $0 &+ 1 } ?? false
    state = isNewest ? .newest : .withoutRoot
    add(found.trees)
  }

  private func noteName(_ entry: DamagedEntry) {
    if let tree = entry.tree {
      trees[tree.name] = tree
    } else if entry.key.elementsEqual(StoreFormat.headerKey.utf8) {
      header = Self.header(entry) ?? header
    }
  }

  private static func header(_ entry: DamagedEntry) -> HeaderRecord? {
    guard let bytes = entry.inlineValue else { return nil }
    do throws(HeaderRecord.Problem) { return try HeaderRecord(bytes) } catch { return nil }
  }

  private struct FoundHeader {
    let page: UInt64
    let header: HeaderRecord
    let trees: [DamagedTree]
  }

  /// Returns the newest header on any page, with the databases named on the same page, or `nil` if
  /// there isn't one.
  private func newestHeader(upTo last: UInt64) throws(LMDBError) -> FoundHeader? {
    var newest: FoundHeader?
    try file.scan { (page, _, leaf) throws(LMDBError) in
      var header: HeaderRecord?
      try leaf.forEach { (entry) throws(LMDBError) in
        guard entry.key.elementsEqual(StoreFormat.headerKey.utf8) else { return }
        header = Self.header(entry)
      }
      guard let header, header.transactionID <= last,
        header.transactionID > newest?.header.transactionID ?? 0
      else { return }
      var trees: [DamagedTree] = []
      try leaf.forEach { (entry) throws(LMDBError) in
        if let tree = entry.tree { trees.append(tree) }
      }
      newest = FoundHeader(page: page, header: header, trees: trees)
    }
    return newest
  }

  // MARK: Names

  /// Finds databases whose names are on unreachable pages.
  private func findNames() throws(LMDBError) {
    guard !knowsAllNames else { return }
    try file.scan { (_, use, leaf) throws(LMDBError) in
      guard use == .current else { return }
      try leaf.forEach { (entry) throws(LMDBError) in
        guard let tree = entry.tree, Self.isName(tree.name), self.trees[tree.name] == nil else {
          return
        }
        self.trees[tree.name] = tree
      }
    }
  }

  private static func isName(_ name: String) -> Bool {
    [StoreFormat.arborDatabase, StoreFormat.historyDatabase, StoreFormat.logDatabase]
      .contains(name) || ["e/", "i/", "r/", "o/", "b/"].contains { name.hasPrefix($0) }
  }

  // MARK: The arbor database

  private func readArbor() throws(LMDBError) {
    if let tree = trees[StoreFormat.arborDatabase] {
      isArborWhole = try file.traverse(tree) { (entry, isSound) throws(LMDBError) in
        try self.noteEntry(entry, isSound ? .current : .damaged)
      }
    }
    if isArborWhole, !entries.models.isEmpty, !entries.catalogs.isEmpty { return }
    try file.scan { (_, use, leaf) throws(LMDBError) in
      try leaf.forEach { (entry) throws(LMDBError) in
        try self.noteEntry(entry, min(SalvageRank(use), .damaged))
      }
    }
    // If the tree is complete, other application metadata is outdated.
    if isArborWhole { entries.keepMetadata(from: .current) }
  }

  private func noteEntry(_ entry: DamagedEntry, _ rank: SalvageRank) throws(LMDBError) {
    // No other database has such keys: records have numeric keys, and index keys begin with 1 or 2.
    guard entry.key.count > 4, entry.tree == nil,
      let key = String(validating: entry.key, as: UTF8.self)
    else { return }
    guard Self.isKnown(key) else { return }
    try file.withValue(of: entry) { (bytes) throws(LMDBError) in
      if let bytes { self.entries.note(key, bytes, rank) }
    }
  }

  private static func isKnown(_ key: String) -> Bool {
    key == StoreFormat.modelKey || key == StoreFormat.catalogKey
      || ["layout/", "counter/", "app/"].contains { key.hasPrefix($0) }
  }
}
