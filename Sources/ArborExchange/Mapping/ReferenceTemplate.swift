import ArborJSON
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
  private enum Part {
    case text(String)
    /// The value of the first of these routes that leads to one.
    case value([ItemRoute], NSRegularExpression?)
  }

  private var alternatives: [[Part]]

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
    let haveValues = alternatives.allSatisfy { parts in
      parts.contains { if case .value = $0 { true } else { false } }
    }
    guard haveValues else { return nil }
    self.alternatives = alternatives
  }

  /// Reads `{key}` or `{key/expression/}` off the front of a text.
  private static func value(_ text: inout Substring) -> Part? {
    text.removeFirst()
    let name = text.prefix { $0 != "}" && $0 != "/" }
    let routes = ItemRoute.alternatives(String(name))
    text = text[name.endIndex...]
    var expression: NSRegularExpression?
    if text.first == "/" {
      guard let end = text.range(of: "/}") else { return nil }
      let pattern = String(text[text.index(after: text.startIndex)..<end.lowerBound])
      expression = try? NSRegularExpression(pattern: pattern)
      guard expression != nil else { return nil }
      text = text[end.lowerBound...].dropFirst()
    }
    guard text.first == "}", !routes.isEmpty else { return nil }
    text.removeFirst()
    return .value(routes, expression)
  }

  /// The routes to the values that keys are made of.
  var routes: [ItemRoute] {
    alternatives.joined().flatMap { part -> [ItemRoute] in
      if case .value(let routes, _) = part { routes } else { [] }
    }
  }

  /// The routes of a template that is a key and nothing else.
  var plainRoutes: [ItemRoute]? {
    guard alternatives.count == 1, alternatives[0].count == 1,
      case .value(let routes, nil) = alternatives[0][0]
    else { return nil }
    return routes
  }

  /// Looks up where the routes begin, once for many items.
  mutating func prepare(_ keys: JSONKeyTable) {
    for alternative in alternatives.indices {
      for part in alternatives[alternative].indices {
        guard case .value(let routes, let expression) = alternatives[alternative][part] else {
          continue
        }
        alternatives[alternative][part] = .value(routes.map { $0.prepared(keys) }, expression)
      }
    }
  }

  /// The keys that an item contains, the preferred one first; none if it lacks what they are made
  /// of. One element stands for a list among the values that `value` finds.
  func keys(element: JSONNode?, _ value: (ItemRoute) -> JSONNode?) -> [String] {
    alternatives.compactMap { parts in
      var key = ""
      for part in parts {
        switch part {
        case .text(let text): key += text
        case .value(let routes, let expression):
          guard var node = routes.lazy.compactMap(value).first else { return nil }
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

  private static func match(of expression: NSRegularExpression?, in text: String) -> String? {
    guard let expression else { return text }
    let all = NSRange(text.startIndex..., in: text)
    guard let match = expression.firstMatch(in: text, range: all) else { return nil }
    return Range(match.range, in: text).map { String(text[$0]) }
  }
}
