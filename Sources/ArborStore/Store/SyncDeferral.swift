internal import Foundation
internal import LMDB
internal import Synchronization

/// Lets commits return before the medium has them, where a log has them already.
///
/// ```
/// settled ── a commit that is synced, root page included ──▶ unsettled:
///    ▲                                                      commits do not wait
///    └───────── another one, by the last to close ────────────┘
/// ```
///
/// The header says which of the two a file is. The engine writes its root page in no order with the
/// others then, so a machine that stops may leave a file of which any part is of a former state.
/// A process that opens an unsettled file that the machine has been started anew since reads it as
/// a whole first, and compares it with the digests of its databases; one that is not sound is made
/// anew from the log. A process that ends leaves its commits to the system, which writes them.
///
/// The mark is on the medium before anybody's first commit that does not wait: a file that is
/// settled there is whole.
final class SyncDeferral: Sendable {
  private let isUsedHere = Atomic(false)

  /// Whether this process has commits that did not wait, or has set the mark.
  var isUsed: Bool { isUsedHere.load(ordering: .relaxed) }

  /// Prepares a transaction whose changes a log has.
  func prepare(_ header: inout HeaderRecord, _ transaction: borrowing WriteTransaction) {
    // Without a name for the machine's start nobody could tell that it has stopped.
    guard StoreHeader.bootID != StoreHeader.unknownBoot else { return }
    isUsedHere.store(true, ordering: .relaxed)
    if header.isUnsettled { return transaction.setDurability(.none) }
    header.isUnsettled = true
    header.bootID = StoreHeader.bootID
    transaction.setDurability(.full)
  }

  /// Takes the mark off a file, with a transaction behind which all is on the medium.
  func settle(_ header: inout HeaderRecord, _ transaction: borrowing WriteTransaction) {
    isUsedHere.store(false, ordering: .relaxed)
    header.isUnsettled = false
    transaction.setDurability(.full)
  }
}

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
        throw .corrupted(
          entity: nil, object: nil, what: "There are no digests to compare the file with.")
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
