internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The table of readers beside the data file.
enum LockFile {
  /// Bytes of a reader's slot, and more than LMDB's own header.
  private static let slotSize = 64
  private static let headerSize = 512

  /// Makes sure that the lock file has its room on the disk: LMDB maps it with holes, and on a full
  /// disk the first reader in a hole would end the process by a signal.
  ///
  /// The size of the file stays as it is, since the first opener decides it. Call this only while
  /// this process does not have the file open: closing any descriptor of it drops LMDB's lock.
  ///
  /// - Throws: ``LMDBError/diskFull``. Other troubles are left for LMDB to report.
  static func secureRoom(_ path: String, readers: Int) throws(LMDBError) {
    #if canImport(Glibc)
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      let size = headerSize + slotSize * readers
      if arbor_reserve(descriptor, off_t(size)) != 0, errno == ENOSPC || errno == EDQUOT {
        throw .diskFull
      }
    #endif
  }
}
