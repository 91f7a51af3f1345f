public import ArborFoundation
import ArborJSON
import ArborModel

/// Standard transformers. Nil is transformed into `nil` in both directions.
extension PropertyTransformer {
  /// Creates a transformer between a string and a value.
  ///
  /// ```swift
  /// "size": .text("a size as \"3x4\"", parse: Size.init, print: \.description)
  /// ```
  ///
  /// - Parameters:
  ///   - expectation: A description of valid strings, for the message of an error.
  ///   - parse: A closure that returns the value of a string, or `nil` if the string is invalid.
  ///   - print: A closure that returns the string of a value.
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

  /// A transformer between a URL and its string. The string must have a scheme, such as `https:`.
  /// Invalid characters are escaped, as in `URL(string:)`.
  public static var url: PropertyTransformer {
    text("a URL with a scheme as a string") {
      // "://" has an empty scheme.
      URL(string: $0).flatMap { ($0.scheme ?? "").isEmpty ? nil : $0 }
    } print: {
      $0.absoluteString
    }
  }

  /// A transformer between a UUID and its string.
  public static var uuid: PropertyTransformer {
    text("a UUID as a string") {
      UUID(uuidString: $0)
    } print: {
      $0.uuidString
    }
  }

  /// A transformer between a date and its ISO 8601 string.
  public static var iso8601Date: PropertyTransformer {
    text("a date in ISO 8601", parse: ISO8601Date.parse) { (date: Date) in
      guard let text = ISO8601Date.text(date) else {
        throw Self.mismatch("a date with a four-digit year")
      }
      return text
    }
  }

  /// A transformer between a date and the number of seconds since 1970.
  ///
  /// Numbers in strings are accepted as well. A number of 100,000,000,000 or more is interpreted as
  /// milliseconds, and a number of 100,000,000,000,000 or more as microseconds. Writing a date
  /// after the year 5138 is therefore an error. Use ``unixMilliseconds`` for such dates.
  public static var unixTime: PropertyTransformer {
    unixTime(UnixTime.expectation, read: UnixTime.detected) {
      guard let seconds = UnixTime.detectableSeconds($0) else {
        throw Self.mismatch("a date before the year 5138")
      }
      return seconds
    }
  }

  /// A transformer between a date and the number of milliseconds since 1970. Numbers in strings are
  /// accepted as well.
  public static var unixMilliseconds: PropertyTransformer {
    let unit = UnixTime.milliseconds
    return unixTime("milliseconds since 1970", read: unit.date, write: unit.number)
  }

  /// A transformer between a date and the number of microseconds since 1970. Numbers in strings are
  /// accepted as well.
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

  /// Creates a transformer between an integer and its string, such as `"42"`. Numbers are accepted
  /// as well.
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

  /// Creates a transformer that maps values to properties, such as names to the cases of an
  /// enumeration.
  ///
  /// ```swift
  /// "state": .mapping(["open": State.open, "closed": .closed], default: .unknown)
  /// ```
  ///
  /// If several entries have the same property, the value of the first one is written.
  ///
  /// - Parameters:
  ///   - values: The raw values and their properties.
  ///   - standard: The property for all other raw values, including `nil` and values of other
  ///     types. Without a default, `nil` is transformed into `nil` and other values are an error.
  ///   - reverseStandard: The raw value for a property without an entry. Without a default, `nil`
  ///     is transformed into `nil` and other properties are an error.
  public static func mapping<Property: Hashable & Sendable>(
    _ values: KeyValuePairs<Raw, Property>, default standard: Property? = nil,
    reverseDefault reverseStandard: Raw? = nil
  ) -> PropertyTransformer {
    let properties = Dictionary(values.map { ($0.key, $0.value) }) { first, _ in first }
    let raws = Dictionary(values.map { ($0.value, $0.key) }) { first, _ in first }
    return PropertyTransformer { (raw: Raw) -> Property? in
      if let property = properties[raw] ?? standard { return property }
      if raw.isNothing { return nil }
      throw Self.mismatch(
        properties.count == 1
          ? "the only known value" : "one of \(properties.count) known values")
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

/// Standard transformers between numbers and formatted strings. Nil is transformed into `nil` in
/// both directions, and numbers are accepted as well.
extension PropertyTransformer {
  /// Creates a transformer between an integer and a formatted string.
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

  /// Creates a transformer between a floating-point number and a formatted string.
  public static func number<Number: BinaryFloatingPoint & Sendable>(
    _ type: Number.Type, format: JSONNumberFormat
  ) -> PropertyTransformer {
    formatted(ModelExpectation.floating(type), format) { (number: JSONNumber) -> Number? in
      number.double.map(Number.init).flatMap { $0.isFinite ? $0 : nil }
    } number: {
      // The shortest string that represents the number in its own precision: 0.1 remains 0.1.
      JSONNumber(text: "\($0)")
    }
  }

  /// Creates a transformer between a decimal number and a formatted string. Numbers are exact to 38
  /// digits.
  public static func number(_ type: Decimal.Type, format: JSONNumberFormat) -> PropertyTransformer {
    formatted(ModelExpectation.decimal, format) {
      $0.decimal
    } number: {
      JSONNumber($0)
    }
  }

  /// Creates a transformer between a number and a formatted string. Messages describe the number as
  /// `expectation`. `property` and `number` convert the number to the property and back, and return
  /// `nil` if that isn't possible.
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
      guard let number = parsed.flatMap({ $0 }) else {
        guard raw.textForm != nil else { throw mismatch("a number or a string") }
        throw mismatch("a number such as \"\(format.example)\"", .unparsableValue)
      }
      guard let value = property(number) else {
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
