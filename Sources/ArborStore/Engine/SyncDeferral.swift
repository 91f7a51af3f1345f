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
