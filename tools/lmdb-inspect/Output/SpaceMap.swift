import ArborObjects

/// A picture of a file's space usage as SVG, in which each part is a rectangle of proportional
/// size. The legend names the kinds of parts.
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
  private static let legendHeight = 28.0

  /// The colors of kinds, which are those of the browser's page.
  private static let palette: [(kinds: [String], label: String, color: String)] = [
    (["records"], "records", "#9ec9f5"), (["table"], "tables", "#9ec9f5"),
    (["index"], "indexes", "#f7c77e"), (["relationship", "order"], "relationships", "#b7e0a5"),
    (["largeBinaries"], "large binaries", "#d9b8f0"), (["history"], "history", "#f3aeb4"),
    (["store", "other"], "other", "#cfd4da"), (["free"], "free", "#e9ecef"),
    (["pinned"], "pinned by readers", "#f08c5a"),
  ]

  let title: String
  let parts: [Part]

  var svg: String {
    let shown = parts.filter { $0.bytes > 0 }.sorted { ($1.bytes, $0.title) < ($0.bytes, $1.title) }
    let rectangles = Treemap.rectangles(
      for: shown.map { Double($0.bytes) },
      in: Treemap.Rectangle(
        x: 0, y: 32, width: Self.width, height: Self.height - 32 - Self.legendHeight))
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
      role="img" font-family="system-ui, sans-serif">
      """,
      "<title>\(Self.escaped(title))</title>", Self.style,
      "<text class=\"head\" x=\"4\" y=\"21\">\(Self.escaped(title))</text>",
    ]
    for (part, rectangle) in zip(shown, rectangles) { lines.append(drawing(part, rectangle)) }
    lines.append(legend(of: Set(shown.map(\.kind))))
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }

  /// Returns a swatch and a name for each kind that occurs.
  private func legend(of kinds: Set<String>) -> String {
    var x = 4.0
    let entries = Self.palette.filter { !kinds.isDisjoint(with: $0.kinds) }.map { entry in
      defer { x += 28 + 7 * Double(entry.label.count) }
      let (left, y) = (Self.number(x), Self.number(Self.height - 18))
      return "<g class=\"\(entry.kinds[0])\"><rect x=\"\(left)\" y=\"\(y)\" width=\"12\" "
        + "height=\"12\"/><text class=\"key\" x=\"\(Self.number(x + 17))\" "
        + "y=\"\(Self.number(Self.height - 8))\">\(entry.label)</text></g>"
    }
    return entries.joined(separator: "\n")
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

  private static let style: String = {
    let colors = palette.map { entry in
      entry.kinds.map { ".\($0) rect" }.joined(separator: ", ") + " { fill: \(entry.color) }"
    }
    return """
      <style>
      text { font-size: 12px; fill: #111 } .head { font-size: 16px }
      rect { stroke: #fff; stroke-width: 1 }
      \(colors.joined(separator: "\n"))
      @media (prefers-color-scheme: dark) {
      .head, .key { fill: #eee } rect { stroke: #111 }
      }
      </style>
      """
  }()

  /// Returns a number with one decimal.
  private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

  static func escaped(_ text: String) -> String {
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
