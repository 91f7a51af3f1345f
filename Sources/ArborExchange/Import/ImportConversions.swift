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
