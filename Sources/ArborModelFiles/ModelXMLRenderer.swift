internal import ArborModel

/// A renderer that formats elements as Xcode does: four spaces per level, one element per line,
/// attributes in a fixed order.
struct ModelXMLRenderer {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"

  mutating func write(_ node: ModelXMLNode, depth: Int = 0) {
    let indentation = String(repeating: "    ", count: depth)
    text += "\(indentation)<\(node.name)"
    for key in Self.ordered(node) {
      text += " \(key)=\"\(Self.escaped(node[key] ?? ""))\""
    }
    guard !node.children.isEmpty else {
      text += "/>\n"
      return
    }
    text += ">\n"
    for child in node.children { write(child, depth: depth + 1) }
    text += "\(indentation)</\(node.name)>\n"
  }

  /// Returns the names of an element's attributes: existing ones in file order, and new ones where
  /// Xcode would write them.
  private static func ordered(_ node: ModelXMLNode) -> [String] {
    let usual = ModelXMLVocabulary.order[node.name] ?? ["name", "key", "value"]
    func rank(_ key: String) -> Int { usual.firstIndex(of: key) ?? usual.count }
    var keys = node.readOrder.filter { node[$0] != nil }
    let read = Set(keys)
    let new = node.attributes.keys.filter { !read.contains($0) }
    for key in new.sorted(by: { (rank($0), $0) < (rank($1), $1) }) {
      let before = keys.lastIndex { rank($0) <= rank(key) }
      keys.insert(key, at: before.map { $0 + 1 } ?? 0)
    }
    return keys
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
