extension ModelDifference {
  /// The conversion of an attribute's values when its type changes.
  public enum ValueConversion: Sendable, Hashable, CaseIterable {
    /// The values remain unchanged.
    case identity
    /// Numbers are converted to a type that can represent all of them.
    case widening
    /// Numbers are converted to another type if it can represent them exactly, so that converting
    /// them back yields the same number.
    case narrowing
    /// False becomes 0, true becomes 1.
    case booleanToInteger
    /// A UUID becomes its uppercase string.
    case uuidToString
    /// A URI becomes its string.
    case uriToString
    /// A date becomes the number of seconds since 2001-01-01 UTC.
    case dateToDouble
    /// The conversion requires code.
    case custom

    /// The conversions of values that are read as another kind, by the stored kind, except for the
    /// widening of numbers.
    private static let readings: [FieldKind: ValueConversion] = [
      .boolean: .booleanToInteger, .uuid: .uuidToString, .uri: .uriToString, .date: .dateToDouble,
    ]

    /// Creates the conversion between two types.
    init(from old: AttributeType, to new: AttributeType) {
      self =
        switch (old, new) {
        case _ where old == new: .identity
        // Untyped values are stored with their type; transformed values are bytes.
        case (_, .undefined), (.transformable, .binary), (.transformable, .transformable): .identity
        case _ where old.kind.isNumber && new.kind.isNumber:
          FieldKind(old).converts(to: FieldKind(new)) ? .widening : .narrowing
        case _ where FieldKind(old).stored.readAs.contains(FieldKind(new)):
          Self.readings[FieldKind(old)] ?? .custom
        default: .custom
        }
    }

    /// A Boolean value that indicates whether every value can be converted automatically.
    public var isCertain: Bool { self != .narrowing && self != .custom }
  }
}
