internal import ArborModel

struct ModelXMLNode: Sendable {
  let name: String
  var attributes: [String: String]
  /// The parser's position at the end of the element's start tag.
  let tagEnd: ModelXMLText.Position
  var children: [ModelXMLNode] = []
  /// The names of the attributes in file order, if ``withReadOrder(in:)`` determined it.
  private(set) var readOrder: [String] = []

  init(
    _ name: String, _ attributes: [String: String],
    tagEnd: ModelXMLText.Position = .init(line: 1, column: 1)
  ) {
    self.name = name
    self.attributes = attributes
    self.tagEnd = tagEnd
  }

  func all(_ name: String) -> [ModelXMLNode] { children.filter { $0.name == name } }

  /// Returns the element with the order of its attributes and of its descendants' attributes. The
  /// parser doesn't report the order.
  func withReadOrder(in text: ModelXMLText) -> ModelXMLNode {
    var node = self
    node.readOrder = text.attributeNames(ofTagEndingAt: tagEnd)
    node.children = children.map { $0.withReadOrder(in: text) }
    return node
  }

  subscript(attribute: String) -> String? { attributes[attribute] }
}
