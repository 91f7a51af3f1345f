import Foundation

/// The layout of text: fitted to a terminal, or plain.
struct TerminalView {
  /// The number of columns of the terminal, or `nil` if lines are not truncated.
  var width: Int?
  var isColored = false
  /// Whether rows are printed with one line for each column.
  var isExpanded = false

  static let plain = TerminalView()

  /// Returns a heading, in bold on a terminal.
  func heading(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  /// Returns a line of text, truncated to the width.
  func fitted(_ line: String) -> String { width.map { TextWidth.cut(line, to: $0) } ?? line }

  /// Returns whether a stream is a terminal on which colors are wanted: NO_COLOR is unset or empty.
  static func isColored(_ descriptor: Int32) -> Bool {
    let variables = ProcessInfo.processInfo.environment
    return isatty(descriptor) == 1 && (variables["NO_COLOR"] ?? "").isEmpty
      && variables["TERM"] != "dumb"
  }

  /// Returns the number of columns of a terminal, or `nil` if the stream isn't a terminal.
  static func columns(of descriptor: Int32) -> Int? {
    size(of: descriptor).flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil }
  }

  /// Returns the number of rows of a terminal, or `nil` if the stream isn't a terminal.
  static func rows(of descriptor: Int32) -> Int? {
    size(of: descriptor).flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil }
  }

  private static func size(of descriptor: Int32) -> winsize? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
  }
}

/// The widths of the columns of a table.
enum ColumnWidths {
  static let gap = 2
  /// The minimum width of a column, even on a very narrow terminal.
  private static let least = 6

  /// Returns widths that fit a terminal by shrinking the widest columns. The columns of a very
  /// narrow terminal exceed it.
  static func fitting(_ widths: [Int], in view: TerminalView) -> [Int] {
    guard let width = view.width else { return widths }
    let room = width - gap * max(0, widths.count - 1)
    func fits(_ limit: Int) -> Bool { widths.reduce(0) { $0 + min($1, limit) } <= room }
    var limit = widths.max() ?? 0
    if fits(limit) { return widths }
    var low = least
    while low < limit {
      let middle = (low + limit + 1) / 2
      if fits(middle) { low = middle } else { limit = middle - 1 }
    }
    return widths.map { min($0, low) }
  }
}

/// A row with one line for each column.
enum ExpandedRow {
  static func text(_ number: Int, _ names: [String], _ cells: [String]) -> String {
    let width = names.map(TextWidth.of).max() ?? 0
    let lines = zip(names, cells).map { "\(TextWidth.padded($0, to: width))  \($1)" }
    return (["row \(number)"] + lines).joined(separator: "\n")
  }
}
