internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The exclusive right to scrub a file among all of its openers.
///
/// An *open file description lock* on the byte after the range of ``OpeningLock``, so that opening
/// or replacing the file never waits for it. It is released with the last reference to this object,
/// or when the process dies.
package final class ScrubClaim {
  /// The descriptor, or a negative number if the file cannot be opened for writing.
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Claims the right to scrub the file at a path. Returns `nil` if another opener has it. Other
  /// errors of locking don't prevent scrubbing.
  static func take(_ path: String) -> ScrubClaim? {
    let claim = ScrubClaim(
      descriptor: (try? DataFile.createDescriptor(path, mustBeNew: false)) ?? -1)
    let kind = OpeningLock.Kind.exclusive.rawValue
    let code = arbor_lock_range(claim.descriptor, kind, OpeningLock.length, 1, 0)
    if code != 0, errno == EAGAIN || errno == EACCES { return nil }
    return claim
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}

extension Environment {
  /// Claims the right to scrub the file. Returns `nil` if another opener has it.
  package func claimScrub() -> ScrubClaim? { ScrubClaim.take(file.path) }
}
