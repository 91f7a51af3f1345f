import Foundation

/// The standard output and the standard error of the program.
enum StandardStream {
  /// Opens what the caller has closed of the three standard streams: the number would go to the
  /// next file that is opened, and an answer would be written into a store.
  static func reserve() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number is given out first, so this takes the place of the closed one. What
      // cannot be written to the output is an error, of the standard error nobody asks for it.
      _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes to the standard output. Ends the program with a message if that is not possible: a verb
  /// whose answer nobody gets has nothing left to do.
  static func write(_ bytes: [UInt8]) {
    guard let failure = write(bytes, to: STDOUT_FILENO) else { return }
    InspectError.unwritable("The output cannot be written: \(failure). It is incomplete.")
      .end()
  }

  /// Writes a line to the standard error, if that is possible.
  static func report(_ line: String) {
    _ = write(Array("\(line)\n".utf8), to: STDERR_FILENO)
  }

  /// Writes all bytes to a file; returns why that failed.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> String? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&event, 1, -1)
      } else if errno != EINTR {
        return String(cString: strerror(errno))
      }
    }
    return nil
  }
}
