internal import ArborFoundation

/// The target types of `CAST`, under the names that Core Data uses.
package enum ValueCast: String, Sendable, CaseIterable {
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case text = "NSString"
  case date = "NSDate"
  case uuid = "NSUUID"
  case uri = "NSURL"

  private static let swiftNames: [String: ValueCast] = [
    "Int": .number, "Double": .number, "Decimal": .decimal, "String": .text, "Date": .date,
    "UUID": .uuid, "URL": .uri,
  ]

  /// Creates the type from its name in Core Data or Swift. Returns `nil` for an unknown name.
  package init?(named name: String) {
    guard let cast = ValueCast(rawValue: name) ?? Self.swiftNames[name] else { return nil }
    self = cast
  }

  var kind: ValueKind {
    switch self {
    case .number, .decimal: .number
    case .text: .text
    case .date: .date
    case .uuid: .uuid
    case .uri: .uri
    }
  }

  package func cast(_ value: PropertyValue) -> PropertyValue {
    switch self {
    case .number: Self.number(value)
    case .decimal: Self.decimal(value)
    case .text: Self.text(value)
    case .date: Self.date(value)
    case .uuid: UUIDKind.form(of: value) ?? .null
    case .uri: URIKind.form(of: value) ?? .null
    }
  }

  /// Returns the reason a constant cannot be cast, or `nil` if it can be cast or is `nil`.
  func unreadable(_ value: PropertyValue) -> String? {
    guard self == .date, case .string(let text) = value, cast(value).isNull else { return nil }
    return "\(PredicateLiteral.quoted(text)) is not an ISO 8601 date. Write it as "
      + "\"2024-05-01T12:30:00Z\"."
  }

  private static func number(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .integer, .double, .decimal: return value
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
    case .string(let text):
      if let number = Int64(text) { return .integer(number) }
      guard let number = Double(text), !number.isNaN else { return .null }
      return .double(number)
    default: return .null
    }
  }

  private static func decimal(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .decimal: return value
    case .boolean(let flag): return .decimal(flag ? 1 : 0)
    case .integer(let number): return .decimal(Decimal(number))
    case .double(let number):
      guard number.isFinite else { return .null }
      return DecimalDigits(number).decimal.map(PropertyValue.decimal) ?? .null
    case .date(let date): return decimal(.double(date.timeIntervalSinceReferenceDate))
    case .string(let text):
      guard Double(text) != nil, let number = Decimal(string: text), !number.isNaN else {
        return .null
      }
      return .decimal(number)
    default: return .null
    }
  }

  private static func date(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .date: return value
    case .boolean, .integer, .double, .decimal, .string:
      // A string is parsed as an ISO 8601 date, or otherwise as a number of seconds.
      if case .string(let text) = value, let date = ISO8601Date.parse(text) { return .date(date) }
      guard let seconds = number(value).floating, seconds.isFinite else { return .null }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    default: return .null
    }
  }

  private static func text(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .string: return value
    case .boolean(let flag): return .string(flag ? "1" : "0")
    case .integer(let number): return .string(number.description)
    case .double(let number):
      // Like `NSNumber`, writes an integral value without a fraction.
      return .string(Int64(exactly: number)?.description ?? number.description)
    case .decimal(let number): return .string(number.description)
    case .date(let date): return .string(date.description)
    case .uuid(let uuid): return .string(uuid.uuidString)
    case .uri(let url): return .string(url.absoluteString)
    case .objectID(let id): return .string(id.description)
    case .null, .binary, .list, .composite: return .null
    }
  }
}

extension PropertyValue {
  /// The number as a floating-point number, or `nil` if it isn't one. A Boolean is 0 or 1.
  var floating: Double? {
    switch self {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): number.isNaN ? nil : Double(number.description)
    default: nil
    }
  }
}
