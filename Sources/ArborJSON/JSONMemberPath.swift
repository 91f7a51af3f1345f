/// The names that lead from an object to a value within it, as people write them: `images.small`.
///
/// A dot descends into an object, or into a list where the name is an index: `tags.0`. A backslash
/// in front of a dot, a comma or another backslash takes away its meaning: `API\.Log`. A member
/// whose key is the whole text wins over the path, so that `API.Log` also finds the key `API.Log`.
package struct JSONMemberPath: Sendable, Hashable {
  /// The names on the way.
  package let names: [String]
  /// The key that wins over the way; nil where the way is a single name.
  package let wholeKey: String?
  /// The path as it was written.
  package let text: String

  /// The path of one key, dots included.
  package init(key: String) {
    names = [key]
    wholeKey = nil
    text = key
  }

  /// Reads a path.
  ///
  /// - Parameter trimsNames: Whether spaces around names are left out.
  package init(_ text: String, trimsNames: Bool = false) {
    let parts = Self.split(text[...], at: ".")
    names = parts.map { Self.name($0, isTrimmed: trimsNames) }
    let whole = trimsNames ? Self.trimmed(text[...]) : text[...]
    wholeKey = names.count > 1 ? String(whole) : nil
    self.text = String(whole)
  }

  /// Reads alternatives between commas. The whole text is the first of them where it has a comma,
  /// as a key: `Height, cm`.
  ///
  /// - Returns: The paths; those with an empty name are left out.
  package static func alternatives(_ text: String) -> [JSONMemberPath] {
    let parts = split(text[...], at: ",")
    let paths = parts.map { JSONMemberPath(String($0), trimsNames: true) }
      .filter { !$0.names.contains("") }
    guard parts.count > 1, !paths.isEmpty else { return paths }
    return [JSONMemberPath(key: String(trimmed(text[...])))] + paths
  }

  /// The index that a name is in a list; nil where it is none.
  package static func index(_ name: String) -> Int? {
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
    return Int(name)
  }

  /// Splits a text at a character that no backslash stands in front of.
  private static func split(_ text: Substring, at separator: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var index = text.startIndex
    while index < text.endIndex {
      let next = text.index(after: index)
      if text[index] == "\\", next < text.endIndex, isSpecial(text[next]) {
        index = text.index(after: next)
        continue
      }
      if text[index] == separator {
        parts.append(text[start..<index])
        start = next
      }
      index = next
    }
    return parts + [text[start...]]
  }

  private static func name(_ text: Substring, isTrimmed: Bool) -> String {
    let text = isTrimmed ? trimmed(text) : text
    guard text.contains("\\") else { return String(text) }
    var name = ""
    var isEscaped = false
    for character in text {
      if isEscaped {
        if !isSpecial(character) { name.append("\\") }
        name.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        name.append(character)
      }
    }
    return isEscaped ? name + "\\" : name
  }

  private static func isSpecial(_ character: Character) -> Bool { "\\.,".contains(character) }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}

extension JSONMemberPath: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) { self.init(text) }
}

extension JSONNode {
  /// The value that a name leads to: a member of an object, or an element of a list by its index.
  package func child(_ name: String) -> JSONNode? {
    switch kind {
    case .object: member(name)
    case .array: JSONMemberPath.index(name).flatMap(element)
    case .null, .bool, .number, .string: nil
    }
  }

  /// The value that names lead to one after the other; nil where one leads nowhere.
  package func descendant(_ names: some Sequence<String>) -> JSONNode? {
    var node = self
    for name in names {
      guard let next = node.child(name) else { return nil }
      node = next
    }
    return node
  }

  /// An element of a list; nil beyond its ends or where this is not a list. Linear in the index.
  package func element(at index: Int) -> JSONNode? {
    guard index >= 0, index < count, kind == .array else { return nil }
    return items.dropFirst(index).first
  }
}
