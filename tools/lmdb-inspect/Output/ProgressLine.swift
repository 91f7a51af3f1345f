import ArborObjects
import Foundation

/// The progress of a long verb, as one line on standard error. Shown only on a terminal, and erased
/// when the work ends.
final class ProgressLine: Sendable {
  private let title: String
  private let isShown: Bool
  private let start = ContinuousClock.now
  private let lock = NSLock()
  /// `nonisolated(unsafe)`: guarded by ``lock``.
  nonisolated(unsafe) private var detail = ""
  nonisolated(unsafe) private var hasEnded = false

  private init(_ title: String) {
    self.title = title
    isShown = isatty(STDERR_FILENO) == 1
  }

  /// Shows the line while `work` runs.
  static func showing<R>(_ title: String, _ work: (ProgressLine) throws -> R) rethrows -> R {
    let line = ProgressLine(title)
    line.begin()
    defer { line.end() }
    return try work(line)
  }

  /// Shows the line while `work` runs.
  static func showing<R>(
    _ title: String, _ work: (ProgressLine) async throws -> R
  ) async rethrows -> R {
    let line = ProgressLine(title)
    line.begin()
    defer { line.end() }
    return try await work(line)
  }

  /// Changes the text after the title.
  func report(_ detail: String) {
    lock.withLock { self.detail = detail }
    draw()
  }

  private func begin() {
    guard isShown else { return }
    draw()
    Thread.detachNewThread { [self] in
      while !lock.withLock({ hasEnded }) {
        draw()
        Thread.sleep(forTimeInterval: 0.5)
      }
    }
  }

  private func draw() {
    guard isShown else { return }
    let seconds = Int(start.duration(to: .now).components.seconds)
    lock.withLock {
      guard !hasEnded else { return }
      var text = detail.isEmpty ? "\(title) …" : "\(title): \(detail)"
      if seconds > 0 { text += ", \(seconds) s" }
      let width = TerminalView.columns(of: STDERR_FILENO) ?? 80
      show("\r\(TextWidth.cut(TerminalText.escaped(text), to: width - 1))\u{1B}[K")
    }
  }

  /// Erases the line. It is not shown again.
  func end() {
    lock.withLock {
      if isShown, !hasEnded { show("\r\u{1B}[K") }
      hasEnded = true
    }
  }

  private func show(_ text: String) {
    _ = StandardStream.write(Array(text.utf8), to: STDERR_FILENO)
  }
}
