internal import Foundation

extension AttributeType {
  /// The value in the form that an attribute of this type keeps, or nil where it does not fit.
  ///
  /// A literal in code does not know the attribute it is for: `0` is whole although the attribute
  /// is a `double`, and a UUID is written as text. Nothing is rounded but a `float`, which has 32
  /// bits.
  package func fitting(_ value: Value) -> Value? {
    switch (self, value) {
    case (_, .null): .null
    case (.integer16, .integer(let number)): Int16(exactly: number).map { .integer(Int64($0)) }
    case (.integer32, .integer(let number)): Int32(exactly: number).map { .integer(Int64($0)) }
    case (.integer64, .integer), (.boolean, .boolean), (.string, .string), (.date, .date),
      (.uuid, .uuid), (.uri, .uri), (.binary, .binary), (.transformable, .binary),
      (.decimal, .decimal), (.composite, .composite):
      value
    case (.double, .integer(let number)): .double(Double(number))
    // NaN has no place in an order. Written without `nil`, which a value reads as ``Value/null``.
    case (_, .double(let number)) where number.isNaN: Value?.none
    case (.double, .double): value
    case (.float, .integer(let number)): .double(Double(Float(number)))
    case (.float, .double(let number)): Self.float(number)
    case (.decimal, .integer(let number)): .decimal(Decimal(number))
    case (.decimal, .double(let number)):
      // Through its text: the literal 9.99 means the decimal, not the binary number next to it.
      number.isFinite ? Decimal(string: "\(number)").map(Value.decimal) : nil
    case (.uuid, .string(let text)): UUID(uuidString: text).map(Value.uuid)
    case (.uri, .string(let text)): URL(string: text).map(Value.uri)
    case (.undefined, .boolean), (.undefined, .integer), (.undefined, .double),
      (.undefined, .string):
      value
    default: nil
    }
  }

  private static func float(_ number: Double) -> Value? {
    let rounded = Float(number)
    guard rounded.isFinite || number.isInfinite else { return nil }
    return .double(Double(rounded))
  }

  /// What fits the type, for messages: `a whole number from -32768 to 32767`.
  package var expectation: String {
    switch self {
    case .integer16: "a whole number from -32768 to 32767"
    case .integer32: "a whole number from -2147483648 to 2147483647"
    case .integer64: "a whole number of 64 bits"
    case .boolean: "YES or NO"
    case .float, .double: "a number"
    case .decimal: "a decimal number"
    case .string: "a text"
    case .date: "a date"
    case .binary: "bytes"
    case .uuid: "a UUID such as 6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
    case .uri: "a URI"
    case .transformable: "the bytes of an archived value"
    case .composite: "a value for each part"
    case .undefined: "a text, a number or a Boolean"
    }
  }
}
