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
  public var numberFormat: NumberFormat?
  /// Whether a value of the wrong kind counts as null, as a date that does not parse does, instead
  /// of being an error; off at first. A list in which an item lacks its identity then makes
  /// nothing.
  public var lenient = false
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
