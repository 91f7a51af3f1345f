import ArborJSON
import ArborModel
public import Foundation

/// Ready-made transformers of numbers that texts spell. Nil becomes nil in both directions, and
/// numbers are read as well.
extension PropertyTransformer {
  /// A whole number and its text in a format.
  ///
  /// ```swift
  /// "population": .number(Int.self, format: NumberFormat(groupingSeparator: ","))
  /// ```
  public static func number<Number: FixedWidthInteger & Sendable>(
    _ type: Number.Type, format: NumberFormat
  ) -> PropertyTransformer {
    formatted(ModelExpectation.integer(type), format) { number in
      number.int64.flatMap(Number.init(exactly:)) ?? number.uint64.flatMap(Number.init(exactly:))
    } number: {
      JSONNumber(text: "\($0)")
    }
  }

  /// A floating-point number and its text in a format.
  public static func number<Number: BinaryFloatingPoint & Sendable>(
    _ type: Number.Type, format: NumberFormat
  ) -> PropertyTransformer {
    formatted(ModelExpectation.floating(type), format) { (number: JSONNumber) -> Number? in
      number.double.map(Number.init).flatMap { $0.isFinite ? $0 : nil }
    } number: {
      // The shortest text that is the number, in its own width: 0.1 stays 0.1.
      JSONNumber(text: "\($0)")
    }
  }

  /// A decimal number and its text in a format, exact to 38 digits.
  public static func number(_ type: Decimal.Type, format: NumberFormat) -> PropertyTransformer {
    formatted(ModelExpectation.decimal, format) {
      $0.decimal
    } number: {
      JSONNumber($0)
    }
  }

  /// A number, which is what messages call `expectation`, and its text: `property` and `number`
  /// turn the number into the property and back, nil where that is not possible.
  private static func formatted<Property>(
    _ expectation: String, _ format: NumberFormat,
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
          "\(expectation), as a text or a number",
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
