import Foundation

/// Tells a person what happens and how long it takes, a line for each step.
struct Report {
  private let clock = ContinuousClock()
  private let isTerminal = isatty(STDOUT_FILENO) != 0

  /// Runs one step and prints what it says of itself, with its time before it.
  func step(_ body: () throws -> String) rethrows {
    let start = clock.now
    tell(try body(), since: start)
  }

  /// Runs one step that waits for others.
  func step(_ body: () async throws -> String) async rethrows {
    let start = clock.now
    tell(try await body(), since: start)
  }

  private func tell(_ text: String, since start: ContinuousClock.Instant) {
    let time = Self.text(clock.now - start)
    clearLine()
    print(String(repeating: " ", count: max(0, 9 - time.count)) + time + "  " + text)
  }

  /// Prints what belongs to the step before, below its text.
  func text(_ lines: String) {
    for line in lines.split(separator: "\n") { print(String(repeating: " ", count: 13) + line) }
  }

  /// How far a long step is, on one line that the next one overwrites; silent in a log file.
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
