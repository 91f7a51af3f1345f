internal import LMDB

extension StoreEngine {
  /// Syncs everything, and says so in the file, where this process had commits that did not wait.
  ///
  /// What keeps it from that leaves the mark, and the next opening to verify the file where the
  /// machine stops before.
  func settle() throws(StoreError) {
    guard deferral.isUsed else { return }
    try takeMarkOff()
  }

  private func takeMarkOff() throws(StoreError) {
    try write(repeats: true) { (transaction, header) throws(StoreError) in
      deferral.settle(&header, transaction)
    }
  }

  /// Verifies a file that the machine stopped beside, if commits may have been under way to the
  /// medium.
  ///
  /// - Throws: `corrupted` where anything in it is of another state than the newest.
  func settleAfterStop() throws(StoreError) {
    let snapshot = try quietSnapshot()
    let digests: StoreDigests.Stored
    do {
      defer { snapshot.close() }
      let reader = try snapshot.reader
      guard try StoreHeader.read(reader, databases.arbor).isUnsettled else { return }
      digests = try self.digests(snapshot)
    }
    do throws(StoreError) {
      guard case .known(let known) = digests, !known.isCounting else {
        throw .corrupted(what: "There are no digests to compare the file with.")
      }
      try scrub()
    } catch .corrupted(let entity, let object, let what) {
      throw .corrupted(
        entity: entity, object: object,
        what: "The machine stopped before the medium had the last commits, which are in the log "
          + "that the store shares: open it with the log, which makes it anew. Found: \(what)")
    }
    if !isReadOnly { try takeMarkOff() }
  }
}
