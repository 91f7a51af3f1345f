/// What one operation may take; what a request and its predicates allow, together.
package struct WorkAllowance: Sendable, Hashable {
  /// How long it may run; nil for as long as it takes.
  package var timeLimit: Duration?
  /// How many elements of collections it may evaluate; nil for any number.
  package var elements: Int?
  /// The bytes and elements that computed values may have; nil for ``standardValueSize``.
  package var valueSize: Int?

  /// The bytes of texts and data, and the elements of collections, that an operation holds at most
  /// while it computes values.
  package static let standardValueSize = 16 << 20

  package init(timeLimit: Duration? = nil, elements: Int? = nil, valueSize: Int? = nil) {
    self.timeLimit = timeLimit
    self.elements = elements
    self.valueSize = valueSize == Self.standardValueSize ? nil : valueSize
  }

  package var isUnlimited: Bool { timeLimit == nil && elements == nil && valueSize == nil }

  /// What both allow.
  package func narrowed(by other: WorkAllowance) -> WorkAllowance {
    WorkAllowance(
      timeLimit: Self.lesser(timeLimit, other.timeLimit),
      elements: Self.lesser(elements, other.elements),
      valueSize: Self.lesser(valueSize, other.valueSize))
  }

  private static func lesser<Limit: Comparable>(_ left: Limit?, _ right: Limit?) -> Limit? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}
