#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A snapshot that some process holds of a file.
package struct HeldSnapshot: Sendable, Hashable {
  package let processID: Int32
  /// Whether the process is no more: its slot waits to be freed.
  package let isStale: Bool
  /// The commit that it sees.
  package let transactionID: UInt64
  /// Later commits.
  package let transactionsBehind: Int
  /// Pages that later commits have replaced: none is used again while it lives.
  package let pinnedPages: Int
  /// The same in bytes.
  package let pinnedBytes: Int
}

extension Environment {
  /// The snapshots of all processes, those that see the oldest state first. Costs a scan of the
  /// list of free pages where one of them is behind.
  ///
  /// Readers of an immutable file are recorded nowhere.
  ///
  /// - Parameter clearsStale: Whether those of processes that died are ended before.
  package func heldSnapshots(clearsStale: Bool = true) throws(LMDBError) -> [HeldSnapshot] {
    if options.isImmutable { return [] }
    if clearsStale { try checkStaleReaders() }
    // Before the snapshot that this takes itself.
    let held = try readers()
    if !held.contains(where: { $0.transactionID != nil }) { return [] }
    let transaction = try beginRead()
    let isBehind = held.contains { $0.transactionID.map { $0 < transaction.id } ?? false }
    let replaced = isBehind ? try replacedPages(in: transaction.reader) : []
    let pageSize = try info().pageSize
    var list: [HeldSnapshot] = []
    for reader in held {
      guard let id = reader.transactionID, id <= transaction.id else { continue }
      let pages = replaced.reduce(0) { $1.transactionID > id ? $0 + $1.count : $0 }
      list.append(
        HeldSnapshot(
          processID: reader.processID, isStale: Self.isGone(reader.processID), transactionID: id,
          transactionsBehind: Int(clamping: transaction.id - id), pinnedPages: pages,
          pinnedBytes: pages * pageSize))
    }
    return list.sorted {
      ($0.transactionID, $0.processID) < ($1.transactionID, $1.processID)
    }
  }

  /// Ends the snapshots of processes that died; returns how many. Frees their idle slots as well.
  package func endStaleSnapshots() throws(LMDBError) -> Int {
    let stale = try readers().count { $0.transactionID != nil && Self.isGone($0.processID) }
    try checkStaleReaders()
    return stale
  }

  /// Whether no process has an ID.
  private static func isGone(_ processID: Int32) -> Bool {
    kill(processID, 0) != 0 && errno == ESRCH
  }
}

/// What the system calls a process.
package enum ProcessName {
  /// The name of a running process; nil where it is gone, or the system does not tell.
  package static func of(_ processID: Int32) -> String? {
    let descriptor = open("/proc/\(processID)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Linux cuts names after 15 bytes.
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
