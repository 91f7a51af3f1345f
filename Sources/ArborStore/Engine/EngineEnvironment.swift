package import LMDB

/// An open data file, shared by all threads of the process.
package struct EngineEnvironment: Sendable, Equatable {
  package let base: Environment

  package init(_ base: Environment) { self.base = base }

  package static func == (left: Self, right: Self) -> Bool { left.base === right.base }

  // MARK: Opening and closing

  /// Opens a file; the same one again where this process has it open.
  package static func open(
    path: String, options: EngineOptions = EngineOptions()
  ) throws(EngineError) -> Self {
    Self(try Environment.open(path: path, options: options))
  }

  /// Opens a file without a name, which goes with the environment.
  static func openInMemory(options: EngineOptions) throws(EngineError) -> Self {
    Self(try Environment.openInMemory(options: options))
  }

  /// Ends one opening, and with the last one the environment.
  package func close() throws(EngineError) { try base.close() }

  package var path: String { base.path }
  package var isReadOnly: Bool { base.isReadOnly }
  /// Whether the path leads to this file still.
  package var isInPlace: Bool { base.isInPlace }

  /// Opens a database that exists; nil where it is missing.
  package func openDatabase(
    _ name: String, _ flags: EngineFlags
  ) throws(EngineError) -> EngineDatabase? {
    try base.openDatabase(name, flags, create: false).map(EngineDatabase.init)
  }

  /// Opens a database with whatever flags it has; nil where it is missing.
  package func openDatabase(_ name: String) throws(EngineError) -> EngineDatabase? {
    try base.openDatabase(name).map(EngineDatabase.init)
  }

  /// Opens several databases in one transaction; nil for a missing one.
  func openDatabases(
    _ list: [(name: String, flags: EngineFlags)]
  ) throws(EngineError) -> [EngineDatabase?] {
    try base.openDatabases(list).map { $0.map(EngineDatabase.init) }
  }

  // MARK: Transactions

  package func beginRead() throws(EngineError) -> EngineSnapshot {
    EngineSnapshot(try base.beginRead())
  }

  /// Runs `body` in a write transaction and commits where it returns true.
  ///
  /// `body` runs *again* after the map has grown: it must not change anything but the file and what
  /// it overwrites.
  package func runWrite(_ body: (borrowing EngineWriter) -> Bool) throws(EngineError) {
    try base.runWrite { body(EngineWriter($0)) }
  }

  /// Runs `body` as ``runWrite(_:)`` does; errors of the engine become the store's, with a path
  /// where that is given.
  package func write(
    path: String?, _ body: (borrowing EngineWriter) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var failure: StoreError?
    try storing(path: path) { () throws(EngineError) in
      try runWrite { transaction in
        failure = nil
        do throws(StoreError) {
          return try body(transaction)
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw failure }
  }

  /// Runs `body`, in which this thread waits for other threads' writes: growth of the map then
  /// knows that it cannot wait for the snapshots of this thread.
  func whileWaiting<R>(_ body: () throws -> R) rethrows -> R { try base.whileWaiting(body) }

  /// Waits until the medium has all commits.
  package func synchronize() throws(EngineError) { try base.synchronize() }

  /// Whether this process has committed a transaction.
  var hasCommitted: Bool { base.hasCommitted }

  package var lastTransactionID: UInt64 { get throws(EngineError) { try base.lastTransactionID } }

  // MARK: Pages

  package var pageSize: Int { get throws(EngineError) { try base.info().pageSize } }

  /// What the pages of the file are used for. Reads the list of free pages.
  package func pageUse(
    in reader: EngineReader
  ) throws(EngineError) -> (fileSize: Int, pageSize: Int, used: Int, free: Int, reclaimable: Int) {
    let use = try base.pageUse(in: reader.base)
    return (use.fileSize, use.pageSize, use.used, use.free, use.reclaimable)
  }

  func pagesFreedByLastCommit() throws(EngineError) -> Int { try base.pagesFreedByLastCommit() }

  /// The snapshots that processes hold of the file.
  func heldSnapshots() throws(EngineError) -> [HeldSnapshot] { try base.heldSnapshots() }

  /// Ends the snapshots of processes that died; returns how many.
  func endStaleSnapshots() throws(EngineError) -> Int { try base.endStaleSnapshots() }

  /// Verifies all pages of the newest commit, and that the file consists of certain databases.
  package func verifyPages(
    expecting expected: [String: EngineFlags], allowing allowed: Set<String>,
    isCancelled: @escaping () -> Bool
  ) throws(EngineError) {
    try base.verifyPages(expecting: expected, allowing: allowed, isCancelled: isCancelled)
  }

  /// Verifies all pages of a file that need not be possible to open.
  static func verifyPages(path: String) throws(EngineError) {
    try Environment.verifyPages(path: path)
  }

  /// What keeps other processes from scrubbing the file while it lives; nil where one does.
  func claimScrub() -> ScrubClaim? { base.claimScrub() }

  // MARK: Files

  /// Copies a snapshot of the file.
  func copy(to target: String, compacting: Bool) throws(EngineError) {
    try base.copy(to: target, compacting: compacting, isUnfinished: true)
  }

  /// Puts a copy without free pages in the file's place, and goes on with it.
  ///
  /// - Parameter finish: The last transaction of the copy; it may run more than once.
  /// - Throws: Where another process has the file open, or a snapshot of this one does not end.
  func compact(
    by staged: borrowing EngineUnfinishedFile,
    finish: (borrowing EngineWriter) throws(EngineError) -> Void
  ) throws(EngineError) {
    try base.compact(by: staged.base) { (lent) throws(EngineError) in
      try finish(EngineWriter(lent))
    }
  }

  /// Runs `body` while nobody else has the file open.
  func withExclusiveLock<R>(_ body: () throws -> R) throws -> R { try base.withExclusiveLock(body) }

  static func withExclusiveLock<R>(path: String, _ body: () throws -> R) throws -> R {
    try Environment.withExclusiveLock(path: path, body)
  }

  /// Puts a complete file in the place of another, which other processes may have open.
  ///
  /// - Parameter permit: Throws where the other one is not to go. It may run more than once.
  static func replaceFile(
    at path: String, by staged: String, keepsFormer: Bool,
    permit: (borrowing EngineWriter) throws -> Void
  ) throws {
    try Environment.replaceFile(at: path, by: staged, keepsFormer: keepsFormer) { _, lent in
      try permit(EngineWriter(lent))
    }
  }

  /// What a file that was replaced is called if it is kept.
  static func formerPath(of path: String) -> String { Environment.formerPath(of: path) }

  /// What a file that is being replaced is called, which a kill may leave.
  static func replacedPath(of path: String) -> String { Environment.replacedPath(of: path) }
}
