import Foundation

/// How one way of exchange reads dates and numbers, beyond what the attributes' own notes say.
struct TextRules: Hashable {
  /// The format of date attributes without a `DateFormat` of their own; nil: ISO 8601.
  var dateFormat: String?
  /// The zone of dates whose text names none.
  var timeZone = TimeZone.gmt
  /// Whether a date in ISO 8601 may also be a number of ``UnixTime``.
  var acceptsNumbers = false
  /// How numbers are written as texts, of attributes without a `NumberFormat` of their own; nil:
  /// such texts are no numbers.
  var numberFormat: NumberFormat?
  /// Conversions between JSON types; none at first.
  var conversions: ImportConversions = []
}
