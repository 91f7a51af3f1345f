import ArborModel
import ArborStore
import Foundation
import TestSupport

/// A condition as data, which can be formatted as a predicate and evaluated independently. It
/// shares no code with the parser, the compiler or the planner.
indirect enum QueryCondition {
  case compare(String, String, PropertyValue)
  case among(String, [PropertyValue])
  case between(String, PropertyValue, PropertyValue)
  case objects([ObjectNumber])
  case and([QueryCondition])
  case or([QueryCondition])
  case not(QueryCondition)

  // MARK: Formatting

  func predicate(_ store: StoreEngine) throws -> FetchPredicate {
    var arguments: [PropertyValue] = []
    let text = text(store, &arguments)
    return try FetchPredicate(format: text, arguments: arguments)
  }

  private func text(_ store: StoreEngine, _ arguments: inout [PropertyValue]) -> String {
    func joined(_ parts: [QueryCondition], _ word: String) -> String {
      var texts: [String] = []
      for part in parts { texts.append("(\(part.text(store, &arguments)))") }
      return texts.joined(separator: " \(word) ")
    }
    switch self {
    case .compare(let path, let name, let value):
      arguments.append(value)
      return "\(path) \(name) %@"
    case .among(let path, let values):
      arguments.append(.list(values))
      return "\(path) IN %@"
    case .between(let path, let lower, let upper):
      arguments.append(.list([lower, upper]))
      return "\(path) BETWEEN %@"
    case .objects(let numbers):
      arguments.append(.list(numbers.map { .objectID(store.objectID($0)) }))
      return "SELF IN %@"
    case .and(let parts): return joined(parts, "AND")
    case .or(let parts): return joined(parts, "OR")
    case .not(let part): return "NOT (\(part.text(store, &arguments)))"
    }
  }

  // MARK: Evaluating

  func holds(_ object: PlainObject, _ store: StoreEngine) -> Bool {
    switch self {
    case .and(let parts): return parts.allSatisfy { $0.holds(object, store) }
    case .or(let parts): return parts.contains { $0.holds(object, store) }
    case .not(let part): return !part.holds(object, store)
    case .objects(let numbers): return numbers.contains(object.number)
    case .among(let path, let values):
      let own = object.value(path, store)
      return values.contains { Self.isEqual(own, $0) }
    case .between(let path, let lower, let upper):
      let own = object.value(path, store)
      return Self.order(own, lower).map { $0 >= 0 } ?? false
        && Self.order(own, upper).map { $0 <= 0 } ?? false
    case .compare(let path, let name, let value):
      return Self.compare(object.value(path, store), name, value)
    }
  }

  private static func compare(_ own: PropertyValue, _ name: String, _ value: PropertyValue) -> Bool
  {
    switch name {
    case "==": return isEqual(own, value)
    case "!=": return !isEqual(own, value)
    case "<": return order(own, value).map { $0 < 0 } ?? false
    case "<=": return order(own, value).map { $0 <= 0 } ?? false
    case ">": return order(own, value).map { $0 > 0 } ?? false
    case ">=": return order(own, value).map { $0 >= 0 } ?? false
    default: break
    }
    guard case .string(let text) = own, case .string(let part) = value, !part.isEmpty else {
      return false
    }
    let (bytes, needle) = (Array(text.utf8), Array(part.utf8))
    switch name {
    case "BEGINSWITH": return bytes.starts(with: needle)
    case "ENDSWITH": return bytes.reversed().starts(with: needle.reversed())
    case "CONTAINS":
      return bytes.indices.contains { bytes[$0...].starts(with: needle) }
    case "==[c]": return text.lowercased() == part.lowercased()
    default: preconditionFailure("The oracle does not know \(name).")
    }
  }

  private static func isEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    left.isNull && right.isNull || order(left, right) == 0
  }

  /// Returns the sign of the comparison, or `nil` if the values aren't ordered.
  static func order(_ left: PropertyValue, _ right: PropertyValue) -> Int? {
    func sign<T: Comparable>(_ left: T, _ right: T) -> Int {
      left < right ? -1 : left == right ? 0 : 1
    }
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return sign(left, right)
    case (.double(let left), .double(let right)): return sign(left, right)
    case (.string(let left), .string(let right)):
      if left.utf8.elementsEqual(right.utf8) { return 0 }
      return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    case (.date(let left), .date(let right)): return sign(left, right)
    case (.uuid(let left), .uuid(let right)): return sign(left.uuidString, right.uuidString)
    case (.objectID(let left), .objectID(let right)):
      return sign("\(left)", "\(right)")
    default:
      guard let left = left.number, let right = right.number else { return nil }
      return sign(left, right)
    }
  }
}

extension PropertyValue {
  fileprivate var number: Decimal? {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Decimal(number)
    case .double(let number): Decimal(number)
    case .decimal(let number): number
    default: nil
    }
  }
}

extension PlainObject {
  /// Returns the value at a key path.
  func value(_ path: String, _ store: StoreEngine) -> PropertyValue {
    var object = self
    var last = path
    while let dot = last.firstIndex(of: ".") {
      guard let next = object.links[String(last[..<dot])] else { return .null }
      object = next
      last = String(last[last.index(after: dot)...])
    }
    if last == "SELF" || last == "objectID" { return .objectID(store.objectID(object.number)) }
    if let link = object.links[last] { return .objectID(store.objectID(link.number)) }
    return object.values[last] ?? .null
  }
}
