import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The terminal that the program runs in, in raw mode and with the alternate screen.
///
/// ``restore()`` restores the terminal. The signals that request termination, SIGTERM, SIGHUP,
/// SIGINT and SIGQUIT, are delivered as events, so that this happens. After SIGKILL or a crash, the
/// terminal has to be restored by `reset`.
final class Terminal {
  enum Event: Equatable {
    case key(Key)
    case resized
    /// No event occurred within the timeout.
    case idle
    /// The terminal was closed, or the program was asked to terminate.
    case ended
  }

  struct Size: Equatable {
    var rows: Int
    var columns: Int
  }

  /// The descriptor that the signal handler writes to, or -1 if there is none.
  ///
  /// `nonisolated(unsafe)`: changed only before handlers are installed and after they are removed.
  nonisolated(unsafe) private static var signals: Int32 = -1
  private static let handled = [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT]

  private var saved = termios()
  private var pipe: [Int32] = [-1, -1]
  private var decoder = KeyDecoder()
  /// Whether the terminal is restored. Initially `true`, because an initializer that throws runs
  /// the deinitializer.
  private var isRestored = true

  /// Takes control of the terminal.
  ///
  /// - Throws: ``InspectError`` if input or output is not a terminal.
  init() throws {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1,
      tcgetattr(STDIN_FILENO, &saved) == 0, makePipe(&pipe) == 0
    else {
      throw InspectError.unreadable(
        "“browse” needs a terminal for its input and output. Use “query” or “dump” in scripts.")
    }
    isRestored = false
    var raw = saved
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    for end in pipe { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    Self.signals = pipe[1]
    for signal in Self.handled {
      // Sound: handlers may write to a descriptor, and this one does nothing else.
      setHandler(signal) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        let before = errno
        _ = systemWrite(Terminal.signals, &byte, 1)
        errno = before
      }
    }
    // Switches to the alternate screen, hides the cursor, and disables line wrapping: a line that
    // the terminal considers wider than measured is truncated.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
  }

  deinit { restore() }

  /// Restores the former state of the terminal.
  func restore() {
    guard !isRestored else { return }
    isRestored = true
    write("\u{1B}[0m\u{1B}[?25h\u{1B}[?7h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
    for signal in Self.handled { setHandler(signal, SIG_DFL) }
    Self.signals = -1
    for end in pipe { close(end) }
  }

  /// The size of the screen; 24 rows and 80 columns if the terminal doesn't report it.
  var size: Size {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
    else { return Size(rows: 24, columns: 80) }
    return Size(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }

  /// The maximum size of text that terminals accept for the clipboard, in bytes.
  private static let maximumClipboardSize = 74_994

  /// Asks the terminal to copy text to the clipboard, with the sequence OSC 52. Returns `false` if
  /// the text is too long.
  func copy(_ text: String) -> Bool {
    let data = Data(text.utf8)
    guard data.count <= Self.maximumClipboardSize else { return false }
    write("\u{1B}]52;c;\(data.base64EncodedString())\u{7}")
    return true
  }

  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { systemWrite(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno != EINTR, errno != EAGAIN {
        // The terminal was closed, which the next event reports.
        return
      }
    }
  }

  /// Waits for the next event.
  func event() -> Event {
    while true {
      if let key = decoder.next(isComplete: false) { return .key(key) }
      var polled = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0),
      ]
      // An Escape byte that isn't followed by others for a moment is the Escape key.
      let result = poll(&polled, nfds_t(polled.count), decoder.isWaiting ? 50 : 1000)
      if result == 0 {
        return decoder.next(isComplete: true).map(Event.key) ?? .idle
      }
      if result < 0, errno != EINTR { return .ended }
      if let number = read(pipe[0])?.first {
        return Int32(number) == SIGWINCH ? .resized : .ended
      }
      guard result > 0, polled[0].revents != 0 else { continue }
      guard let bytes = read(STDIN_FILENO), !bytes.isEmpty else { return .ended }
      decoder.add(bytes)
    }
  }

  /// Reads the available bytes. Returns `nil` if there are none.
  private func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = systemRead(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }
}

// Wrappers for system functions whose names are shadowed by the type's own.

private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

private func setHandler(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)?) {
  _ = signal(number, handler)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  guard let bytes else { return 0 }
  return write(descriptor, bytes, count)
}

private func systemRead(_ descriptor: Int32, _ bytes: inout [UInt8], _ count: Int) -> Int {
  read(descriptor, &bytes, count)
}
