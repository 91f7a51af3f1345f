import Foundation
import TestSupport
import Testing

@testable import ArborLog

@Suite struct FolderLeaseTests {
  /// A copy of the descriptor, such as a process that is being started has for a moment, doesn't
  /// keep the lease.
  @Test("A copy of the descriptor doesn't keep the lease")
  func aCopyOfTheDescriptorDoesNotKeepTheLease() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path
    var copy: Int32 = -1
    try FolderLease.hold(path) { copy = dup(descriptor(of: "\(path)/writer")) }
    defer { close(copy) }
    #expect(copy >= 0)
    var isHeld = false
    try FolderLease.hold(path) { isHeld = true }
    #expect(isHeld)
  }

  /// Returns the descriptor of this process for a file, or -1 if there isn't one.
  private func descriptor(of path: String) -> Int32 {
    var wanted = stat()
    guard stat(path, &wanted) == 0 else { return -1 }
    return (0..<4096).first { descriptor in
      var found = stat()
      return fstat(descriptor, &found) == 0 && found.st_ino == wanted.st_ino
        && found.st_dev == wanted.st_dev
    } ?? -1
  }
}
