import Foundation

/// The program in the environment variable PAGER, which shows long output on a terminal.
enum Pager {
  /// The pager's input, or `nil` if no pager is running.
  ///
  /// `nonisolated(unsafe)`: used only by the thread that prints.
  nonisolated(unsafe) private static var stream: UnsafeMutablePointer<FILE>?

  static var isShown: Bool { stream != nil }

  /// Redirects standard output to the pager, if one is set.
  static func begin() {
    guard StandardStream.isTerminal, let command = getenv("PAGER"), command.pointee != 0 else {
      return
    }
    // Quits if the text fits the screen, and shows colors.
    setenv("LESS", "FRX", 0)
    guard let stream = popen(command, "w") else { return }
    _ = dup2(fileno(stream), STDOUT_FILENO)
    self.stream = stream
    // The pager handles Control-C. If it ends, the next write fails.
    signal(SIGINT, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Ends the output and waits until the reader has quit the pager.
  static func end() {
    guard let stream else { return }
    self.stream = nil
    close(STDOUT_FILENO)
    pclose(stream)
  }
}
