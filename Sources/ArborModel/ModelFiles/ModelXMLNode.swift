/// One element of a model's XML.
struct ModelXMLNode: Sendable {
  let name: String
  var attributes: [String: String]
  /// Where the parser was when it had read the element's tag.
  let tagEnd: ModelXMLText.Position
  var children: [ModelXMLNode] = []
  /// The attributes' names as they stand in the file, where somebody asked for their order.
  private(set) var readOrder: [String] = []

  init(
    _ name: String, _ attributes: [String: String],
    tagEnd: ModelXMLText.Position = .init(line: 1, column: 1)
  ) {
    self.name = name
    self.attributes = attributes
    self.tagEnd = tagEnd
  }

  /// The child elements of a name.
  func all(_ name: String) -> [ModelXMLNode] { children.filter { $0.name == name } }

  /// The element with its attributes' order, and its parts with theirs: the parser does not tell
  /// it.
  func withReadOrder(in text: ModelXMLText) -> ModelXMLNode {
    var node = self
    node.readOrder = text.attributeNames(ofTagEndingAt: tagEnd)
    node.children = children.map { $0.withReadOrder(in: text) }
    return node
  }

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

  func location(ofByte offset: Int, in bytes: UnsafeRawBufferPointer) -> ArborError.SourceLocation {
    JSONOrigin().location(of: offset, in: bytes, source: source)
  }

  /// The names of a tag's attributes, in order.
  func attributeNames(ofTagEndingAt end: Position) -> [String] {
    let start = start(ofTagEndingAt: end)
    guard start.line <= end.line, end.line <= lines.count else { return [] }
    var tag = ""
    for line in start.line...end.line {
      let text = line == end.line ? lines[line - 1].prefix(end.column - 1) : lines[line - 1]
      tag += text.dropFirst(line == start.line ? start.column - 1 : 0) + " "
    }
    var names: [String] = []
    var rest = tag.drop { !$0.isWhitespace }
    while let equals = rest.firstIndex(of: "=") {
      names.append(rest[..<equals].filter { !$0.isWhitespace })
      rest = rest[equals...].dropFirst().drop { $0.isWhitespace }
      guard let quote = rest.first, quote == "\"" || quote == "'" else { return names }
      rest = rest.dropFirst().drop { $0 != quote }.dropFirst()
    }
    return names
  }
}
