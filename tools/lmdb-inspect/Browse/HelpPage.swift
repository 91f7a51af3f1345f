/// The keys and what they do.
struct HelpPage: BrowsePage {
  private static let keys = [
    ("↑ ↓, Page Up, Page Down, Home, End", "select a row"),
    ("← →", "scroll the columns or the text"),
    ("Enter", "open an entity, an object, a relationship or a value"),
    ("Escape, Backspace", "go back"),
    ("/", "filter objects by a predicate; an empty one shows all"),
    ("s", "sort objects by key paths such as -age,name"),
    ("o", "open the queries of the model, your saved queries and your recent ones"),
    ("x, j", "show a value as bytes or as JSON, or as text again"),
    ("y", "copy the row to the clipboard, if the terminal permits it"),
    ("r", "read the newest commits, which also happens automatically"),
    ("?", "show this help"),
    ("q, Control-C", "quit"),
  ]

  var title: String { "Keyboard shortcuts" }
  var count: Int { Self.keys.count }

  func rows(_ range: Range<Int>, shift: Int) -> (header: String?, rows: [String]) {
    let width = Self.keys.map { TextWidth.of($0.0) }.max() ?? 0
    return (nil, Self.keys[range].map { "\(TextWidth.padded($0.0, to: width))  \($0.1)" })
  }

  func page(at row: Int, answers: [String]) -> (any BrowsePage)? { nil }
  func copy(of row: Int) -> String { "\(Self.keys[row].0)  \(Self.keys[row].1)" }
  func reloaded() -> any BrowsePage { self }
}
