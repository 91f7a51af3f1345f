import ArborModel
import Foundation

/// How the key of the object that a relationship leads to is put together from an item's values.
///
/// ```
/// {departmentID}                        the value of a key
/// {code/^[A-Z]+/}                       the first match of a regular expression in it
/// {parent} | {code/^[A-Z]+/}-{parent}   the first of these keys that an object has
/// ```
struct ReferenceTemplate {
  fileprivate enum Part {
    case text(String)
    case value(ItemRoute, NSRegularExpression?)
  }

  private let alternatives: [[Part]]

  /// Reads a template; nil where it is none.
  init?(_ text: String) {
    var alternatives: [[Part]] = []
    var parts: [Part] = []
    var rest = text[...]
    while let next = rest.first {
      if next == "{" {
        guard let part = Self.value(&rest) else { return nil }
        parts.append(part)
      } else if next == "|" {
        alternatives.append(parts)
        parts = []
        rest.removeFirst()
      } else {
        let literal = rest.prefix { $0 != "{" && $0 != "|" }
        rest = rest[literal.endIndex...]
        parts.append(.text(literal.trimmingCharacters(in: .whitespaces)))
      }
    }
    alternatives.append(parts)
    guard alternatives.allSatisfy({ $0.contains(where: \.isValue) }) else { return nil }
    self.alternatives = alternatives
  }

  /// Reads `{key}` or `{key/expression/}` off the front of a text.
  private static func value(_ text: inout Substring) -> Part? {
    text.removeFirst()
    let name = text.prefix { $0 != "}" && $0 != "/" }
    text = text[name.endIndex...]
    var expression: NSRegularExpression?
    if text.first == "/" {
      guard let end = text.range(of: "/}") else { return nil }
      let pattern = String(text[text.index(after: text.startIndex)..<end.lowerBound])
      expression = try? NSRegularExpression(pattern: pattern)
      guard expression != nil else { return nil }
      text = text[end.lowerBound...].dropFirst()
    }
    guard text.first == "}", let route = ItemRoute.alternatives(String(name)).first else {
      return nil
    }
    text.removeFirst()
    return .value(route, expression)
  }

  /// The keys that an item gives, the preferred one first; none where it lacks what they are made
  /// of.
  ///
  /// - Parameter element: What stands for a list among the item's values: one of its elements.
  func keys(in item: JSONNode, element: JSONNode? = nil) -> [String] {
    alternatives.compactMap { parts in
      var key = ""
      for part in parts {
        switch part {
        case .text(let text): key += text
        case .value(let route, let expression):
          guard var node = route.value(in: item) else { return nil }
          if node.kind == .array, let element { node = element }
          guard let text = node.string ?? node.number?.text,
            let match = Self.match(of: expression, in: text)
          else { return nil }
          key += match
        }
      }
      return key
    }
  }

  /// The list among the values that an item gives; nil where there is none.
  func list(in item: JSONNode) -> JSONNode? {
    for case .value(let route, _) in alternatives.joined() {
      if let node = route.value(in: item), node.kind == .array { return node }
    }
    return nil
  }

  /// Whether one of the values is there and null.
  func isNull(in item: JSONNode) -> Bool {
    alternatives.joined().contains { part in
      if case .value(let route, _) = part { route.value(in: item)?.isNull == true } else { false }
    }
  }

  private static func match(of expression: NSRegularExpression?, in text: String) -> String? {
    guard let expression else { return text }
    let all = NSRange(text.startIndex..., in: text)
    guard let match = expression.firstMatch(in: text, range: all) else { return nil }
    return Range(match.range, in: text).map { String(text[$0]) }
  }
}

extension ReferenceTemplate.Part {
  fileprivate var isValue: Bool { if case .value = self { true } else { false } }
}
