import ArborJSON
import ArborModel
public import Foundation

/// Ready-made transformers. Nil becomes nil in both directions.
extension PropertyTransformer {
  /// A text and what it is parsed to and printed from.
  ///
  /// ```swift
  /// "size": .text("a size as \"3x4\"", parse: Size.init, print: \.description)
  /// ```
  ///
  /// - Parameters:
  ///   - expectation: What the text has to be, for the message where it does not parse.
  ///   - parse: The value of a text, nil for a text that has none.
  ///   - print: The text of a value.
  public static func text<Property>(
    _ expectation: String, parse: @escaping @Sendable (String) -> Property?,
    print: @escaping @Sendable (Property) throws -> String
  ) -> PropertyTransformer {
    PropertyTransformer { (raw: Raw) -> Property? in
      if raw.isNothing { return nil }
      guard let text = raw.textForm else { throw Self.mismatch(expectation) }
      guard let property = parse(text) else { throw Self.mismatch(expectation, .unparsableValue) }
      return property
    } write: { property in
      try property.map { .text(try print($0)) } ?? .nothing
    }
  }

  /// A URL and its text. Characters that a URL cannot hold are escaped, as `URL(string:)` does.
  public static var url: PropertyTransformer {
    text("a URL as a string") {
      URL(string: $0)
    } print: {
      $0.absoluteString
    }
  }

  /// A UUID and its text.
  public static var uuid: PropertyTransformer {
    text("a UUID as a string") {
      UUID(uuidString: $0)
    } print: {
      $0.uuidString
    }
  }

  /// A date and its text in ISO 8601.
  public static var iso8601Date: PropertyTransformer {
    text("a date in ISO 8601", parse: ISO8601Date.parse) { (date: Date) in
      guard let text = ISO8601Date.text(date) else {
        throw Self.mismatch("a date with a four-digit year")
      }
      return text
    }
  }

  /// A date and its text in a Unicode date pattern.
  ///
  /// ```swift
  /// "due": .date(format: "d MMMM yyyy", timeZone: berlin, locale: Locale(identifier: "de_DE"))
  /// ```
  ///
  /// - Parameters:
  ///   - format: The pattern.
  ///   - timeZone: The zone of texts that name none, and of those that are written; UTC at first.
  ///   - locale: The language of months and weekdays; `en_US_POSIX` at first, never the device's.
  public static func date(
    format: String, timeZone: TimeZone = .gmt, locale: Locale = Locale(identifier: "en_US_POSIX")
  ) -> PropertyTransformer {
    let pattern = DatePattern(format, zone: timeZone, locale: locale)
    return text("a date in the format \(format)", parse: pattern.date) { pattern.text($0) }
  }

  /// A date and the seconds since 1970.
  ///
  /// Numbers are read in texts as well. A number of 100,000,000,000 or more is read as
  /// milliseconds, one of 100,000,000,000,000 or more as microseconds, so writing a date after the
  /// year 5138 is an error; use ``unixMilliseconds`` for those.
  public static var unixTime: PropertyTransformer {
    unixTime(UnixTime.expectation, read: UnixTime.detected) {
      guard let seconds = UnixTime.detectableSeconds($0) else {
        throw Self.mismatch("a date before the year 5138")
      }
      return seconds
    }
  }

  /// A date and the milliseconds since 1970. Numbers are read in texts as well.
  public static var unixMilliseconds: PropertyTransformer {
    let unit = UnixTime.milliseconds
    return unixTime("milliseconds since 1970", read: unit.date, write: unit.number)
  }

  /// A date and the microseconds since 1970. Numbers are read in texts as well.
  public static var unixMicroseconds: PropertyTransformer {
    let unit = UnixTime.microseconds
    return unixTime("microseconds since 1970", read: unit.date, write: unit.number)
  }

  private static func unixTime(
    _ expectation: String, read: @escaping @Sendable (Double) -> Date,
    write: @escaping @Sendable (Date) throws -> Double
  ) -> PropertyTransformer {
    PropertyTransformer { (raw: Raw) -> Date? in
      if raw.isNothing { return nil }
      guard
        let number = raw.numberForm
          ?? raw.textForm.flatMap(JSONNumber.init(text:)).flatMap(\.double)
      else {
        throw Self.mismatch(expectation, raw.textForm == nil ? .typeMismatch : .unparsableValue)
      }
      return read(number)
    } write: { date in
      guard let number = try date.map(write) else { return .nothing }
      return try Int64(exactly: number).map(Raw._coding.integer) ?? .number(number)
    }
  }

  /// A whole number and its text: `"42"`. Numbers are read as well.
  public static func numericText<Number: FixedWidthInteger & Sendable>(
    _ type: Number.Type
  ) -> PropertyTransformer {
    PropertyTransformer { (raw: Raw) -> Number? in
      if raw.isNothing { return nil }
      guard
        let number = raw.textForm.flatMap({ Number($0) })
          ?? raw.integerForm.flatMap(Number.init(exactly:))
      else { throw Self.mismatch("\(ModelExpectation.integer(type)), as a string or a number") }
      return number
    } write: { number in
      number.map { .text("\($0)") } ?? .nothing
    }
  }

  /// Values that stand for each other, such as the cases of an enumeration and their names.
  ///
  /// ```swift
  /// "state": .mapping(["open": State.open, "closed": .closed], default: .unknown)
  /// ```
  ///
  /// Of several entries for one property the first is written.
  ///
  /// - Parameters:
  ///   - values: What is read, and the property for it.
  ///   - standard: The property for anything else, nil and values of other types included; without
  ///     it that is an error, and nil is nil.
  ///   - reverseStandard: What is written for a property without an entry; without it that is an
  ///     error, and nil is nil.
  public static func mapping<Property: Hashable & Sendable>(
    _ values: KeyValuePairs<Raw, Property>, default standard: Property? = nil,
    reverseDefault reverseStandard: Raw? = nil
  ) -> PropertyTransformer {
    let properties = Dictionary(values.map { ($0.key, $0.value) }) { first, _ in first }
    let raws = Dictionary(values.map { ($0.value, $0.key) }) { first, _ in first }
    return PropertyTransformer { (raw: Raw) -> Property? in
      if let property = properties[raw] ?? standard { return property }
      if raw.isNothing { return nil }
      throw Self.mismatch("one of \(properties.count) known values")
    } write: { property in
      if let raw = property.flatMap({ raws[$0] }) ?? reverseStandard { return raw }
      if property == nil { return .nothing }
      throw Self.mismatch("a property that has an entry in the mapping")
    }
  }

  static func mismatch(
    _ expectation: String, _ code: ArborError.Code = .typeMismatch
  ) -> ArborError {
    ArborError(
      code,
      "The transformer expected \(expectation). Correct the value.")
  }
}

/// Ready-made transformers of numbers that texts spell. Nil becomes nil in both directions, and
/// numbers are read as well.
extension PropertyTransformer {
  /// A whole number and its text in a format.
  ///
  /// ```swift
  /// "population": .number(Int.self, format: JSONNumberFormat(groupingSeparator: ","))
  /// ```
  public static func number<Number: FixedWidthInteger & Sendable>(
    _ type: Number.Type, format: JSONNumberFormat
  ) -> PropertyTransformer {
    formatted(ModelExpectation.integer(type), format) { number in
      number.int64.flatMap(Number.init(exactly:)) ?? number.uint64.flatMap(Number.init(exactly:))
    } number: {
      JSONNumber(text: "\($0)")
    }
  }

  /// A floating-point number and its text in a format.
  public static func number<Number: BinaryFloatingPoint & Sendable>(
    _ type: Number.Type, format: JSONNumberFormat
  ) -> PropertyTransformer {
    formatted(ModelExpectation.floating(type), format) { (number: JSONNumber) -> Number? in
      number.double.map(Number.init).flatMap { $0.isFinite ? $0 : nil }
    } number: {
      // The shortest text that is the number, in its own width: 0.1 stays 0.1.
      JSONNumber(text: "\($0)")
    }
  }

  /// A decimal number and its text in a format, exact to 38 digits.
  public static func number(_ type: Decimal.Type, format: JSONNumberFormat) -> PropertyTransformer {
    formatted(ModelExpectation.decimal, format) {
      $0.decimal
    } number: {
      JSONNumber($0)
    }
  }

  /// A number, which is what messages call `expectation`, and its text: `property` and `number`
  /// turn the number into the property and back, `nil` if that is not possible.
  private static func formatted<Property>(
    _ expectation: String, _ format: JSONNumberFormat,
    property: @escaping @Sendable (JSONNumber) -> Property?,
    number: @escaping @Sendable (Property) -> JSONNumber?
  ) -> PropertyTransformer {
    PropertyTransformer { (raw: Raw) -> Property? in
      if raw.isNothing { return nil }
      let parsed =
        raw.textForm.map(format.number) ?? raw.integerForm.map { JSONNumber($0) }
        ?? raw.numberForm.flatMap { JSONNumber($0) }
      guard let value = parsed.flatMap({ $0 }).flatMap(property) else {
        throw mismatch(
          "\(expectation), as a string or a number",
          raw.textForm == nil ? .typeMismatch : .unparsableValue)
      }
      return value
    } write: { value in
      guard let value else { return .nothing }
      guard let text = number(value).flatMap(format.text) else {
        throw mismatch("a number of at most 38 digits")
      }
      return .text(text)
    }
  }
}
