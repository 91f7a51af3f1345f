/// One element of a model's XML.
struct ModelXMLNode: Sendable {
  let name: String
  let attributes: [String: String]
  /// Where the parser was when it had read the element's tag.
  let tagEnd: ModelXMLText.Position
  var children: [ModelXMLNode] = []

  /// The child elements of a name.
  func all(_ name: String) -> [ModelXMLNode] { children.filter { $0.name == name } }

  subscript(attribute: String) -> String? { attributes[attribute] }
}

/// The text of a document, for places in it.
struct ModelXMLText: Sendable {
  /// Line and column as the parser counts them, both from 1.
  struct Position: Sendable, Hashable {
    var line: Int
    var column: Int
  }

  private let lines: [Substring]
  private let source: String?

  init(_ text: String, source: String?) {
    lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    self.source = source
  }

  /// The place where a tag begins. The parser tells where a tag ends; within one there is no other
  /// `<`, so the last before that place begins it.
  func start(ofTagEndingAt end: Position) -> ArborError.SourceLocation {
    var line = min(end.line, lines.count)
    var limit = end.column - 1
    while line >= 1 {
      let before = lines[line - 1].prefix(limit)
      if let bracket = before.lastIndex(of: "<") {
        let column = before.distance(from: before.startIndex, to: bracket) + 1
        return .init(source: source, line: line, column: column)
      }
      line -= 1
      limit = .max
    }
    return location(of: end)
  }

  func location(of position: Position) -> ArborError.SourceLocation {
    .init(source: source, line: max(position.line, 1), column: max(position.column, 1))
  }
}
