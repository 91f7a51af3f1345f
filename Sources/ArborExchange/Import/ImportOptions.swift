public import ArborJSON
public import Foundation

/// How an import reads what the model does not determine.
public struct ImportOptions: Sendable, Hashable {
  /// The Unicode date pattern, or `UnixTime`, `UnixTimeMilliseconds` or `UnixTimeMicroseconds`, of
  /// date attributes without a `DateFormat` in their `userInfo`; nil, at first: ISO 8601.
  public var dateFormat: String?
  /// The zone of dates whose text names none, in ISO 8601 or in a pattern; UTC at first.
  public var timeZone = TimeZone.gmt
  /// How texts spell the numbers of attributes without a `NumberFormat` in their `userInfo`; nil,
  /// at first: a text is no number.
  public var numberFormat: JSONNumberFormat?
  /// Conversions between JSON types; none at first.
  public var conversions: ImportConversions = []
  /// Whether what is not as expected is left out instead of being an error; off at first. An
  /// attribute with a value of the wrong kind becomes null, a relationship stays as it is, and an
  /// item without its identity is skipped. The ``report`` says what was left out.
  public var lenient = false
  /// Receives what a lenient import has left out, and names of the model that led nowhere; nil, at
  /// first, for nobody. The steps of an import that commits have the same.
  public var report: ImportReport?
  /// What happens to the members of relationships without a `MergePolicy` in their `userInfo`;
  /// ``ImportMergePolicy/replace`` at first.
  public var defaultMergePolicy = ImportMergePolicy.replace
  /// Where the items of a document with several stand; ``ImportLayout/list`` at first.
  public var layout = ImportLayout.list
  /// The greatest depth of a document, and the greatest size of a single item.
  public var limits = JSONLimits()
  /// The greatest number of items that are taken together: their identities are looked up in one
  /// fetch, and where the import commits they are one commit. 20,000 at first, at least 1.
  public var batchSize = 20_000
  /// When an import that commits has to be done, as a whole; nil, at first: whenever it is. One
  /// that is not ends within milliseconds with the error `deadlineExceeded`, and the batches before
  /// stay. An import in a context has the context's deadline.
  public var deadline: ContinuousClock.Instant?

  /// The default options.
  public init() {}
}

/// What an import does with the members that a relationship has. The names are those of a
/// `MergePolicy` in the model's `userInfo`.
public enum ImportMergePolicy: String, Sendable, Hashable, CaseIterable {
  /// Deletes the present members that no other object refers to, then imports those of the list,
  /// also with an identity that a deleted one had. A member that another object refers to is
  /// updated, or unlinked if the list lacks it.
  case replace = "Replace"
  /// Updates the members that the list names or adds them, and removes none.
  case merge = "Merge"
  /// Updates the members that the list names or adds them, and unlinks all others.
  case mergeAndPrune = "MergeAndPrune"
}

/// Conversions of values that documents made from spreadsheets need, in which every cell is a text.
///
/// ```swift
/// var options = ImportOptions()
/// options.conversions = .spreadsheet
/// ```
///
/// Without them a value of another JSON type than the attribute's is an error.
public struct ImportConversions: OptionSet, Sendable, Hashable {
  /// The conversions as bits.
  public let rawValue: Int

  /// Creates a set from bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An empty text is null, for attributes of every type.
  public static let emptyTextIsNull = ImportConversions(rawValue: 1)
  /// Booleans from the numbers 0 and 1 and the texts `0`, `1`, `yes`, `no`, `true` and `false`, in
  /// whatever case.
  public static let booleans = ImportConversions(rawValue: 2)
  /// Texts from numbers, as the document spells them. A number may then be a text identity.
  public static let textsFromNumbers = ImportConversions(rawValue: 4)
  /// Numbers from texts, as `.5`, `1e3` and `1'234.5`, where no ``ImportOptions/numberFormat`` and
  /// no `NumberFormat` of the model says how.
  public static let numbersFromTexts = ImportConversions(rawValue: 8)

  /// All of them.
  public static let spreadsheet: ImportConversions = [
    .emptyTextIsNull, .booleans, .textsFromNumbers, .numbersFromTexts,
  ]
}
