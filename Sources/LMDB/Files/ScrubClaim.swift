internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The right to scrub a file, which one of all openers has at a time.
///
/// A lock of one descriptor (an *open file description lock*), behind the bytes that
/// ``OpeningLock`` is on: nobody who opens or replaces the file waits for it. It is dropped with
/// the last reference to it, or when the process dies.
package final class ScrubClaim {
  /// Negative where the file cannot be opened for writing.
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Takes the right to scrub the file at a path; nil where another opener has it. What else stands
  /// in the way of the lock keeps nobody from scrubbing.
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
  /// Takes the right to scrub the file; nil where another opener has it.
  package func claimScrub() -> ScrubClaim? { ScrubClaim.take(file.path) }
}
