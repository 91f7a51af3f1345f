package import ArborModel
internal import Foundation

extension AttributeType {
  /// A value as one of this type, where that holds it: converted there and back it is the same.
  package func exactly(_ value: Value) -> Value? {
    switch (self, value) {
    case (.integer16, _), (.integer32, _), (.integer64, _):
      guard let number = value.exactInteger else { return fitting(value) }
      return fitting(.integer(number))
    case (.float, .double(let number)):
      return Double(Float(number)) == number ? .double(number) : nil
    case (.float, .integer(let number)):
      return Float(exactly: number).map { .double(Double($0)) }
    case (.double, .integer(let number)):
      return Double(exactly: number).map { .double($0) }
    case (.float, .decimal(let number)), (.double, .decimal(let number)):
      let double = NSDecimalNumber(decimal: number).doubleValue
      guard let back = Decimal(string: "\(double)"), back == number else { return nil }
      return exactly(.double(double))
    default: return fitting(value)
    }
  }

  /// A value that was written while an attribute had another type, as one of this type; nil where
  /// this type does not hold it. The result of a migration of this type's values comes back as what
  /// it was, and a text as the number that is written so.
  func restored(_ value: Value) -> Value? {
    switch (self, value) {
    case (.boolean, .integer(0)): .boolean(false)
    case (.boolean, .integer(1)): .boolean(true)
    case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)),
      (.integer64, .boolean(let flag)):
      .integer(flag ? 1 : 0)
    case (.date, .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.double, .date(let date)): .double(date.timeIntervalSinceReferenceDate)
    case (.string, _): Self.text(value)
    case (_, .string(let text)): read(text)
    default: exactly(value)
    }
  }

  private static func text(_ value: Value) -> Value? {
    switch value {
    case .null, .string: value
    case .integer(let number): .string("\(number)")
    case .double(let number): .string("\(number)")
    case .decimal(let number): .string("\(number)")
    case .uuid(let id): .string(id.uuidString)
    case .uri(let url): .string(url.absoluteString)
    default: nil
    }
  }

  /// What a text says, where it is written as this type's values are.
  private func read(_ text: String) -> Value? {
    switch self {
    case .integer16, .integer32, .integer64:
      Int64(text).flatMap { "\($0)" == text ? fitting(.integer($0)) : nil }
    case .double: Double(text).flatMap { "\($0)" == text ? fitting(.double($0)) : nil }
    case .float: Float(text).flatMap { "\($0)" == text ? fitting(.double(Double($0))) : nil }
    case .decimal: Decimal(string: text).flatMap { "\($0)" == text ? .decimal($0) : nil }
    // What is no URI is made one by escapes.
    case .uri: URL(string: text).flatMap { $0.absoluteString == text ? .uri($0) : nil }
    default: fitting(.string(text))
    }
  }
}

extension Value {
  /// The number where it is a whole one; nil for others and for what is no number.
  fileprivate var exactInteger: Int64? {
    switch self {
    case .integer(let number): number
    case .double(let number): Int64(exactly: number)
    case .decimal(var number):
      {
        var whole = Decimal()
        NSDecimalRound(&whole, &number, 0, .plain)
        return whole == number ? Int64("\(whole)") : nil
      }()
    default: nil
    }
  }
}
