package import ArborModel
internal import Foundation

/// A file that is read in pieces.
package struct LogInput: ~Copyable {
  package let path: String
  package let size: Int
  private let descriptor: Int32

  /// nil where there is no file.
  package init?(_ path: String) throws(ArborError) {
    guard let file = try LogFiles.open(path, O_RDONLY) else { return nil }
    (descriptor, size) = (file.descriptor, file.size)
    self.path = path
  }

  deinit { close(descriptor) }

  /// The bytes of a range; fewer where the file ends before.
  package func read(from offset: Int, count: Int) throws(ArborError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, size - offset)))
    var done = 0
    while done < bytes.count {
      let start = done
      let found = bytes.withUnsafeMutableBytes { target in
        pread(
          descriptor, target.baseAddress.map { $0 + start }, target.count - start,
          off_t(offset + start))
      }
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw LogFiles.error("Reading", path) }
      if found == 0 { break }
      done += found
    }
    bytes.removeLast(bytes.count - done)
    return bytes
  }
}
