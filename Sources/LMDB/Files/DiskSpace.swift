#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The space that is left for a file. LMDB reports a full disk as an input/output error, because
/// the system only writes a part of the data.
struct DiskSpace {
  let descriptor: Int32

  /// The maximum number of bytes that LMDB writes in one call in addition to the data itself: 64
  /// pages of at most 32 KiB.
  private static let margin = 2 << 20

  /// Returns `diskFull` for a failed write of about `bytes` bytes that did not fit, otherwise
  /// `error`.
  func explain(_ error: LMDBError, bytes: Int) -> LMDBError {
    guard error.isWriteFailure else { return error }
    let needed = UInt64(bytes + Self.margin)
    return room < needed ? .diskFull : error
  }

  /// The number of bytes by which the file can grow.
  private var room: UInt64 {
    var room = UInt64.max
    var system = statvfs()
    if fstatvfs(descriptor, &system) == 0 {
      room = UInt64(system.f_bavail) * UInt64(system.f_frsize)
    }
    var limit = rlimit()
    var status = stat()
    if fileSizeLimit(&limit) == 0, fstat(descriptor, &status) == 0 {
      let size = UInt64(status.st_size)
      let most = UInt64(limit.rlim_cur)
      room = min(room, most > size ? most - size : 0)
    }
    return room
  }

  private func fileSizeLimit(_ limit: inout rlimit) -> Int32 {
    #if canImport(Glibc)
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      getrlimit(RLIMIT_FSIZE, &limit)
    #endif
  }
}
