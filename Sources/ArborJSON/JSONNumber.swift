public import ArborFoundation

/// A number in a JSON document, preserved exactly as written.
///
/// Two numbers are equal if they have the same numeric value: `1`, `1.0` and `10e-1` are equal. The
/// original text is kept, so that writing a parsed document doesn't change its numbers.
///
/// ```swift
/// let value = try JSONValue.parse("12345678901234567890.10")
/// value.number?.decimal      // 12345678901234567890.1, no digits lost
/// value.number?.int64        // nil: not an integer
/// ```
public struct JSONNumber: Sendable {
  /// `integer` is used for exactly the numbers whose text is the decimal form of an `Int64`.
  private enum Storage: Sendable {
    case integer(Int64)
    case text(String)
  }

  private let storage: Storage

  /// Creates an integer.
  public init(_ number: Int64) { storage = .integer(number) }

  /// Creates a number from the shortest exact text of a floating-point number. Returns `nil` for
  /// infinities and NaN, which JSON cannot represent.
  public init?(_ number: Double) {
    guard number.isFinite else { return nil }
    self.init(checked: number.description)
  }

  /// Creates a decimal number. Returns `nil` for NaN, which JSON cannot represent.
  public init?(_ number: Decimal) {
    guard !number.isNaN else { return nil }
    self.init(text: number.description)
  }

  /// Creates a number from its JSON text. Returns `nil` if the text is not a valid JSON number.
  public init?(text: String) {
    var text = text
    let form = text.withUTF8 { Self.form(of: UnsafeRawBufferPointer($0)) }
    guard form != nil else { return nil }
    self.init(checked: text)
  }

  /// Creates a number from text that has already been validated.
  package init(checked text: String) {
    if let number = Int64(text), text != "-0" {
      storage = .integer(number)
    } else {
      storage = .text(text)
    }
  }

  /// The number as it was written.
  public var text: String {
    switch storage {
    case .integer(let number): String(number)
    case .text(let text): text
    }
  }

  /// The number as a signed 64-bit integer, or `nil` if it has a fractional part or doesn't fit.
  /// `1.0` and `1e3` are integers.
  public var int64: Int64? {
    switch storage {
    case .integer(let number): number
    case .text: normalForm?.integer.flatMap { Int64($0) }
    }
  }

  /// The number as an unsigned 64-bit integer, or `nil` if it is negative, has a fractional part or
  /// doesn't fit.
  public var uint64: UInt64? {
    switch storage {
    case .integer(let number): UInt64(exactly: number)
    case .text: normalForm?.integer.flatMap { UInt64($0) }
    }
  }

  /// The nearest floating-point number, or `nil` if the number exceeds the range of `Double`.
  public var double: Double? {
    switch storage {
    case .integer(let number): Double(number)
    case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
  }

  /// The exact decimal number, or `nil` if it needs more than 38 digits or exceeds the exponent
  /// range of `Decimal`.
  public var decimal: Decimal? {
    switch storage {
    case .integer(let number): Decimal(number)
    case .text: normalForm?.decimal
    }
  }

  private var normalForm: JSONNumberForm? {
    switch storage {
    case .integer(let number): JSONNumberForm(String(number))
    case .text(let text): JSONNumberForm(text)
    }
  }
}

extension JSONNumber: Hashable, CustomStringConvertible {
  /// Returns whether two numbers have the same numeric value.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left.storage, right.storage) {
    case (.integer(let left), .integer(let right)): left == right
    case (.text(let left), .text(let right)) where left == right: true
    default:
      if let leftForm = left.normalForm, let rightForm = right.normalForm {
        leftForm == rightForm
      } else {
        false
      }
    }
  }

  /// Hashes the numeric value, independent of its spelling.
  public func hash(into hasher: inout Hasher) {
    if let form = normalForm { hasher.combine(form) } else { hasher.combine(text) }
  }

  /// The number as it was written.
  public var description: String { text }
}
