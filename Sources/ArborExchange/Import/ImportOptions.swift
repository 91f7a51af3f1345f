public import ArborModel

/// How an import reads what the model does not determine.
public struct ImportOptions: Sendable, Hashable {
  /// The Unicode date pattern, or `UnixTime`, of date attributes without a `DateFormat` in their
  /// `userInfo`; nil, at first: ISO 8601.
  public var dateFormat: String?
  /// Whether a value of the wrong kind counts as null, as a date that does not parse does, instead
  /// of being an error; off at first. A list in which an item lacks its identity then makes
  /// nothing.
  public var lenient = false
  /// The size and depth beyond which a file is refused.
  public var limits = JSONLimits()

  /// The default options.
  public init() {}
}
