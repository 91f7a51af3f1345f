internal import ArborFoundation

/// The values of a field between two bounds, both of which the field can represent.
struct IndexRange {
  /// The lower bound, or `.null` if there is none. Ranges never include `nil`.
  let lower: PropertyValue
  let isLowerIncluded: Bool
  let upper: PropertyValue?
  let isUpperIncluded: Bool

  var condition: IndexableTerm.Condition {
    .range(
      lower: lower, isLowerIncluded: isLowerIncluded, upper: upper,
      isUpperIncluded: isUpperIncluded)
  }

  private init(
    lower: PropertyValue, _ isLowerIncluded: Bool, upper: PropertyValue?, _ isUpperIncluded: Bool
  ) {
    self.lower = lower
    self.isLowerIncluded = isLowerIncluded
    self.upper = upper
    self.isUpperIncluded = isUpperIncluded
  }

  /// Creates the range of values that satisfy a comparison with a constant, or returns `nil` if the
  /// range is empty.
  init?(_ comparison: ComparisonOperator, _ constant: PropertyValue, kind: FieldKind) {
    switch (kind.form, kind.width) {
    case (.flag, _):
      let interval = WholeNumbers.interval(comparison, constant).intersection(.closed(0, 1))
      self.init(interval, least: nil, greatest: nil) { kind.stored.value(ofWhole: $0) }
    case (.whole, 2): self.init(comparison, constant, whole: Int16.self)
    case (.whole, 4): self.init(comparison, constant, whole: Int32.self)
    case (.whole, _), (.reference, _): self.init(comparison, constant, whole: Int64.self)
    case (.real, _):
      self.init(
        kind.realInterval(comparison, constant), least: -.infinity, greatest: .infinity
      ) { kind.stored.value(ofReal: $0) }
    case (.decimal, _): self.init(comparison, constant) { Self.decimal($0) }
    case (.text, _), (.identifier, _):
      self.init(comparison, constant) { value in
        FieldComparison.storedBytes(of: value, in: kind).map { _ in (value, .equal) }
      }
    case (.tagged, _): return nil
    }
  }

  private init?(
    _ comparison: ComparisonOperator, _ constant: PropertyValue,
    whole: (some FixedWidthInteger & SignedInteger).Type
  ) {
    let bounds = NumericInterval.closed(Int64(whole.min), Int64(whole.max))
    self.init(
      WholeNumbers.interval(comparison, constant).intersection(bounds), least: Int64(whole.min),
      greatest: Int64(whole.max), PropertyValue.integer)
  }

  /// - Parameters:
  ///   - least: The least value of the field. As a lower bound, it is equivalent to none.
  ///   - greatest: The greatest value of the field. As an upper bound, it is equivalent to none.
  private init?<Number>(
    _ interval: NumericInterval<Number>, least: Number?, greatest: Number?,
    _ value: (Number) -> PropertyValue
  ) {
    guard case .closed(let lower, let upper) = interval else { return nil }
    let isOpenBelow = lower == least && lower != upper
    let isOpenAbove = upper == greatest && lower != upper
    self.init(
      lower: isOpenBelow ? .null : value(lower), !isOpenBelow,
      upper: isOpenAbove ? PropertyValue?.none : value(upper), !isOpenAbove)
  }

  /// Creates a range for kinds whose constants are compared without conversion.
  ///
  /// - Parameter nearest: A closure that returns a representable value near a constant, and the
  ///   order of the constant relative to it, or `nil` if the constant has another kind.
  private init?(
    _ comparison: ComparisonOperator, _ constant: PropertyValue,
    _ nearest: (PropertyValue) -> (PropertyValue, Ordering)?
  ) {
    if comparison == .between {
      guard case .list(let bounds) = constant, bounds.count == 2,
        let lower = Self(.greaterOrEqual, bounds[0], nearest),
        let upper = Self(.lessOrEqual, bounds[1], nearest)
      else { return nil }
      self.init(
        lower: lower.lower, lower.isLowerIncluded, upper: upper.upper, upper.isUpperIncluded)
      guard let upper = self.upper, !self.lower.isNull else { return }
      if PropertyValue.compare(self.lower, upper) == .greater { return nil }
      return
    }
    guard let (value, order) = nearest(constant) else { return nil }
    switch comparison {
    case .equal:
      guard order == .equal else { return nil }
      self.init(lower: value, true, upper: value, true)
    case .less: self.init(lower: .null, false, upper: value, order == .greater)
    case .lessOrEqual: self.init(lower: .null, false, upper: value, order != .less)
    case .greater: self.init(lower: value, order == .less, upper: nil, false)
    case .greaterOrEqual: self.init(lower: value, order != .greater, upper: nil, false)
    default: return nil
    }
  }

  /// Returns a decimal near a number, and the order of the number relative to it, or `nil` if the
  /// constant has no position among decimals. The decimal is exact except for floating-point
  /// numbers outside the range of decimals.
  private static func decimal(_ constant: PropertyValue) -> (PropertyValue, Ordering)? {
    if case .decimal(let number) = constant { return number.isNaN ? nil : (constant, .equal) }
    if let exact = constant.numberKey?.withUnsafeBytes(DecimalCodec.decode) {
      return (.decimal(exact), .equal)
    }
    guard case .double(let number) = constant, !number.isNaN else { return nil }
    if number.magnitude < 1 { return (.decimal(0), number > 0 ? .greater : .less) }
    let extreme = number > 0 ? Decimal.greatestFiniteMagnitude : -Decimal.greatestFiniteMagnitude
    return (.decimal(extreme), number > 0 ? .greater : .less)
  }
}
