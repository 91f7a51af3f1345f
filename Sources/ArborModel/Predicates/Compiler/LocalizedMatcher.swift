internal import ArborFoundation

/// A matcher that compares strings by the rules of a locale. It creates strings, and no index can
/// replace it, because the stored order never depends on a locale.
///
/// Order and equality are Foundation's. A string contains, or starts or ends with, another one if
/// the same is true of their folded forms and no combining mark follows. In Turkish and Azeri, I is
/// the uppercase of ı. Foundation's own search is not used, because it takes quadratic time.
struct LocalizedMatcher: ByteMatcher {
  private let comparison: ComparisonOperator
  private let pattern: String
  private let folding: StringFolding
  private let locale: Locale
  private let form: ConstantBytes
  private let search: SequenceSearch?

  init(
    comparison: ComparisonOperator, pattern: String, folding: StringFolding, locale: Locale
  ) {
    self.comparison = comparison
    self.pattern = pattern
    self.folding = folding
    self.locale = locale
    let form = Array(Self.form(of: pattern, folding, locale).utf8)
    self.form = ConstantBytes(form)
    search =
      comparison == .contains ? SequenceSearch(count: form.count) { form[$0] == form[$1] } : nil
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    switch comparison {
    case .beginsWith, .endsWith, .contains: break
    default: return comparison.accepts(Self.order(text, pattern, folding, locale))
    }
    var formed = Self.form(of: text, folding, locale)
    return formed.withUTF8 { occurs(in: UnsafeRawBufferPointer($0)) }
  }

  private func occurs(in text: UnsafeRawBufferPointer) -> Bool {
    let pattern = form.bytes
    guard !pattern.isEmpty, text.count >= pattern.count else { return false }
    switch comparison {
    case .beginsWith:
      return text.starts(withBytes: pattern) && !Self.isMark(in: text, at: pattern.count)
    case .endsWith:
      return UnsafeRawBufferPointer(rebasing: text[(text.count - pattern.count)...])
        .starts(withBytes: pattern)
    default:
      return search?.occurs(in: text.count) {
        text[$0] == pattern[$1]
      } accepts: {
        !Self.isMark(in: text, at: $0)
      } ?? false
    }
  }

  /// Returns whether the character at a position is a combining mark, which belongs to the
  /// preceding letter.
  private static func isMark(in text: UnsafeRawBufferPointer, at position: Int) -> Bool {
    guard position < text.count, text[position] >= 0xCC else { return false }
    let next = text[position..<min(position + 4, text.count)]
    guard let scalar = String(decoding: next, as: UTF8.self).unicodeScalars.first else {
      return false
    }
    return scalar.properties.canonicalCombiningClass != .notReordered
  }

  private static func form(
    of text: String, _ folding: StringFolding, _ locale: Locale
  ) -> String {
    if folding.isEmpty { return text.composed }
    guard folding.contains(.case), isTurkic(locale) else { return folding.fold(text) }
    // Foundation's locale-specific lowercasing stops at a NUL.
    let dotted = text.composed.unicodeScalars.map {
      (scalar) -> Unicode.Scalar in
      switch scalar {
      case "I": "ı"
      case "İ": "i"
      default: scalar
      }
    }
    return folding.fold(String(String.UnicodeScalarView(dotted)))
  }

  /// Returns whether I is the uppercase of ı, and İ that of i.
  private static func isTurkic(_ locale: Locale) -> Bool {
    ["tr", "az"].contains(locale.identifier.prefix(while: \.isLetter).lowercased())
  }

  static func order(
    _ left: String, _ right: String, _ folding: StringFolding, _ locale: Locale
  ) -> Ordering {
    // Binding a predicate fails without services.
    LocaleSupport.services?.order(left, right, ignoring: folding, isNumeric: false, locale)
      ?? .equal
  }
}
