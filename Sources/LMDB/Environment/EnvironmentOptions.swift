/// The options for opening an environment. The defaults are safe on a local disk.
package struct EnvironmentOptions: Sendable {
  /// The conditions for which a commit waits before it returns.
  package enum Durability: Sendable {
    /// Data and root page are on the medium. A commit survives power loss.
    case full
    /// The root page is written later. Power loss may lose the last commits, but never consistency.
    case relaxed
    /// Commits don't wait. Power loss destroys the file. For stores that end with the process.
    case none
  }

  /// Whether the file is opened read-only.
  package var isReadOnly = false
  /// Whether the file is read without the lock file. Only for a verified file that is never
  /// written. Implies read-only.
  package var isImmutable = false
  /// Whether the path names a folder that contains `data.mdb` and `lock.mdb`, LMDB's default
  /// layout. For tools that inspect files of other programs: the lock file determines which readers
  /// a writer sees, so it must be the same one.
  package var isFolder = false
  /// Whether to create a missing file. Creation is not atomic: create the file under a temporary
  /// name and rename it.
  package var create = false
  package var durability = Durability.full
  /// The initial map size in bytes of address space, which is halved until the system grants it, or
  /// `nil` for a size in proportion to the file and to the free address space.
  package var initialMapSize: Int?
  /// The maximum map size in bytes.
  package var maximumMapSize = 1 << 46
  /// The number of reader slots in the lock file. The first process that opens the file determines
  /// it.
  package var maximumReaders = 1024
  /// The number of named databases that can be opened in addition to those in the file. Space for
  /// each is initialized when the file is opened and for each snapshot, so it is limited.
  package var additionalDatabases = 512
  /// Whether to verify every page before anything is read through the map.
  package var verifiesPages = false
  /// Whether files on network and user-space file systems can be opened. LMDB's locks and shared
  /// memory may fail there.
  package var allowsNetworkFileSystem = false
  /// Whether to free the reader slots of dead processes, whose snapshots keep pages from being
  /// reused. A tool that lists them sets this to `false`.
  package var clearsStaleReaders = true
  /// The time that a transaction waits for another one, in seconds, or `nil` for no limit.
  package var busyTimeout: Double? = 60
  /// The time that map growth waits for local readers to end, in seconds.
  package var growthWaitLimit = 60.0

  package init() {}
}
