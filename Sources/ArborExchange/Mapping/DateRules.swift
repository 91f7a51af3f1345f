/// How one way of exchange reads dates, beyond what the attributes' own notes say.
struct DateRules: Hashable {
  /// The Unicode pattern, or `UnixTime`, of attributes without a `DateFormat` of their own; nil:
  /// ISO 8601.
  var defaultFormat: String?
  /// Whether numbers are seconds since 1970 whatever the format.
  var acceptsNumbers = false
}
