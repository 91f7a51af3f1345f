public import ArborFoundation
public import ArborJSON

/// Options for reading documents, which apply where the model doesn't specify them.
public struct ImportOptions: Sendable, Hashable {
  /// The format of date attributes without a `DateFormat` in their `userInfo`.
  ///
  /// A Unicode date pattern, `UnixTime`, `UnixTimeMilliseconds` or `UnixTimeMicroseconds`. `nil`,
  /// the default, is ISO 8601.
  public var dateFormat: String?
  /// The time zone of dates whose strings, in ISO 8601 or in a pattern, don't contain one. Defaults
  /// to UTC.
  public var timeZone = TimeZone.gmt
  /// The format of numbers in strings, for attributes without a `NumberFormat` in their `userInfo`.
  /// If `nil`, the default, strings are not accepted as numbers.
  public var numberFormat: JSONNumberFormat?
  /// The conversions between JSON types. Defaults to none.
  public var conversions: ImportConversions = []
  /// A Boolean value that indicates whether unexpected values are skipped instead of causing an
  /// error. Defaults to `false`.
  ///
  /// An attribute with a value of the wrong type is set to null, a relationship is left unchanged,
  /// and an item without its identity is skipped. So is an outermost item, with everything that it
  /// contains, if it cannot be imported or if an object that it describes or changes breaks a rule
  /// of the model, a uniqueness constraint or a validation hook. The ``report`` lists the skipped
  /// values and items.
  ///
  /// A broken rule is attributed to the last item that sets the property, otherwise to the first
  /// that describes the object, otherwise to the last that changes it. The import, or the batch of
  /// an import that commits, is repeated without the skipped items, so hooks may be called several
  /// times.
  public var lenient = false
  /// The report that receives the values and items skipped by a lenient import, and names in the
  /// model that were never found. Defaults to `nil`. The steps of an import that commits contain
  /// the same findings.
  public var report: ImportReport?
  /// The treatment of existing members of relationships without a `MergePolicy` in their
  /// `userInfo`. Defaults to ``ImportMergePolicy/replace``.
  public var defaultMergePolicy = ImportMergePolicy.replace
  /// The location of the items in a document. Defaults to ``ImportLayout/list``.
  public var layout = ImportLayout.list
  /// The maximum depth of a document, and the maximum size of a single item.
  public var limits = JSONLimits()
  /// The maximum number of items processed together, at least 1. Defaults to 20,000.
  ///
  /// Their identities are looked up in one fetch, and in an import that commits they form one
  /// commit.
  public var batchSize = 20_000
  /// The deadline of an entire import that commits, or `nil`, the default, for none.
  ///
  /// An import that doesn't finish in time ends within milliseconds with the error
  /// `deadlineExceeded`; earlier batches remain committed. An import in a context uses the
  /// context's deadline.
  public var deadline: ContinuousClock.Instant?

  /// Creates options with default values.
  public init() {}
}

/// The treatment of existing members of a relationship. The raw values are those of `MergePolicy`
/// in the model's `userInfo`.
public enum ImportMergePolicy: String, Sendable, Hashable, CaseIterable {
  /// Deletes existing members that no other object refers to, then imports the listed ones, even if
  /// a deleted member had the same identity.
  ///
  /// A member that another object refers to is updated, or unlinked if it isn't listed.
  case replace = "Replace"
  /// Updates or adds the listed members and removes none.
  case merge = "Merge"
  /// Updates or adds the listed members and unlinks all others.
  case mergeAndPrune = "MergeAndPrune"
}

/// Conversions for documents created from spreadsheets, in which every cell is a string.
///
/// ```swift
/// var options = ImportOptions()
/// options.conversions = .spreadsheet
/// ```
///
/// Without them, a value whose JSON type differs from the attribute's is an error.
public struct ImportConversions: OptionSet, Sendable, Hashable {
  /// The conversions as a bit mask.
  public let rawValue: Int

  /// Creates a set of conversions from a bit mask.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Empty strings are read as null, for attributes of any type.
  public static let emptyTextIsNull = ImportConversions(rawValue: 1)
  /// Booleans can be read from the numbers 0 and 1 and the strings `0`, `1`, `yes`, `no`, `true`
  /// and `false`, ignoring case.
  public static let booleans = ImportConversions(rawValue: 2)
  /// Strings can be read from numbers, as written in the document. This allows numbers as values of
  /// string identities.
  public static let textsFromNumbers = ImportConversions(rawValue: 4)
  /// Numbers can be read from strings such as `.5`, `1e3` and `1'234.5`, unless a format is
  /// specified by ``ImportOptions/numberFormat`` or by `NumberFormat` in the model.
  public static let numbersFromTexts = ImportConversions(rawValue: 8)
  /// Strings are stored in their composed form (NFC), also as identities, so that items whose keys
  /// are canonically equivalent describe one object.
  ///
  /// Without it, strings are stored as they are, and composed and decomposed "é" are different
  /// keys. It doesn't change strings that are already stored.
  public static let normalizesText = ImportConversions(rawValue: 16)

  /// All conversions between JSON types.
  public static let spreadsheet: ImportConversions = [
    .emptyTextIsNull, .booleans, .textsFromNumbers, .numbersFromTexts,
  ]
}
