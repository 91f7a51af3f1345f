public import Foundation

// What a value holds, as Swift types. Each accessor is nil where the value holds something else, as
// null does; none converts between kinds, but numbers are what they are worth.
extension PropertyValue {
  /// The Boolean it holds.
  public var bool: Bool? {
    if case .boolean(let flag) = self { flag } else { nil }
  }

  /// The whole number it holds, whichever kind of number it is; nil for a fraction, and for what
  /// has no room.
  ///
  /// ```swift
  /// let oldest = try query.value(of: .maximum("age"))?.int
  /// ```
  public var int: Int? { int64.flatMap(Int.init(exactly:)) }

  /// The whole number it holds, as ``int``, with 64 bits everywhere.
  public var int64: Int64? {
    switch self {
    case .integer(let number): return number
    case .double(let number): return Int64(exactly: number)
    case .decimal(var number):
      var rounded = Decimal()
      NSDecimalRound(&rounded, &number, 0, .plain)
      return rounded == number ? Int64(rounded.description) : nil
    default: return nil
    }
  }

  /// The number it holds as floating point, the nearest one where no other is equal.
  public var double: Double? {
    if case .boolean = self { return nil }
    return floating
  }

  /// The number it holds as a decimal; of floating point the one that its shortest text denotes.
  public var decimal: Decimal? {
    switch self {
    case .decimal(let number): number
    case .integer(let number): Decimal(number)
    case .double(let number): number.isFinite ? Decimal(string: "\(number)") : nil
    default: nil
    }
  }

  /// The text it holds.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The point in time it holds.
  public var date: Date? {
    if case .date(let date) = self { date } else { nil }
  }

  /// The bytes it holds.
  public var data: Data? {
    if case .binary(let data) = self { data } else { nil }
  }

  /// The universally unique identifier it holds.
  public var uuid: UUID? {
    if case .uuid(let uuid) = self { uuid } else { nil }
  }

  /// The URI it holds.
  public var url: URL? {
    if case .uri(let url) = self { url } else { nil }
  }

  /// The identity of the object it holds.
  public var objectID: ObjectID? {
    if case .objectID(let id) = self { id } else { nil }
  }

  /// The values it holds in order.
  public var list: [PropertyValue]? {
    if case .list(let values) = self { values } else { nil }
  }

  /// The named parts it holds.
  public var composite: [String: PropertyValue]? {
    if case .composite(let parts) = self { parts } else { nil }
  }
}
