package import ArborModel
internal import Foundation

/// A file that is being written from its beginning to its end.
package struct LogOutput: ~Copyable {
  private let descriptor: Int32
  private let path: String
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 18

  package init(_ path: String) throws(ArborError) {
    guard let file = try LogFiles.open(path, O_WRONLY | O_CREAT | O_TRUNC) else {
      throw LogFiles.error("Creation", path, ENOENT)
    }
    descriptor = file.descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(ArborError) {
    if buffer.count + bytes.count > Self.bufferSize { try flush() }
    guard bytes.count < Self.bufferSize else { return try write(bytes) }
    buffer.append(contentsOf: bytes)
  }

  package mutating func append(_ bytes: [UInt8]) throws(ArborError) {
    try bytes.withRawBytes { (bytes) throws(ArborError) in try append(bytes) }
  }

  /// Waits until everything is on the medium.
  package mutating func finish() throws(ArborError) {
    try flush()
    guard fsync(descriptor) == 0 else { throw LogFiles.error("fsync", path) }
  }

  private mutating func flush() throws(ArborError) {
    try buffer.withRawBytes { (bytes) throws(ArborError) in try write(bytes) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(ArborError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw LogFiles.error("Writing", path, count == 0 ? ENOSPC : errno) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}
