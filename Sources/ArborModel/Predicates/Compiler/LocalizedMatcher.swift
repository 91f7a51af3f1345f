internal import Foundation

/// Tests texts by the rules of the current locale. It builds strings and serves no index: stored
/// order never depends on a locale.
struct LocalizedMatcher: ByteMatcher {
  let comparison: ComparisonOperator
  let pattern: String
  let folding: StringFolding

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    var options = folding.compareOptions
    switch comparison {
    case .beginsWith: options.insert(.anchored)
    case .endsWith: options.formUnion([.anchored, .backwards])
    case .contains: break
    default: return comparison.accepts(Self.order(text, pattern, folding))
    }
    guard !pattern.isEmpty else { return false }
    // Foundation finds a pattern that ends with NUL behind the end of a text: as a range of a
    // `String` that stops the process, as one of numbers it can be seen.
    let searched = NSString(string: text)
    let found = searched.range(
      of: pattern, options: options, range: NSRange(location: 0, length: searched.length),
      locale: Locale.current)
    return found.location != NSNotFound && found.location + found.length <= searched.length
  }

  static func order(_ left: String, _ right: String, _ folding: StringFolding) -> Ordering {
    let order = left.compare(right, options: folding.compareOptions, locale: Locale.current)
    return order == .orderedAscending ? .less : (order == .orderedSame ? .equal : .greater)
  }
}
