internal import ArborModel
internal import Foundation

extension AttributeType {
  /// A value as one of this type, where that holds it: converted there and back it is the same.
  func exactly(_ value: Value) -> Value? {
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
