/// An open file or pipe, for reading or writing at its current position.
///
/// `FileHandle` does the same but needs all of Foundation.
package final class OpenFile: Sendable {
  package let descriptor: Int32
  private let closesAtEnd: Bool

  /// - Parameter closesAtEnd: Whether to close the descriptor when the file is released.
  package init(descriptor: Int32, closesAtEnd: Bool = true) {
    self.descriptor = descriptor
    self.closesAtEnd = closesAtEnd
  }

  /// Opens a file.
  ///
  /// - Parameter flags: The flags for the system call `open`.
  package convenience init(_ path: String, _ flags: Int32) throws {
    let descriptor = open(path, flags | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.failure() }
    self.init(descriptor: descriptor)
  }

  deinit { if closesAtEnd { close(descriptor) } }

  /// The size of a regular file, or `nil` for a pipe or a device.
  package var size: Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// Returns the next bytes, possibly fewer than requested. Returns empty data at the end of the
  /// file.
  package func bytes(upTo count: Int) throws -> Data {
    guard count > 0, let bytes = malloc(count) else { return Data() }
    let length: Int
    do {
      length = try Self.retrying { read(descriptor, bytes, count) }
    } catch {
      free(bytes)
      throw error
    }
    return Data(bytesNoCopy: bytes, count: length, deallocator: .free)
  }

  /// Writes all bytes of `data`.
  package func append(_ data: Data) throws {
    var rest = data
    while !rest.isEmpty {
      rest = try rest.dropFirst(
        Self.retrying { rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } })
    }
  }

  /// Waits until everything written is on the medium.
  package func synchronize() throws { _ = try Self.retrying { Int(fsync(descriptor)) } }

  /// Repeats a system call that a signal interrupts.
  private static func retrying(_ call: () -> Int) throws -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw failure() }
    }
  }

  private static func failure() -> any Error {
    POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
  }
}
