public import Foundation

/// A number of a JSON document, kept exactly as it was written.
///
/// Two numbers are equal when they denote the same number, however they are written: `1`, `1.0` and
/// `10e-1` are one. The text stays what it was, so that a document is written back unchanged.
///
/// ```swift
/// let value = try JSONValue.parse("12345678901234567890.10")
/// value.number?.decimal      // 12345678901234567890.1, no digit lost
/// value.number?.int64        // nil: it is not whole
/// ```
public struct JSONNumber: Sendable {
  /// The short form holds exactly the numbers whose text is that of an `Int64`.
  private enum Storage: Sendable {
    case integer(Int64)
    case text(String)
  }

  private let storage: Storage

  /// A whole number.
  public init(_ number: Int64) { storage = .integer(number) }

  /// A floating-point number in its shortest exact form; nil for infinities and NaN, which JSON
  /// does not have.
  public init?(_ number: Double) {
    guard number.isFinite else { return nil }
    self.init(checked: number.description)
  }

  /// A decimal number; nil for NaN, which JSON does not have.
  public init?(_ number: Decimal) {
    guard !number.isNaN else { return nil }
    self.init(text: number.description)
  }

  /// A number from its JSON text; nil where the text is no JSON number.
  public init?(text: String) {
    var text = text
    let form = text.withUTF8 { Self.form(of: UnsafeRawBufferPointer($0)) }
    guard form != nil else { return nil }
    self.init(checked: text)
  }

  /// A number from a text that is known to follow JSON's grammar.
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

  /// The number where it is whole and fits 64 bits with a sign, else nil. `1.0` and `1e3` are
  /// whole.
  public var int64: Int64? {
    switch storage {
    case .integer(let number): number
    case .text: normalForm?.integer.flatMap { Int64($0) }
    }
  }

  /// The number where it is whole, not negative and fits 64 bits, else nil.
  public var uint64: UInt64? {
    switch storage {
    case .integer(let number): UInt64(exactly: number)
    case .text: normalForm?.integer.flatMap { UInt64($0) }
    }
  }

  /// The nearest floating-point number, or nil where the number is beyond all of them.
  public var double: Double? {
    switch storage {
    case .integer(let number): Double(number)
    case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
  }

  /// The exact decimal number, or nil where 38 digits or the exponents of `Decimal` do not hold it.
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
  /// Whether two numbers denote the same number.
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

  /// Feeds the number, not its spelling, into a hasher.
  public func hash(into hasher: inout Hasher) {
    if let form = normalForm { hasher.combine(form) } else { hasher.combine(text) }
  }

  /// The number as it was written.
  public var description: String { text }
}
