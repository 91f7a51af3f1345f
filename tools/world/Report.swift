import Foundation

/// Reports each step and its duration on one line.
struct Report {
  private let clock = ContinuousClock()
  private let isTerminal = isatty(STDOUT_FILENO) != 0

  /// Runs a step, and prints its duration followed by the description it returns.
  func step(_ body: () throws -> String) rethrows {
    let start = clock.now
    tell(try body(), since: start)
  }

  /// Runs an asynchronous step.
  func step(_ body: () async throws -> String) async rethrows {
    let start = clock.now
    tell(try await body(), since: start)
  }

  private func tell(_ text: String, since start: ContinuousClock.Instant) {
    let time = Self.text(clock.now - start)
    clearLine()
    print(String(repeating: " ", count: max(0, 9 - time.count)) + time + "  " + text)
  }

  /// Prints details of the previous step below its line.
  func text(_ lines: String) {
    for line in lines.split(separator: "\n") { print(String(repeating: " ", count: 13) + line) }
  }

  /// Shows the progress of a long step on a line that is overwritten. Prints nothing to a log file.
  func progress(_ done: Int, of total: Int, _ what: String) {
    guard isTerminal, total > 0 else { return }
    let width = 30
    let filled = done * width / total
    let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled)
    write("\r           \(bar) \(done) of \(total) \(what)")
  }

  private func clearLine() { if isTerminal { write("\r\u{1B}[K") } }

  private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

  private static func text(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    if seconds >= 1 { return String(format: "%.2f s", seconds) }
    if seconds >= 1e-3 { return String(format: "%.1f ms", seconds * 1e3) }
    return String(format: "%.0f µs", seconds * 1e6)
  }
}
