/// The conditions under which a journal makes a checkpoint.
///
/// A checkpoint allows LMDB to reuse the pages that commits have replaced since the previous one,
/// 10 to 20 per small commit. The store's file therefore grows by about 60 MiB with the default of
/// 1,024 commits.
package struct JournalLimits: Sendable, Hashable {
  /// The size of the journal file in bytes.
  package var size = JournalFile.usualSize
  /// The maximum number of bytes of one entry. Transactions with larger entries are not journaled.
  package var entry = 1 << 20
  /// The number of transactions after which a checkpoint is made.
  package var commits = 1024
  /// The number of bytes of entries after which a checkpoint is made.
  package var bytes = 6 << 20
  /// The number of seconds without a commit after which the process ends journaling, or no longer
  /// pins a checkpoint if others write. It is noticed after at most twice that time. Until then, the
  /// file grows with the commits of other processes.
  package var idle = 0.5
  /// The number of commits that LMDB syncs, each within ``idle`` seconds of the one before, until
  /// journaling begins. Creating and removing a journal take about as long as it saves meanwhile.
  package var beginning = 16

  /// Whether entries are written while LMDB commits, where the system supports that.
  package var overlaps = true
  /// The number of seconds to wait for an entry that another process writes.
  package var patience = 60.0

  /// A step to omit, so that tests can prove that they detect the omission.
  package var omission: Omission?

  package enum Omission: String, Sendable, Hashable {
    /// The pages of the checkpoint are not pinned.
    case pin
    /// The file is not synced before the header is written.
    case flush
    /// An entry is not synced before LMDB commits.
    case entry
    /// A commit is acknowledged while its entry is being written.
    case landing
  }

  package init() {}
}
