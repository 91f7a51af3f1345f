/// A path from an object to a nested value, in its user-facing notation: `images.small`.
///
/// A dot descends into an object, or into an array if the name is an index: `tags.0`. A backslash
/// escapes a dot, a comma or a backslash: `API\.Log`. A member whose key equals the whole text
/// takes precedence over the path, so that `API.Log` also finds the key `API.Log`.
package struct JSONMemberPath: Sendable, Hashable {
  package let names: [String]
  /// The key that takes precedence over the path, or `nil` if the path is a single name.
  package let wholeKey: String?
  /// The path as it was written.
  package let text: String

  /// Creates the path of a single key, including any dots.
  package init(key: String) {
    names = [key]
    wholeKey = nil
    text = key
  }

  /// Parses a path.
  ///
  /// - Parameter trimsNames: Whether white space around names is removed.
  package init(_ text: String, trimsNames: Bool = false) {
    let parts = Self.split(text[...], at: ".")
    names = parts.map { Self.name($0, isTrimmed: trimsNames) }
    let whole = trimsNames ? Self.trimmed(text[...]) : text[...]
    wholeKey = names.count > 1 ? String(whole) : nil
    self.text = String(whole)
  }

  /// Parses comma-separated alternatives. If there are several, the whole text comes first, as a
  /// key: `Height, cm`.
  ///
  /// - Returns: The paths, without those that have an empty name.
  package static func alternatives(_ text: String) -> [JSONMemberPath] {
    let parts = split(text[...], at: ",")
    let paths = parts.map { JSONMemberPath(String($0), trimsNames: true) }
      .filter { !$0.names.contains("") }
    guard parts.count > 1, !paths.isEmpty else { return paths }
    return [JSONMemberPath(key: String(trimmed(text[...])))] + paths
  }

  /// Returns a name as an array index, or `nil` if it isn't one.
  package static func index(_ name: String) -> Int? {
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
    return Int(name)
  }

  /// Splits text at unescaped separators.
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
  /// Returns the child with the given name: a member of an object, or an element of an array by
  /// index.
  package func child(_ name: String) -> JSONNode? {
    switch kind {
    case .object: member(name)
    case .array: JSONMemberPath.index(name).flatMap(element)
    case .null, .bool, .number, .string: nil
    }
  }

  /// Returns the value at a path of names, or `nil` if it doesn't exist.
  package func descendant(_ names: some Sequence<String>) -> JSONNode? {
    var node = self
    for name in names {
      guard let next = node.child(name) else { return nil }
      node = next
    }
    return node
  }

  /// Returns the element of an array, or `nil` if the index is out of bounds or this is not an
  /// array.
  ///
  /// - Complexity: Linear in the index.
  package func element(at index: Int) -> JSONNode? {
    guard index >= 0, index < count, kind == .array else { return nil }
    return items.dropFirst(index).first
  }
}
