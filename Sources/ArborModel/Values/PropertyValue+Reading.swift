public import ArborFoundation

// Accessors that return the value as a Swift type, or `nil` if it has another kind or is null. They
// don't convert between kinds, except between numeric types.
extension PropertyValue {
  /// The Boolean, or `nil` for any other value.
  public var bool: Bool? {
    if case .boolean(let flag) = self { flag } else { nil }
  }

  /// The number as an integer, regardless of its numeric type, or `nil` if it has a fractional part
  /// or doesn't fit.
  ///
  /// ```swift
  /// let oldest = try query.value(of: .maximum("age"))?.int
  /// ```
  public var int: Int? { int64.flatMap(Int.init(exactly:)) }

  /// The number as a 64-bit integer, or `nil` if it isn't one; see ``int``.
  public var int64: Int64? {
    switch self {
    case .integer(let number): return number
    case .double(let number): return Int64(exactly: number)
    case .decimal(let number):
      let whole = number.truncated
      return whole == number ? Int64(whole.description) : nil
    default: return nil
    }
  }

  /// The number as a floating-point number, rounded to the nearest one, or `nil` for any other
  /// value.
  public var double: Double? {
    if case .boolean = self { return nil }
    return floating
  }

  /// The number as a decimal, or `nil` if it cannot be represented as one. A floating-point number
  /// is converted by its shortest text.
  public var decimal: Decimal? {
    switch self {
    case .decimal(let number): number
    case .integer(let number): Decimal(number)
    case .double(let number): number.isFinite ? Decimal(string: "\(number)") : nil
    default: nil
    }
  }

  /// The string, or `nil` for any other value.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The point in time, or `nil` for any other value.
  public var date: Date? {
    if case .date(let date) = self { date } else { nil }
  }

  /// The bytes, or `nil` for any other value.
  public var data: Data? {
    if case .binary(let data) = self { data } else { nil }
  }

  /// The universally unique identifier, or `nil` for any other value.
  public var uuid: UUID? {
    if case .uuid(let uuid) = self { uuid } else { nil }
  }

  /// The URI, or `nil` for any other value.
  public var url: URL? {
    if case .uri(let url) = self { url } else { nil }
  }

  /// The ID of the object, or `nil` for any other value.
  public var objectID: ObjectID? {
    if case .objectID(let id) = self { id } else { nil }
  }

  /// The list, or `nil` for any other value.
  public var list: [PropertyValue]? {
    if case .list(let values) = self { values } else { nil }
  }

  /// The named parts of a composite, or `nil` for any other value.
  public var composite: [String: PropertyValue]? {
    if case .composite(let parts) = self { parts } else { nil }
  }
}
