/// How an environment is opened. The defaults are safe on a local disk.
package struct EnvironmentOptions: Sendable {
  /// What a commit waits for before it returns.
  package enum Durability: Sendable {
    /// Data and root page are on the medium: a commit survives power loss.
    case full
    /// The root page follows later: power loss may take the last commits, never consistency.
    case relaxed
    /// Nothing is waited for: power loss ruins the file. For stores that die with the process.
    case none
  }

  /// Readers only; no write is possible through this environment.
  package var isReadOnly = false
  /// Reads without the lock file: only for a verified file that nobody writes. Implies reading
  /// only.
  package var isImmutable = false
  /// The path names a folder that holds `data.mdb` and `lock.mdb`, as LMDB lays files out by
  /// default. For tools that look at files of other programs: the lock file decides which readers a
  /// writer sees, so it must be theirs.
  package var isFolder = false
  /// Makes a new file where none exists. Creation is not atomic: create under a temporary name
  /// and rename.
  package var create = false
  /// What a commit waits for.
  package var durability = Durability.full
  /// Bytes of address space to map at first. Halved until the system grants it.
  package var initialMapSize = 1 << 40
  /// Bytes up to which the map may grow.
  package var maximumMapSize = 1 << 46
  /// Reader slots in the lock file; the first process that opens the file decides.
  package var maximumReaders = 1024
  /// Named databases that can be open at once besides those that the file has as it is opened. Room
  /// for each is cleared at opening and for each snapshot, so it is not as large as it could be.
  package var additionalDatabases = 512
  /// Verifies every page before anything is read through the map.
  package var verifiesPages = false
  /// Also opens files on network and user-space file systems, where LMDB's locks and shared memory
  /// may fail.
  package var allowsNetworkFileSystem = false
  /// Frees the reader slots of processes that have died, because their snapshots keep pages from
  /// being reused. Disabled by a tool that lists these readers.
  package var clearsStaleReaders = true
  /// Seconds that growth of the map waits for local readers to end.
  package var growthWaitLimit = 60.0

  package init() {}
}
