import Foundation

/// The program's standard output and standard error.
enum StandardStream {
  /// Whether standard output is a terminal. The value doesn't change while a pager is running.
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// Reopens standard streams that the caller has closed. Otherwise the next opened file would get
  /// their descriptor, and output could be written into a store.
  static func reserve() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free descriptor is used first, so that this one replaces the closed one. Writing
      // to the closed output then fails; errors of standard error are ignored.
      _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
    _ = isTerminal
  }

  /// Writes to the standard output. Ends the program with a message if that fails, because an
  /// unread output is pointless.
  static func write(_ bytes: [UInt8]) {
    guard let failure = write(bytes, to: STDOUT_FILENO) else { return }
    // The reader has quit the pager.
    if Pager.isShown {
      Pager.end()
      exit(0)
    }
    InspectError.unwritable("The output cannot be written: \(failure). It is incomplete.")
      .end()
  }

  /// Writes a line to the standard error, if possible.
  static func report(_ line: String) {
    _ = write(Array("\(line)\n".utf8), to: STDERR_FILENO)
  }

  /// Writes all bytes to a file. Returns the reason if that fails, otherwise `nil`.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> String? {
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
