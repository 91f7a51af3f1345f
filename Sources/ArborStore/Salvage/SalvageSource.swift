internal import ArborModel
internal import LMDB

/// A damaged store file, and what it says of itself: which state is the newest that can be told,
/// where its databases lie, its header, and what was found of the `arbor` database.
final class SalvageSource {
  let file: DamagedFile
  /// The header of the state, or of an earlier one where that is lost.
  private(set) var header: HeaderRecord?
  private(set) var state = SalvageOutcome.State.unknown
  /// Whether the header is that of the last commit for certain.
  private(set) var isHeaderCertain = false
  /// Where the databases lie, by their names in the file.
  private(set) var trees: [String: DamagedTree] = [:]
  private(set) var entries = SalvagedEntries()
  /// Whether everything that the `arbor` database held was read.
  private(set) var isArborWhole = false
  /// What ends the reading before it is done.
  let limit: WorkLimit
  /// Whether all names of databases were read.
  private var knowsAllNames = false

  init(path: String) throws(StoreError) {
    let limit = WorkLimit()
    file = try storing(path: path, DamagedFile(path: path))
    guard !file.isInUse else { throw .inUse(path: file.path) }
    file.isStopped = { !limit.admit(1) }
    self.limit = limit
    try storing(limit) { () throws(LMDBError) in
      try chooseState()
      try findNames()
      try readArbor()
    }
  }

  // MARK: The state

  /// Chooses the state that is salvaged: of the newest root page, unless what that leads to is
  /// ruined; else of the newest page with a header; else of the root page before.
  private func chooseState() throws(LMDBError) {
    let transactions = file.transactions
    // Of two sound root pages one is of the transaction before the other's.
    let areBothSound = transactions.count == 2 && transactions[0] == transactions[1] &+ 1
    if let newest = transactions.first {
      try begin(with: newest)
      isHeaderCertain = areBothSound && header?.transactionID == newest
      if isHeaderCertain { return state = .newest }
    }
    // What lies behind the newest of two root pages was never committed.
    guard let found = try newestHeader(upTo: areBothSound ? transactions[0] : .max) else {
      if trees.isEmpty, let previous = transactions.dropFirst().first { try begin(with: previous) }
      return state = header == nil ? .unknown : .previous
    }
    // Better the newest state without its header than the one before.
    let isHeaderLost = areBothSound && found.header.transactionID < transactions[0]
    if isHeaderLost, !trees.isEmpty || file.knowsFreePages {
      (header, state) = (found.header, .newest)
      return
    }
    for transaction in transactions {
      try begin(with: transaction)
      guard header?.transactionID == found.header.transactionID else { continue }
      // The other root page may have been of a later one.
      return state = .previous
    }
    if let newest = transactions.first, found.header.transactionID <= newest {
      // Nothing leads to the page with the header, or it is from before the states that the root
      // pages know of: then it is good for what never changes.
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

  /// Begins with the page that has the header, where the root page that led to it is lost.
  private func begin(withoutRootOf found: FoundHeader) throws(LMDBError) {
    trees = [:]
    knowsAllNames = try file.begin(withNamesOn: found.page) { (entry, _) throws(LMDBError) in
      self.noteName(entry)
    }
    // The root page that is lost cannot have been of a later one.
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

  /// The newest header on any page, with the databases whose names lie beside it.
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

  /// Finds databases whose names lie on pages that nothing leads to any more.
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
    // Where the tree is whole, everything else of the application's is older.
    if isArborWhole { entries.keepMetadata(from: .current) }
  }

  private func noteEntry(_ entry: DamagedEntry, _ rank: SalvageRank) throws(LMDBError) {
    // No other database has such keys: those of records are numbers, of indexes begin with 1 or 2.
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
