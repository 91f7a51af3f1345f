/// A comparison that an index can evaluate (a sargable condition).
///
/// Values have the kind of the indexed field: `.integer`, `.double` (which represents the values of
/// `float` fields exactly), `.boolean`, `.decimal`, `.string`, `.date`, `.binary`, `.uuid` or
/// `.uri`. An object is represented by the raw value of its object number, as `.integer`.
package struct IndexableTerm: Sendable {
  package enum Subject: Sendable, Hashable {
    /// An attribute of the fetched entity, by slot.
    case attribute(slot: Int)
    /// A to-one relationship of the fetched entity, by slot.
    case toOne(slot: Int)
    /// A part of a JSON attribute of the fetched entity, by slot and keys.
    case part(slot: Int, keys: [String])
    /// Any element of a list in a JSON attribute, by slot and keys. Several conditions may concern
    /// several elements.
    case elements(slot: Int, keys: [String])
    case object
  }

  package enum Condition: Sendable, Hashable {
    /// A single value. `.null` matches `nil`.
    case equals(PropertyValue)
    /// One of several values, sorted and distinct. They may include `.null`.
    case anyOf([PropertyValue])
    /// The values between two bounds. Ranges never include `nil`: a range without a lower bound has
    /// the excluded lower bound `.null`, which by itself matches everything except `nil`.
    case range(
      lower: PropertyValue, isLowerIncluded: Bool, upper: PropertyValue?, isUpperIncluded: Bool)
    /// The strings that start with a non-empty prefix.
    case prefix(String)
    /// The strings that contain all of the words.
    case words([TokenQuery.Token])
  }

  package let subject: Subject
  package let condition: Condition
  /// The folding of the comparison. Strings in the condition are already folded.
  package let folding: StringFolding
  /// Whether the condition is equivalent to the comparison, so that matches need not be rechecked.
  package let isExact: Bool

  package init(
    subject: Subject, condition: Condition, folding: StringFolding = .none, isExact: Bool
  ) {
    self.subject = subject
    self.condition = condition
    self.folding = folding
    self.isExact = isExact
  }
}

extension IndexableTerm.Condition {
  /// Returns a condition that matches any of the values, in any order, or `nil` if there are none.
  package static func among(_ values: [PropertyValue]) -> IndexableTerm.Condition? {
    var sorted: [PropertyValue] = []
    for value in values.sorted(by: { PropertyValue.compare($0, $1) == .less }) {
      if let last = sorted.last, PropertyValue.compare(last, value) == .equal { continue }
      sorted.append(value)
    }
    if sorted.count > 1 { return .anyOf(sorted) }
    return sorted.first.map { .equals($0) }
  }
}
