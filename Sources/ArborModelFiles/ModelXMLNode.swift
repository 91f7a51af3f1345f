internal import ArborModel

struct ModelXMLNode: Sendable {
  let name: String
  var attributes: [String: String]
  /// The parser's position at the end of the element's start tag.
  let tagEnd: ModelXMLText.Position
  var children: [ModelXMLNode] = []
  /// The names of the attributes in file order. Empty unless ``withReadOrder(in:)`` determined it.
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

  /// Returns a copy of the element in which it and its descendants have a ``readOrder``. The parser
  /// doesn't report the order of attributes.
  func withReadOrder(in text: ModelXMLText) -> ModelXMLNode {
    var node = self
    node.readOrder = text.attributeNames(ofTagEndingAt: tagEnd)
    node.children = children.map { $0.withReadOrder(in: text) }
    return node
  }

  subscript(attribute: String) -> String? { attributes[attribute] }
}
