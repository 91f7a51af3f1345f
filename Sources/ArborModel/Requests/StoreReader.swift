public import ArborFoundation

/// A process's read transaction on a store, and the pages that its MVCC snapshot pins.
///
/// Pages that later commits replace cannot be reused while a process reads an earlier snapshot, so
/// a long-running read transaction makes the file grow.
///
/// ```swift
/// for reader in try store.readers() where reader.pinnedBytes > 1 << 28 { print(reader) }
/// // process 4711 (server) · since about 2026-11-23T12:30:00Z · 1200 transactions behind
/// //   · 73728 pages, 301989888 bytes pinned
/// ```
///
/// The storage engine provides only ``processID`` and ``transaction``. It doesn't record when a
/// read transaction started, so ``since`` is estimated from the history of commits.
public struct StoreReader: Sendable, Hashable {
  /// The ID of the reading process.
  public let processID: Int32
  /// The name of the process as reported by the system (on Linux, its first 15 bytes), or `nil` if
  /// it isn't available, for example because the process runs in another container.
  public let processName: String?
  /// The transaction whose snapshot is read.
  public let transaction: UInt64
  /// The estimated time at which the next commit replaced the snapshot; the read transaction
  /// started before that. `nil` if the snapshot is the newest, or if no commit is recorded.
  ///
  /// The estimate is too early if transactions other than commits of objects were executed, such as
  /// batches of an index build, and too late if several commits were written as one transaction.
  public let since: Date?
  /// The number of transactions committed since the snapshot.
  public let transactionsBehind: Int
  /// The number of pages that have been replaced since the snapshot, and cannot be reused while it
  /// is read.
  public let pinnedPages: Int
  /// The size of the pinned pages in bytes.
  public let pinnedBytes: Int

  package init(
    processID: Int32, processName: String? = nil, transaction: UInt64, since: Date? = nil,
    transactionsBehind: Int, pinnedPages: Int, pinnedBytes: Int
  ) {
    self.processID = processID
    self.processName = processName
    self.transaction = transaction
    self.since = since
    self.transactionsBehind = transactionsBehind
    self.pinnedPages = pinnedPages
    self.pinnedBytes = pinnedBytes
  }
}

extension StoreReader: CustomStringConvertible {
  /// The reader on one line.
  public var description: String {
    let name = processName.map { " (\($0))" } ?? ""
    let date = since.map { " · since about \($0.formatted(.iso8601))" } ?? ""
    let transactions = transactionsBehind == 1 ? "transaction" : "transactions"
    let pages = pinnedPages == 1 ? "page" : "pages"
    return "process \(processID)\(name)\(date) · \(transactionsBehind) \(transactions) behind"
      + " · \(pinnedPages) \(pages), \(pinnedBytes) bytes pinned"
  }
}
