import Foundation
import TestSupport
import Testing

@testable import ArborLog

@Suite struct FolderLeaseTests {
  /// A process that is being started has copies of all descriptors for a moment: whoever writes to
  /// a log again and again must not be turned away for that.
  @Test func aCopyOfTheDescriptorDoesNotKeepTheLease() throws {
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

  /// The descriptor of this process that leads to a file; negative where none exists.
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
