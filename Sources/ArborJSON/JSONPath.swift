/// The path from a document's root to a value, such as `$.employees[3].hired`.
package struct JSONPath: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case key(String)
    case index(Int)
  }

  private(set) var steps: [Step] = []

  /// Creates the path of the root, `$`.
  package init() {}

  package mutating func append(key: String) { steps.append(.key(key)) }

  package mutating func append(index: Int) { steps.append(.index(index)) }
}

extension JSONPath: CustomStringConvertible {
  /// The path as text. Keys that are not plain words are quoted in brackets.
  package var description: String {
    steps.reduce(into: "$") { text, step in
      switch step {
      case .index(let index): text += "[\(index)]"
      case .key(let key) where Self.isWord(key): text += ".\(key)"
      case .key(let key): text += "[\(JSONValue.string(key))]"
      }
    }
  }

  private static func isWord(_ key: String) -> Bool {
    guard let first = key.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
    return key.unicodeScalars.allSatisfy { scalar in
      scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar)
    }
  }
}
