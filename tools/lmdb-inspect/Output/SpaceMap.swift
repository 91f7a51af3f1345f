import ArborObjects

/// A picture of a file's space usage as SVG, in which each part is a rectangle of proportional
/// size.
struct SpaceMap {
  struct Part {
    /// The part's color: a kind of database, `free` or `pinned`.
    let kind: String
    let title: String
    let bytes: Int
    /// Additional text after its size.
    var note = ""
  }

  private static let width = 960.0
  private static let height = 540.0

  let title: String
  let parts: [Part]

  var svg: String {
    let shown = parts.filter { $0.bytes > 0 }.sorted { ($1.bytes, $0.title) < ($0.bytes, $1.title) }
    let rectangles = Treemap.rectangles(
      for: shown.map { Double($0.bytes) },
      in: Treemap.Rectangle(x: 0, y: 32, width: Self.width, height: Self.height - 32))
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
      role="img" font-family="system-ui, sans-serif">
      """,
      "<title>\(Self.escaped(title))</title>", Self.style,
      "<text class=\"head\" x=\"4\" y=\"21\">\(Self.escaped(title))</text>",
    ]
    for (part, rectangle) in zip(shown, rectangles) { lines.append(drawing(part, rectangle)) }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }

  private func drawing(_ part: Part, _ frame: Treemap.Rectangle) -> String {
    let note = part.note.isEmpty ? "" : ", \(part.note)"
    var text =
      "<g class=\"\(Self.escaped(part.kind))\"><title>"
      + Self.escaped("\(part.title): \(part.bytes) bytes\(note)") + "</title><rect x=\""
      + Self.number(frame.x) + "\" y=\"" + Self.number(frame.y) + "\" width=\""
      + Self.number(frame.width) + "\" height=\"" + Self.number(frame.height) + "\"/>"
    // A character of this size is about 7 units wide.
    let room = Int((frame.width - 10) / 7)
    if frame.height > 20, room > 3 {
      text += label(TextWidth.cut(part.title, to: room), frame, line: 0)
      if frame.height > 38 {
        text += label(TextWidth.cut("\(part.bytes) bytes", to: room), frame, line: 1)
      }
    }
    return text + "</g>"
  }

  private func label(_ text: String, _ frame: Treemap.Rectangle, line: Int) -> String {
    let (x, y) = (Self.number(frame.x + 5), Self.number(frame.y + 15 + 16 * Double(line)))
    return "<text x=\"\(x)\" y=\"\(y)\">\(Self.escaped(text))</text>"
  }

  private static let style = """
    <style>
    text { font-size: 12px; fill: #111 } .head { font-size: 16px }
    rect { stroke: #fff; stroke-width: 1 }
    .records rect { fill: #9ec9f5 } .index rect { fill: #f7c77e } .relationship rect, .order rect \
    { fill: #b7e0a5 }
    .largeBinaries rect { fill: #d9b8f0 } .history rect { fill: #f3aeb4 } .table rect \
    { fill: #9ec9f5 }
    .store rect, .other rect { fill: #cfd4da } .free rect { fill: #f1f3f5 } .pinned rect \
    { fill: #e8590c }
    @media (prefers-color-scheme: dark) { .head { fill: #eee } rect { stroke: #111 } }
    </style>
    """

  /// Returns a number with one decimal.
  private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in TerminalText.escaped(text).unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
