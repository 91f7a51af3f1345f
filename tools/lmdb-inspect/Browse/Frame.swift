import ArborObjects

/// The contents of the screen: a title, rows of which one is selected, and a status line.
struct Frame: Equatable {
  /// An input line.
  struct Prompt: Equatable {
    var label: String
    var text: String
    /// The number of characters before the cursor.
    var cursor: Int
  }

  var title: String
  /// The column names, or `nil` for none.
  var header: String?
  var rows: [String] = []
  /// The index of the highlighted row, or `nil` for none.
  var selected: Int?
  var status: String
  var prompt: Prompt?

  /// Returns the output that draws the frame over the previous one.
  ///
  /// All text passes through ``TerminalText``, so that nothing in a file is interpreted by the
  /// terminal, and no line exceeds the width of the screen.
  func text(_ size: Terminal.Size) -> String {
    var lines = [Self.reversed(title, size)]
    if let header { lines.append("\u{1B}[1m\(Self.fitted(header, size))\u{1B}[0m") }
    let room = max(0, size.rows - lines.count - 1)
    for (index, row) in rows.prefix(room).enumerated() {
      lines.append(index == selected ? Self.reversed(row, size) : Self.fitted(row, size))
    }
    while lines.count < size.rows - 1 { lines.append("") }
    var cursor = "\u{1B}[?25l"
    if let prompt {
      // During input, the status is shown above the input line.
      if size.rows > 2 { lines[size.rows - 2] = Self.fitted(status, size) }
      let (line, column) = Self.line(of: prompt, size)
      lines.append(line)
      cursor = "\u{1B}[\(size.rows);\(column + 1)H\u{1B}[?25h"
    } else {
      lines.append("\u{1B}[2m\(Self.fitted(status, size))\u{1B}[0m")
    }
    // A one-line screen shows the last line.
    let shown = lines.suffix(max(1, size.rows)).map { "\($0)\u{1B}[K" }
    return "\u{1B}[?25l\u{1B}[H" + shown.joined(separator: "\r\n") + cursor
  }

  private static func fitted(_ text: String, _ size: Terminal.Size) -> String {
    TextWidth.cut(TerminalText.escaped(text), to: size.columns)
  }

  private static func reversed(_ text: String, _ size: Terminal.Size) -> String {
    "\u{1B}[7m\(TextWidth.padded(fitted(text, size), to: size.columns))\u{1B}[0m"
  }

  /// Returns the end of the input line if it doesn't fit, so that the cursor is visible.
  private static func line(of prompt: Prompt, _ size: Terminal.Size) -> (String, column: Int) {
    let before = TerminalText.escaped(String(prompt.text.prefix(prompt.cursor)))
    let behind = TerminalText.escaped(String(prompt.text.dropFirst(prompt.cursor)))
    var shown = prompt.label + before
    while TextWidth.of(shown) >= size.columns, !shown.isEmpty { shown.removeFirst() }
    let column = TextWidth.of(shown)
    return (shown + TextWidth.cut(behind, to: max(0, size.columns - column - 1)), column)
  }
}
