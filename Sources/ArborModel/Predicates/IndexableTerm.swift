/// A comparison that an index can serve.
///
/// Values are of the indexed field's kind: `.integer`, `.double` (which a `float` field holds
/// exactly), `.boolean`, `.decimal`, `.string`, `.date`, `.binary`, `.uuid`, `.uri`. An object is
/// `.integer` of its object number's raw value.
package struct IndexableTerm: Sendable {
  package enum Subject: Sendable, Hashable {
    /// An attribute of the fetched entity, by its slot.
    case attribute(slot: Int)
    /// A to-one relationship of the fetched entity, by its slot.
    case toOne(slot: Int)
    /// The fetched object itself.
    case object
  }

  package enum Condition: Sendable, Hashable {
    /// One value; `.null` asks for nil.
    case equals(PropertyValue)
    /// One of several values, in order and different from one another; may hold `.null`.
    case anyOf([PropertyValue])
    /// Everything between two bounds. Nil never lies in a range: a range without lower bound has
    /// the lower bound `.null`, not included, which alone asks for whatever is not nil.
    case range(
      lower: PropertyValue, isLowerIncluded: Bool, upper: PropertyValue?, isUpperIncluded: Bool)
    /// The texts that begin with one that is not empty.
    case prefix(String)
    /// The texts that have all of some words.
    case words([TokenQuery.Token])
  }

  package let subject: Subject
  package let condition: Condition
  /// What of texts the comparison overlooks; the condition's texts are folded likewise.
  package let folding: StringFolding
  /// Whether the condition says all that the comparison says, so that hits need no second look.
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
  /// One of some values in any order; nil where none exists.
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
