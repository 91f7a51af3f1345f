internal import LMDB

/// A data file that is read page by page, since the engine refuses it.
struct EngineDamagedFile {
  private let base: DamagedFile

  /// - Parameter isStopped: What ends the reading before it is done.
  init(path: String, isStopped: @escaping () -> Bool) throws(StoreError) {
    base = try storing(path: path, DamagedFile(path: path))
    guard !base.isInUse else { throw .inUse(path: base.path) }
    base.isStopped = isStopped
  }

  var pageSize: Int { base.pageSize }
  var pageCount: UInt64 { base.pageCount }
  /// The transactions of the sound root pages, the newest first.
  var transactions: [UInt64] { base.transactions }
  /// Whether the state that was begun says which pages are free.
  var knowsFreePages: Bool { base.knowsFreePages }

  typealias Visitor = (EngineDamagedEntry, _ isSound: Bool) throws(EngineError) -> Void

  /// Begins with the state of a transaction; returns whether all names were read, nil without it.
  @discardableResult
  func begin(with transaction: UInt64, _ visit: @escaping Visitor) throws(EngineError) -> Bool? {
    try base.begin(with: transaction) { (entry, isSound) throws(EngineError) in
      try visit(EngineDamagedEntry(base: entry), isSound)
    }
  }

  /// Begins with the state whose names lie on a page; returns whether all of them were read.
  func begin(withNamesOn page: UInt64, _ visit: @escaping Visitor) throws(EngineError) -> Bool {
    try base.begin(withNamesOn: page) { (entry, isSound) throws(EngineError) in
      try visit(EngineDamagedEntry(base: entry), isSound)
    }
  }

  /// Visits the entries of a tree; returns whether no part is lost.
  ///
  /// - Parameter lost: Is given the numbers that a lost part may have had as keys; nil for
  ///   none.
  @discardableResult
  func traverse(
    _ tree: EngineDamagedTree, _ visit: @escaping Visitor,
    lost: @escaping (ClosedRange<UInt64>?) -> Void = { _ in }
  ) throws(EngineError) -> Bool {
    try base.traverse(tree.base) { (entry, isSound) throws(EngineError) in
      try visit(EngineDamagedEntry(base: entry), isSound)
    } lost: {
      lost($0.numbers)
    }
  }

  /// Visits the leaves that no traversal has met.
  func scan(
    _ body: (_ page: UInt64, SalvageRank, EngineDamagedLeaf) throws(EngineError) -> Void
  ) throws(EngineError) {
    try base.scan { (page, use, leaf) throws(EngineError) in
      try body(page, SalvageRank(use), EngineDamagedLeaf(base: leaf))
    }
  }

  /// Lends the value of an entry; nil where it cannot be read.
  func withValue<R>(
    of entry: EngineDamagedEntry, _ body: (UnsafeRawBufferPointer?) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    try base.withValue(of: entry.base, body)
  }

  /// Visits the values of a key that have the given form; returns whether it met all of them.
  func forEachValue(
    of entry: EngineDamagedEntry, _ flags: EngineFlags, size: Int,
    _ body: @escaping (UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    try base.forEachValue(of: entry.base, flags, size: size, body)
  }
}

/// An entry of a page, as far as its bytes can be told.
struct EngineDamagedEntry {
  let base: DamagedEntry

  var key: UnsafeRawBufferPointer { base.key }
  /// Whether it lies where its page says that nothing lies.
  var isOutside: Bool { base.isOutside }
  /// The value, where it lies on the same page.
  var inlineValue: UnsafeRawBufferPointer? { base.inlineValue }
  /// The database that it names, where it does.
  var tree: EngineDamagedTree? { base.tree.map(EngineDamagedTree.init) }
}

/// Where a database lies.
struct EngineDamagedTree {
  let base: DamagedTree

  var name: String { base.name }
  var entryCount: UInt64 { base.entryCount }
}

/// A leaf page.
struct EngineDamagedLeaf {
  let base: DamagedLeaf

  var isSound: Bool { base.isSound }

  func forEach(_ body: (EngineDamagedEntry) throws(EngineError) -> Void) throws(EngineError) {
    try base.forEach { (entry) throws(EngineError) in try body(EngineDamagedEntry(base: entry)) }
  }
}

extension SalvageRank {
  fileprivate init(_ use: DamagedFile.PageUse) {
    switch use {
    case .current: self = .current
    case .unknown: self = .unknown
    case .free, .misplaced: self = .stale
    }
  }
}
