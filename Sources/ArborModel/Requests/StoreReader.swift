public import Foundation

/// A snapshot that a process holds of a store, and what it costs.
///
/// Pages that later commits replace are not used again while a process reads an earlier state: a
/// long read lets the file grow.
///
/// ```swift
/// for reader in try store.readers() where reader.pinnedBytes > 1 << 28 { print(reader) }
/// // process 4711 (server) · since about 2026-11-23T12:30:00Z · 1200 transactions behind
/// //   · 73728 pages, 301989888 bytes pinned
/// ```
///
/// Only ``processID`` and ``transaction`` come from the engine, which does not record when a read
/// began. ``since`` is estimated from the history of commits.
public struct StoreReader: Sendable, Hashable {
  /// The process that reads.
  public let processID: Int32
  /// What the system calls the process, on Linux its first 15 bytes; nil where the system does not
  /// tell, as of a process in another container.
  public let processName: String?
  /// The transaction whose state it reads.
  public let transaction: UInt64
  /// About when the state that it reads was replaced by the next commit: it has been reading since
  /// before. nil where it reads the newest state, and where no commit is remembered.
  ///
  /// Estimated: transactions that were no commit of objects, such as batches of an index build,
  /// make it earlier than it is, and several commits written as one transaction make it later.
  public let since: Date?
  /// How many transactions have been committed since the state that it reads.
  public let transactionsBehind: Int
  /// Pages that have been replaced since, and cannot be used while it reads.
  public let pinnedPages: Int
  /// The same in bytes.
  public let pinnedBytes: Int

  /// Describes a reader.
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
