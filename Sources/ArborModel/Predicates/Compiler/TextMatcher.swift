internal import ArborFoundation

/// Creation of matchers that compare strings with a constant pattern.
enum TextMatcher {
  /// Returns the matcher for a comparison of strings.
  ///
  /// - Parameter pattern: The constant string.
  /// - Throws: ``ArborError`` `invalidPredicate` if the pattern is not a valid regular expression.
  static func make(
    _ comparison: ComparisonOperator, _ options: ComparisonOptions, _ pattern: String,
    site: PredicateSite, locale: Locale
  ) throws(ArborError) -> any ByteMatcher {
    switch comparison {
    case .matches: return try RegularExpressionMatcher(pattern, options, site: site)
    case .tokenMatches: return orNothing(TokenMatcher(pattern))
    case .utiConformsTo: return TypeMatcher(wanted: pattern)
    case .utiEquals: return folding(plain(.equal, StringFolding.case.fold(pattern)), .case)
    case .contains where options.contains(.words):
      return orNothing(PhraseMatcher(pattern, options.folding))
    default: break
    }
    if comparison == .like { try checkPattern(pattern, site) }
    if options.contains(.localized), comparison != .like {
      return LocalizedMatcher(
        comparison: comparison, pattern: pattern, folding: options.folding, locale: locale)
    }
    let folded = options.folding.fold(pattern)
    let plain = plain(comparison, folded)
    return folding(plain, options.folding)
  }

  /// The maximum number of characters between two stars of a `LIKE` pattern if a `?` is among them.
  /// The time for finding such a run is proportional to its length.
  private static let maximumRunLength = 1024

  private static func checkPattern(
    _ pattern: String, _ site: PredicateSite
  ) throws(ArborError) {
    guard pattern.utf8.count > maximumRunLength, pattern.utf8.contains(UInt8(ascii: "?")) else {
      return
    }
    for run in pattern.unicodeScalars.split(separator: "*")
    where run.count > maximumRunLength && run.contains("?") {
      throw site.error(
        "A LIKE pattern has \(run.count) characters, including a question mark, between two "
          + "asterisks, which exceeds the limit of \(maximumRunLength). Use fewer characters or "
          + "more asterisks.")
    }
  }

  private static func orNothing(_ matcher: (any ByteMatcher)?) -> any ByteMatcher {
    matcher ?? NoBytes()
  }

  /// Returns a matcher for bytes that have already been folded.
  private static func plain(
    _ comparison: ComparisonOperator, _ pattern: String
  ) -> any ByteMatcher {
    let constant = ConstantBytes(Array(pattern.utf8))
    if pattern.isEmpty, [.beginsWith, .endsWith, .contains].contains(comparison) {
      return NoBytes()
    }
    switch comparison {
    case .beginsWith: return BytePrefix(constant: constant)
    case .endsWith: return ByteSuffix(constant: constant)
    case .contains: return ByteInfix(constant: constant)
    case .like: return glob(pattern)
    default: return constant.matcher(for: comparison) ?? NoBytes()
    }
  }

  /// Returns the matcher for a glob. A pattern with stars only at its ends needs no glob.
  private static func glob(_ pattern: String) -> any ByteMatcher {
    let isOpenBefore = pattern.hasPrefix("*")
    let inner = pattern.dropFirst(isOpenBefore ? 1 : 0)
    let isOpenBehind = inner.hasSuffix("*")
    let text = String(inner.dropLast(isOpenBehind ? 1 : 0))
    guard !text.isEmpty, !text.utf8.contains(where: { "*?\\".utf8.contains($0) }) else {
      return GlobPattern(pattern)
    }
    switch (isOpenBefore, isOpenBehind) {
    case (false, false): return plain(.equal, text)
    case (false, true): return plain(.beginsWith, text)
    case (true, false): return plain(.endsWith, text)
    case (true, true): return plain(.contains, text)
    }
  }

  /// Returns a matcher that folds the tested bytes first.
  static func folding(_ matcher: any ByteMatcher, _ folding: StringFolding) -> any ByteMatcher {
    if !folding.isEmpty, let infix = matcher as? ByteInfix {
      return FoldedInfix(infix, folding)
    }
    func wrap(_ matcher: some ByteMatcher) -> any ByteMatcher {
      FoldingMatcher(matcher: matcher, folding: folding)
    }
    return folding.isEmpty ? matcher : wrap(matcher)
  }
}

/// A cache of the matcher of a comparison's most recent pattern, because a pattern that is read
/// from records rarely differs between consecutive records.
final class TextMatcherCache {
  private var last: (pattern: String, matcher: any ByteMatcher)?

  /// Returns the matcher of a pattern. The cached pattern is compared by code points, because
  /// canonically equivalent patterns can match different texts.
  func matcher(
    _ comparison: ComparisonOperator, _ options: ComparisonOptions, _ pattern: String,
    _ locale: Locale
  ) throws(ArborError) -> any ByteMatcher {
    if let last, PropertyValue.compareTexts(last.pattern, pattern) == .equal { return last.matcher }
    let matcher = try TextMatcher.make(
      comparison, options, pattern, site: .none, locale: locale)
    last = (pattern, matcher)
    return matcher
  }
}

extension ByteMatcher {
  func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
  }
}

struct NoBytes: ByteMatcher {
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool { false }
}

/// A matcher that folds bytes before another matcher tests them.
struct FoldingMatcher<Matcher: ByteMatcher>: ByteMatcher {
  let matcher: Matcher
  let folding: StringFolding

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    folding.withFolded(bytes) { matcher.matches($0) }
  }
}
