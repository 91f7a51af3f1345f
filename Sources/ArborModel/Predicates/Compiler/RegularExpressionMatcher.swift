/// An ICU regular expression that must match the entire text.
struct RegularExpressionMatcher: ByteMatcher {
  private let expression: any BoundedExpression
  /// The folding of the text. It never folds case, because the regular expression handles case
  /// itself.
  private let folding: StringFolding

  init(_ pattern: String, _ options: ComparisonOptions, site: PredicateSite) throws(ArborError) {
    let folded = options.folding.subtracting(.case)
    folding = folded.isEmpty && options.contains(.normalized) ? .canonical : folded
    let pattern = folding.fold(pattern)
    let ignoresCase = options.folding.contains(.case)
    let services = try site.services(for: "MATCHES")
    // An unbalanced parenthesis must not close the group around the pattern.
    let isSound =
      pattern.isEmpty || (try? services.expression(pattern, ignoresCase: ignoresCase)) != nil
    // With `(?x)`, a trailing comment in the pattern would also comment out the end of the group.
    for whole in ["\\A(?:\(pattern))\\z", "\\A(?:\(pattern)\n)\\z"] where isSound {
      if let expression = try? services.expression(whole, ignoresCase: ignoresCase) {
        self.expression = expression
        return
      }
    }
    throw site.error(
      "The text after MATCHES is not a valid regular expression. Correct its syntax."
    ).with(offending: pattern)
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool { matches(bytes, nil) }

  /// Returns whether the entire text matches.
  ///
  /// - Parameter resolver: The resolver that limits the evaluation; see
  ///   ``RecordResolver/admitWork(_:)``. Without one, a text that takes too many steps doesn't
  ///   match.
  func matches(_ bytes: UnsafeRawBufferPointer, _ resolver: (any RecordResolver)?) -> Bool {
    let text = folding.fold(String(decoding: bytes, as: UTF8.self))
    let outcome = expression.firstMatch(in: text, anchored: true) {
      guard let resolver else { return true }
      return resolver.admitWork(Self.unitsPerReport) && resolver.charge(Self.workPerReport)
    }
    switch outcome {
    case .found: return true
    case .missing, .stopped: return false
    case .tooComplex:
      resolver?.interrupt(.expressionTooComplex)
      return false
    }
  }

  /// The number of records that can be read in the time between two reports.
  private static let unitsPerReport = 1024
  /// The work between two reports; see ``RecordResolver/charge(_:)``.
  private static let workPerReport = 250_000
}
