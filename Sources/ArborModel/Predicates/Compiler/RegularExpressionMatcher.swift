internal import Foundation

/// An ICU regular expression that a text has to match as a whole.
struct RegularExpressionMatcher: ByteMatcher {
  private let expression: NSRegularExpression
  /// Of the options, only diacritics are folded away; case is the expression's business.
  private let folding: StringFolding

  init(_ pattern: String, _ options: ComparisonOptions, site: PredicateSite) throws(ArborError) {
    folding = options.folding.subtracting(.case)
    let pattern = folding.fold(pattern)
    let flags: NSRegularExpression.Options = options.folding.contains(.case) ? .caseInsensitive : []
    // A parenthesis too many must not close the group that is put around the pattern.
    let isSound =
      pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: flags)) != nil
    // A comment at the end of a pattern with (?x) would swallow what closes the group.
    for whole in ["\\A(?:\(pattern))\\z", "\\A(?:\(pattern)\n)\\z"] where isSound {
      if let expression = try? NSRegularExpression(pattern: whole, options: flags) {
        self.expression = expression
        return
      }
    }
    throw site.error("The text behind MATCHES is no regular expression; correct its syntax.")
      .with(offending: pattern)
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let text = folding.fold(String(decoding: bytes, as: UTF8.self))
    let whole = NSRange(location: 0, length: text.utf16.count)
    return expression.firstMatch(in: text, options: .anchored, range: whole) != nil
  }
}
