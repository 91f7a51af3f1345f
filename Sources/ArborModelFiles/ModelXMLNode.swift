internal import ArborModel

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
