/// A snapshot that a process holds of a store, and what it costs.
///
/// Pages that later commits replace are not used again while somebody reads an earlier state: a
/// long read lets the file grow. The engine notes who reads which transaction, not since when.
///
/// ```swift
/// for reader in try store.readers where reader.pinnedBytes > 1 << 28 { print(reader) }
/// // process 4711 · 1200 transactions behind · 301989888 bytes pinned
/// ```
public struct StoreReader: Sendable, Hashable {
  /// The process that reads.
  public let processID: Int32
  /// How many transactions have been committed since the state that it reads.
  public let transactionsBehind: Int
  /// Bytes of pages that have been replaced since, and cannot be used while it reads.
  public let pinnedBytes: Int

  /// Describes a reader.
  public init(processID: Int32, transactionsBehind: Int, pinnedBytes: Int) {
    self.processID = processID
    self.transactionsBehind = transactionsBehind
    self.pinnedBytes = pinnedBytes
  }
}

extension StoreReader: CustomStringConvertible {
  /// The reader on one line.
  public var description: String {
    let transactions = transactionsBehind == 1 ? "transaction" : "transactions"
    return "process \(processID) · \(transactionsBehind) \(transactions) behind"
      + " · \(pinnedBytes) bytes pinned"
  }
}
