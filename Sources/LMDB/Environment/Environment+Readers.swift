#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A snapshot that a process holds of a file.
package struct HeldSnapshot: Sendable, Hashable {
  package let processID: Int32
  /// Whether the process has died, so that its slot is waiting to be freed.
  package let isStale: Bool
  /// The transaction number of the commit that the snapshot sees.
  package let transactionID: UInt64
  /// The number of later commits.
  package let transactionsBehind: Int
  /// The number of pages freed by later commits, which cannot be reused while the snapshot exists.
  package let pinnedPages: Int
  /// The size of the pinned pages in bytes.
  package let pinnedBytes: Int
}

extension Environment {
  /// Returns the snapshots of all processes, oldest state first. Scans the free list if one of them
  /// is not of the last commit.
  ///
  /// Readers of an immutable file are not recorded.
  ///
  /// - Parameter clearsStale: Whether to end the snapshots of dead processes first.
  package func heldSnapshots(clearsStale: Bool = true) throws(LMDBError) -> [HeldSnapshot] {
    if options.isImmutable { return [] }
    if clearsStale { try checkStaleReaders() }
    // Before this call takes its own snapshot.
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

  /// Ends the snapshots of dead processes and returns their number. Frees their idle slots as well.
  package func endStaleSnapshots() throws(LMDBError) -> Int {
    let stale = try readers().count { $0.transactionID != nil && Self.isGone($0.processID) }
    try checkStaleReaders()
    return stale
  }

  /// Returns whether no process has this ID.
  private static func isGone(_ processID: Int32) -> Bool {
    kill(processID, 0) != 0 && errno == ESRCH
  }
}

/// Looks up process names.
package enum ProcessName {
  /// Returns the name of a running process, or `nil` if it has ended or the system doesn't provide
  /// it.
  package static func of(_ processID: Int32) -> String? {
    let descriptor = open("/proc/\(processID)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Linux truncates names to 15 bytes.
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
