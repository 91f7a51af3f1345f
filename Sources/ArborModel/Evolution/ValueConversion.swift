extension ModelDifference {
  /// What becomes of an attribute's values when its type changes.
  public enum ValueConversion: Sendable, Hashable, CaseIterable {
    /// They stay as they are.
    case identity
    /// A number becomes one of another type that holds every value of the former.
    case widening
    /// A number becomes one of another type, where that holds it: converted there and back it is the
    /// same.
    case narrowing
    /// No becomes 0, yes becomes 1.
    case booleanToInteger
    /// A UUID becomes its text in capitals.
    case uuidToString
    /// A URI becomes its text.
    case uriToString
    /// A date becomes the number of seconds since 2001-01-01 UTC.
    case dateToDouble
    /// Only code can tell.
    case custom

    /// How values of a kind are read as those of a kind that is no number or no wider one.
    private static let readings: [FieldKind: ValueConversion] = [
      .boolean: .booleanToInteger, .uuid: .uuidToString, .uri: .uriToString, .date: .dateToDouble,
    ]

    /// The conversion from one type to another.
    init(from old: AttributeType, to new: AttributeType) {
      self =
        switch (old, new) {
        case _ where old == new: .identity
        // A value without a type is stored with its own; a transformed one is bytes.
        case (_, .undefined), (.transformable, .binary), (.transformable, .transformable): .identity
        case _ where old.kind.isNumber && new.kind.isNumber:
          FieldKind(old).converts(to: FieldKind(new)) ? .widening : .narrowing
        case _ where FieldKind(old).stored.readAs.contains(FieldKind(new)):
          Self.readings[FieldKind(old)] ?? .custom
        default: .custom
        }
    }

    /// Whether every value converts by itself.
    public var isCertain: Bool { self != .narrowing && self != .custom }
  }
}
