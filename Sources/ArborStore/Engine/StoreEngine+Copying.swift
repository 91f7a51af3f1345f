internal import ArborModel
internal import Foundation
internal import LMDB

extension StoreEngine {
  /// Writes a consistent copy of the newest commit into a new file; readers and writers go on.
  ///
  /// - Parameters:
  ///   - compacting: Leaves free pages out.
  ///   - keepsMarker: Whether the copy says that it is being migrated where this store does: for
  ///     the copy that is migrated.
  ///   - keepsPosition: Whether the copy says how far this store has the log that it shares: for
  ///     copies that go on from there. One that keeps the marker does in any case.
  /// - Throws: `inputOutput` with `EEXIST` where the target exists, with `ENOENT` where its folder
  ///   does not; `diskFull`.
  package func copy(
    to target: String, compacting: Bool, keepsMarker: Bool = true, keepsPosition: Bool = false
  ) throws(StoreError) {
    guard !hasEnded else { throw .closed }
    // Before the time it takes; the copy's last step refuses as well.
    if access(target, F_OK) == 0 {
      throw .inputOutput(operation: "copy", path: target, errno: EEXIST)
    }
    if access(Folder.path(of: target), F_OK) != 0 {
      throw .inputOutput(operation: "copy", path: target, errno: errno)
    }
    let isForOthers = !keepsMarker
    let concernsOriginal = isForOthers ? try hasMarks() : false
    try StoreCreation.install(at: target) { (temporary) throws(StoreError) in
      try storing(
        path: target, environment.copy(to: temporary, compacting: compacting, isUnfinished: true))
      // A compacted file counts its transactions anew: the header must name the new count.
      guard compacting || concernsOriginal else { return }
      try StoreCreation.renewHeader(
        of: temporary, dropsMarks: isForOthers, keepsPosition: keepsPosition)
    }
  }

  /// Whether the store has what a copy of it must not: that it is being migrated, that others
  /// follow its commits, or that the medium may not have them yet.
  private func hasMarks() throws(StoreError) -> Bool {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    let reader = try snapshot.reader
    let header = try StoreHeader.read(reader, path: path)
    if header.isBeingMigrated || header.keepsLog || header.isUnsettled { return true }
    for key in StoreFormat.keysOfFollowers
    where try reader.entryIfPresent(key, in: databases.arbor) != nil { return true }
    return false
  }

  /// Gives free pages back: puts a compacted copy in the file's place, and goes on with it.
  ///
  /// The store stays open for everybody in this process, under the same identity, generation,
  /// sequence, numbers and history. Reading goes on until the copy is complete, commits wait. A
  /// store in memory has nothing to give back.
  ///
  /// - Throws: `inUse` where another process has the file open, or a snapshot does not end;
  ///   `diskFull`, `readOnly`, `modelChanged`, `migrationUnderWay`. The file is as it was then.
  package func compact() throws(StoreError) {
    guard !isReadOnly else { throw .readOnly(path: path) }
    // A store of another model by now is not this one's to rewrite.
    try snapshot().close()
    guard let path else { return }
    try health.permitWriting()
    if !isMigrating, let marker = try migrationMarker() { throw .migrationUnderWay(marker) }
    UnfinishedFile.removeAbandoned(beside: path)
    try indexBuilding.paused(self) { () throws(StoreError) in
      // Its snapshot would keep the former file.
      try scrubbing.paused(self) { () throws(StoreError) in
        try compact(by: storing(path: path, UnfinishedFile(beside: path)))
      }
    }
    notifications.watchAnew(self)
    try snapshot().close()
  }

  private func compact(by staged: consuming UnfinishedFile) throws(StoreError) {
    let temporary = staged.path
    defer { StoreFiles.discard(temporary) }
    var refusal: StoreError?
    do throws(LMDBError) {
      try environment.compact(by: staged) { transaction throws(LMDBError) in
        do throws(StoreError) { try renewHeader(transaction) } catch {
          refusal = error
          throw .badTransaction
        }
      }
    } catch {
      throw refusal ?? StoreError(error, path: path)
    }
  }

  private func renewHeader(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    var header = try StoreHeader.read(transaction.reader, path: path)
    guard header.modelGeneration == modelGeneration else { throw .modelChanged }
    if header.isBeingMigrated, !isMigrating {
      throw .migrationUnderWay(try MigrationMarker.read(transaction.reader, databases.arbor))
    }
    let former = header.transactionID
    header.sign(transaction)
    try StoreHeader.write(header, in: transaction, following: former)
  }
}
