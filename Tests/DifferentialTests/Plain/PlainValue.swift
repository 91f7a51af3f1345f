import Foundation

/// A value of the naive evaluator. Objects are the keys of a ``PlainGraph``.
enum PlainValue {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case decimal(Decimal)
  case text(String)
  /// The seconds since 2001.
  case date(Double)
  case bytes([UInt8])
  case uuid(UUID)
  case uri(String)
  case object(Int)
  case list([PlainValue])
  /// Named parts, of which those that are null are omitted.
  case composite([String: PlainValue])

  /// The families of values that can be ordered relative to each other.
  enum Family: Int {
    case null, number, text, date, bytes, uuid, uri, object, list, composite
  }

  var family: Family {
    switch self {
    case .null: .null
    case .boolean, .integer, .double, .decimal: .number
    case .text: .text
    case .date: .date
    case .bytes: .bytes
    case .uuid: .uuid
    case .uri: .uri
    case .object: .object
    case .list: .list
    case .composite: .composite
    }
  }

  var isNull: Bool { if case .null = self { true } else { false } }

  var isNaN: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .decimal(let number): number.isNaN
    default: false
    }
  }
}

extension PlainValue {
  /// Compares by the total order of values; returns -1, 0 or 1. Null is first, followed by numbers
  /// by value, strings by code points, dates, bytes, UUIDs, URIs, objects in the given order, and
  /// lists.
  func compared(to other: PlainValue, objects: (Int) -> Int = { $0 }) -> Int {
    if family != other.family { return sign(family.rawValue, other.family.rawValue) }
    switch (self, other) {
    case (.text(let left), .text(let right)), (.uri(let left), .uri(let right)):
      return PlainText.compare(left, right)
    case (.date(let left), .date(let right)): return sign(left, right)
    case (.bytes(let left), .bytes(let right)): return lexicographic(left, right)
    case (.uuid(let left), .uuid(let right)):
      return lexicographic(Array(left.uuidString.utf8), Array(right.uuidString.utf8))
    case (.object(let left), .object(let right)): return sign(objects(left), objects(right))
    case (.list(let left), .list(let right)):
      for (left, right) in zip(left, right) {
        let order = left.compared(to: right, objects: objects)
        if order != 0 { return order }
      }
      return sign(left.count, right.count)
    default: return PlainNumber.compare(self, other)
    }
  }
}

func sign<T: Comparable>(_ left: T, _ right: T) -> Int {
  left < right ? -1 : (left > right ? 1 : 0)
}

func lexicographic<T: Comparable>(_ left: [T], _ right: [T]) -> Int {
  for (left, right) in zip(left, right) where left != right { return sign(left, right) }
  return sign(left.count, right.count)
}

extension PlainValue: CustomStringConvertible {
  var description: String {
    switch self {
    case .null: "nil"
    case .boolean(let flag): flag ? "YES" : "NO"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)d"
    case .decimal(let number): "\(number)m"
    case .text(let text): PlainText.quoted(text)
    case .date(let seconds): "date(\(seconds))"
    case .bytes(let bytes): "bytes\(bytes)"
    case .uuid(let uuid): uuid.uuidString
    case .uri(let text): "uri(\(text))"
    case .object(let key): "#\(key)"
    case .composite(let parts):
      "("
        + parts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        + ")"
    case .list(let values): "{\(values.map(\.description).joined(separator: ", "))}"
    }
  }
}
