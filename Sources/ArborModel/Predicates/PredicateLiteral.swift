internal import ArborFoundation

/// The text form of constants. Among those that have no literal in Core Data's language, dates and
/// decimals use `CAST`, and the others use calls that only this library supports.
///
/// ```
/// CAST(700000000.5, "NSDate")            seconds since 2001-01-01 UTC
/// date("2024-01-01T00:00:00Z")           ISO 8601; parsed, never printed, like CAST("…", "NSDate")
/// date("2024-01-01", "Europe/Berlin")    the time zone for text without one; default UTC
/// CAST("12.50", "NSDecimalNumber")
/// uuid("…")  uri("…")  objectID("arbor://…")  data("0a1b")  value("0a1b")
/// ```
enum PredicateLiteral {
  static func text(of value: PropertyValue) -> String {
    switch value {
    case .null: "NIL"
    case .boolean(let flag): flag ? "TRUE" : "FALSE"
    case .integer(let number): number.description
    case .double(let number):
      number.isFinite ? number.description : "CAST(\"\(number)\", \"NSNumber\")"
    case .decimal(let number): "CAST(\"\(number)\", \"NSDecimalNumber\")"
    case .string(let text): quoted(text)
    case .date(let date):
      "CAST(\(text(of: .double(date.timeIntervalSinceReferenceDate))), \"NSDate\")"
    case .binary(let data): "data(\"\(hexadecimal(data))\")"
    case .uuid(let uuid): "uuid(\"\(uuid.uuidString)\")"
    case .uri(let url): "uri(\(quoted(url.absoluteString)))"
    case .objectID(let id): "objectID(\(quoted(id.description)))"
    case .list(let values): "{" + values.map(text).joined(separator: ", ") + "}"
    case .composite: "value(\"\(hexadecimal(ValueCodec.encode(value)))\")"
    }
  }

  /// Returns a string in double quotes, with escapes where necessary.
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          quoted += escape(scalar.value)
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  /// Returns an escape of the form `\uHHHH`.
  static func escape(_ code: UInt32) -> String {
    let digits = String(code, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Returns the constant for a literal written as a call with a text, or `nil` if the text is
  /// invalid.
  static func constant(_ name: String, _ text: String) -> PropertyValue? {
    switch name {
    case "date": ISO8601Date.parse(text).map(PropertyValue.date)
    case "uuid": UUID(uuidString: text).map(PropertyValue.uuid)
    case "uri": URL(string: text).map(PropertyValue.uri)
    case "objectID": (try? ObjectID(text)).map(PropertyValue.objectID)
    case "data": bytes(hexadecimal: text).map { .binary(Data($0)) }
    case "value": bytes(hexadecimal: text)?.withUnsafeBytes { ValueCodec.decode($0) }
    default: nil
    }
  }

  static let names: Set<String> = ["date", "uuid", "uri", "objectID", "data", "value"]

  static func cast(_ value: PropertyValue, to type: String) -> PropertyValue? {
    switch (type, value) {
    case ("NSDate", .integer(let seconds)):
      .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case ("NSDate", .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case ("NSDate", .decimal(let seconds)):
      Double(seconds.description).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case ("NSDate", .string(let text)): ISO8601Date.parse(text).map(PropertyValue.date)
    case ("NSDecimalNumber", .string(let text)): decimal(text)
    case ("NSDecimalNumber", .integer(let number)): .decimal(Decimal(number))
    case ("NSDecimalNumber", .double(let number)):
      number.isFinite ? DecimalDigits(number).decimal.map(PropertyValue.decimal) : nil
    case ("NSNumber", .string(let text)):
      Int64(text).map(PropertyValue.integer) ?? Double(text).map(PropertyValue.double)
    default: nil
    }
  }

  private static func decimal(_ text: String) -> PropertyValue? {
    // Foundation ignores text after a number, but here the entire text must be a number.
    guard text == "NaN" || Double(text) != nil else { return nil }
    return Decimal(string: text).map(PropertyValue.decimal)
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
