package import ArborFoundation
internal import ArborLocks

/// The functions that need all of Foundation and its Unicode library, ICU, whose data alone takes
/// up 30 MB. `ArborLocale` implements them; programs that use `ArborCore` don't include it.
package protocol LocaleServices: Sendable {
  /// Returns the order of two strings by the rules of a locale, or by code points without one.
  ///
  /// - Parameters:
  ///   - folding: The differences to ignore.
  ///   - isNumeric: Whether digits are compared as numbers.
  func order(
    _ left: String, _ right: String, ignoring folding: StringFolding, isNumeric: Bool,
    _ locale: Locale?
  ) -> Ordering

  /// Returns a regular expression.
  ///
  /// - Throws: An error if the pattern is malformed.
  func expression(_ pattern: String, ignoresCase: Bool) throws -> any BoundedExpression

  /// Returns a format for a Unicode date pattern.
  ///
  /// - Parameter zone: The time zone of dates without one.
  func dateFormat(_ pattern: String, zone: TimeZone, locale: Locale) -> any DateTextFormat

  /// Returns the separators that a locale uses in numbers.
  func separators(of locale: Locale) -> (decimal: String, grouping: String?)

  /// The identifiers of the known time zones, for suggestions in messages.
  var timeZones: [String] { get }
}

/// A format that parses and formats dates. It can be used on any thread.
package protocol DateTextFormat: Sendable {
  /// Returns the date that a string represents, or `nil` if the string doesn't have the format.
  func date(_ text: String) -> Date?
  func text(_ date: Date) -> String
}

/// The locale services that the program includes.
package enum LocaleSupport {
  private static let provided = Lock<(any LocaleServices)?>(nil)

  /// Provides the services. Must be called before the library is first used.
  package static func provide(_ services: any LocaleServices) {
    provided.withLock { $0 = services }
  }

  /// The services, or `nil` if the program doesn't include them. A constant, so that reading it
  /// takes no lock.
  package static let services = provided.withLock { $0 }

  /// Returns the services for a feature that needs them.
  ///
  /// - Throws: ``ArborError`` `unsupported` if the program doesn't include them.
  package static func services(
    for feature: @autoclosure () -> String
  ) throws(ArborError) -> any LocaleServices {
    if let services { return services }
    throw ArborError(
      .unsupported, "ArborCore doesn't support \(feature()). Use the ArborData product instead.")
  }
}
