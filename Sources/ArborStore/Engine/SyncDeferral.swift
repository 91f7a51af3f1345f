internal import ArborFoundation
internal import LMDB
internal import Synchronization

/// Lets commits return before they are on the medium if they are already in a log.
///
/// ```
/// settled ── a commit that is synced, root page included ──▶ unsettled:
///    ▲                                                      commits do not wait
///    └───────── another one, by the last to close ────────────┘
/// ```
///
/// The header contains the state. In the unsettled state, the root page is written in no particular
/// order with other pages, so if the machine stops, any part of the file may be outdated. A process
/// that opens an unsettled file after the machine has been restarted first reads it completely and
/// compares it with the digests of its databases. A damaged one is rebuilt from the log. If only
/// the process ends, the system still writes its commits.
///
/// The mark is on the medium before the first commit that does not wait, so a file that is settled
/// on the medium is complete.
final class SyncDeferral: Sendable {
  private let isUsedHere = Atomic(false)

  /// Whether this process has made commits that did not wait, or has set the mark.
  var isUsed: Bool { isUsedHere.load(ordering: .relaxed) }

  /// Prepares a transaction whose changes are in a log.
  func prepare(_ header: inout HeaderRecord, _ transaction: borrowing WriteTransaction) {
    // Without a boot ID, a restart of the machine could not be detected.
    guard StoreHeader.bootID != StoreHeader.unknownBoot else { return }
    isUsedHere.store(true, ordering: .relaxed)
    if header.isUnsettled { return transaction.setDurability(.none) }
    header.isUnsettled = true
    header.bootID = StoreHeader.bootID
    transaction.setDurability(.full)
  }

  /// Clears the mark in a transaction after which everything is on the medium.
  func settle(_ header: inout HeaderRecord, _ transaction: borrowing WriteTransaction) {
    isUsedHere.store(false, ordering: .relaxed)
    header.isUnsettled = false
    transaction.setDurability(.full)
  }
}
