internal import ArborExchange
internal import ArborModel
internal import Foundation

/// The services of Foundation and ICU.
struct FoundationServices: LocaleServices {
  func order(
    _ left: String, _ right: String, ignoring folding: StringFolding, isNumeric: Bool,
    _ locale: Locale?
  ) -> Ordering {
    var rules: String.CompareOptions = isNumeric ? .numeric : []
    if folding.contains(.case) { rules.insert(.caseInsensitive) }
    if folding.contains(.diacritics) { rules.insert(.diacriticInsensitive) }
    switch left.compare(right, options: rules, range: nil, locale: locale) {
    case .orderedAscending: return .less
    case .orderedSame: return .equal
    case .orderedDescending: return .greater
    }
  }

  func expression(_ pattern: String, ignoresCase: Bool) throws -> any BoundedExpression {
    try ICUExpression(pattern, ignoresCase: ignoresCase)
  }

  func dateFormat(_ pattern: String, zone: TimeZone, locale: Locale) -> any DateTextFormat {
    DatePattern(pattern, zone: zone, locale: locale)
  }

  func separators(of locale: Locale) -> (decimal: String, grouping: String?) {
    (locale.decimalSeparator ?? ".", locale.groupingSeparator)
  }

  var timeZones: [String] { TimeZone.knownTimeZoneIdentifiers }
}

/// Registers the services of Foundation. Called by `CArborLocale` before main.
@_cdecl("arbor_provide_locale_services")
package func provideLocaleServices() {
  LocaleSupport.provide(FoundationServices())
  SeedNetwork.provide { SeedDownloader($0) }
}
