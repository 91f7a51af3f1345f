internal import ArborLocks
internal import ArborModel
internal import Foundation
internal import LMDB

extension StoreFile {
  /// From now on every commit enters a log before it counts, and what others add comes here.
  ///
  /// - Throws: `corrupted` where the store and the log have gone different ways.
  package func share(through log: any SharedLog) throws(StoreError) {
    try checkPosition()
    sharing.withLock { $0 = log }
    do throws(StoreError) { try takeOverNews() } catch {
      sharing.withLock { $0 = nil }
      throw error
    }
  }

  /// Commits enter no log any more.
  package func endSharing() { sharing.withLock { $0 = nil } }

  /// Makes everything again that others have added to the log.
  ///
  /// - Returns: The store's newest sequence.
  @discardableResult
  package func takeOverNews() throws(StoreError) -> UInt64 {
    while let log = sharedLog {
      let groups = try log.groups(after: lastSequence)
      if groups.isEmpty { break }
      try takeOver(groups)
    }
    return lastSequence
  }

  var sharedLog: (any SharedLog)? { sharing.withLock { $0 } }

  /// Makes groups of the log again; those that the store has already are passed over.
  func takeOver(_ groups: [CommitGroup]) throws(StoreError) {
    let workspace = try CommitWorkspace(self)
    try write(repeats: true) { (transaction, header) throws(StoreError) in
      let newest = header.sequence
      let newer = groups.filter { $0.last > newest }
      guard !newer.isEmpty else { return }
      var position = try sharedPosition(transaction.reader, header)
      var commits: [LoggedCommit] = []
      for group in newer {
        guard group.first == position.sequence + 1, group.before == position.chain else {
          throw .corrupted(
            entity: nil, object: nil,
            what: "The store and its log have gone different ways behind commit "
              + "\(position.sequence).")
        }
        commits += try decode(group)
        position = SharedPosition(sequence: group.last, chain: group.chain)
      }
      try makeAgain(commits, workspace, &header, transaction)
      try write(position, transaction)
    }
  }

  private func decode(_ group: CommitGroup) throws(StoreError) -> [LoggedCommit] {
    var commits: [LoggedCommit] = []
    for (place, bytes) in group.commits.enumerated() {
      let sequence = group.first + UInt64(place)
      let commit = bytes.withUnsafeBytes {
        LoggedCommitCodec.decode($0, sequence: sequence, schema)
      }
      guard let commit else {
        throw .corrupted(
          entity: nil, object: nil,
          what: "The log's commit \(sequence) is damaged, or of another model.")
      }
      commits.append(commit)
    }
    return commits
  }

  // MARK: The position

  /// Refuses a store that has left the log. Its snapshot ends here: what is taken over afterwards
  /// may make the map grow.
  private func checkPosition() throws(StoreError) {
    let snapshot = try snapshot()
    defer { snapshot.close() }
    let reader = try snapshot.reader
    _ = try sharedPosition(reader, StoreHeader.read(reader, databases.arbor, path: path))
  }

  /// How far a transaction's state has the log; a store that never shared one begins a chain.
  func sharedPosition(
    _ reader: TransactionReader, _ header: HeaderRecord
  ) throws(StoreError) -> SharedPosition {
    let key = StoreFormat.sharedKey
    guard let bytes = try StoreOpener.entryIfPresent(key, reader, databases.arbor) else {
      return SharedPosition(
        sequence: header.sequence, chain: CommitChain(store: id, sequence: header.sequence))
    }
    guard let position = SharedPosition(bytes) else {
      throw .corrupted(
        entity: nil, object: nil, what: "The entry \(StoreFormat.sharedKey) is damaged.")
    }
    guard position.sequence == header.sequence else {
      throw .corrupted(
        entity: nil, object: nil,
        what: "The store has commits of its own behind commit \(position.sequence), up to which it "
          + "has its log.")
    }
    return position
  }

  func write(
    _ position: SharedPosition, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try storing { () throws(LMDBError) in
      try StoreCreation.put(
        StoreFormat.sharedKey, position.encoded(), databases.arbor, transaction)
    }
  }
}
