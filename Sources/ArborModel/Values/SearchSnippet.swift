/// A part of a text that a full-text search found, with the ranges of what was searched for.
///
/// ```swift
/// print(snippet.marked("<b>", "</b>"))   // …the <b>red</b> fox is not a <b>red</b> panda…
/// ```
public struct SearchSnippet: Sendable, Hashable {
  /// The part of the text.
  public let text: String
  /// Where in ``text`` the words and phrases stand that were searched for, in their order and apart
  /// from each other.
  public let matches: [Range<String.Index>]
  /// Whether the whole text has more before the part.
  public let hasMoreBefore: Bool
  /// Whether the whole text has more behind the part.
  public let hasMoreBehind: Bool

  /// The part with signs around what was searched for, and with another where the text goes on.
  ///
  /// The text itself is not escaped: for HTML, escape the parts between the ranges of ``matches``.
  public func marked(_ open: String, _ close: String, ellipsis: String = "…") -> String {
    var marked = hasMoreBefore ? ellipsis : ""
    var start = text.startIndex
    for range in matches {
      marked += text[start..<range.lowerBound] + open + text[range] + close
      start = range.upperBound
    }
    return marked + text[start...] + (hasMoreBehind ? ellipsis : "")
  }
}

extension SearchSnippet: CustomStringConvertible {
  /// The part, with an ellipsis where the text goes on.
  public var description: String { marked("", "") }
}

extension SearchSnippet {
  /// The part of a text with the most different terms, of those with the most matches, of those the
  /// first; the beginning of a text without any.
  ///
  /// - Parameter words: How many words the part has at most; 0 for the whole text.
  package init(of text: String, _ search: SearchText, words: Int) {
    var text = text
    text.makeContiguousUTF8()
    var tokens = TextTokens()
    let ranges = tokens.readLocated(text)
    let found = Self.matches(of: search, in: tokens)
    let most = words > 0 ? words : .max
    let window = Self.window(found, of: ranges.count, most: most)
    let lower = window.lowerBound > 0 ? ranges[window.lowerBound].lowerBound : text.startIndex
    let upper =
      window.upperBound < ranges.count ? ranges[window.upperBound - 1].upperBound : text.endIndex
    let part = String(text[lower..<upper])
    func moved(_ index: String.Index) -> String.Index {
      part.utf8.index(part.startIndex, offsetBy: text.utf8.distance(from: lower, to: index))
    }
    var shown: [Range<String.Index>] = []
    for match in found
    where match.tokens.lowerBound >= window.lowerBound
      && match.tokens.upperBound <= window.upperBound
    {
      let first = ranges[match.tokens.lowerBound].lowerBound
      let range = moved(first)..<moved(ranges[match.tokens.upperBound - 1].upperBound)
      if let last = shown.last, last.upperBound > range.lowerBound {
        shown[shown.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        shown.append(range)
      }
    }
    self.init(
      text: part, matches: shown, hasMoreBefore: lower > text.startIndex,
      hasMoreBehind: upper < text.endIndex)
  }

  /// How good the part is: different terms, then matches.
  package static func worth(of text: String, _ search: SearchText) -> (terms: Int, matches: Int) {
    var tokens = TextTokens()
    tokens.read(text)
    let found = matches(of: search, in: tokens)
    return (Set(found.map(\.term)).count, found.count)
  }

  private struct Match {
    let tokens: Range<Int>
    let term: Int
  }

  /// By their first tokens.
  private static func matches(of search: SearchText, in tokens: TextTokens) -> [Match] {
    var found: [Match] = []
    for start in 0..<tokens.count {
      for (index, term) in search.wanted.enumerated() where term.matches(tokens, at: start) {
        found.append(Match(tokens: start..<start + term.tokens.count, term: index))
      }
    }
    return found
  }

  /// Which tokens are shown.
  private static func window(_ found: [Match], of count: Int, most: Int) -> Range<Int> {
    guard count > most else { return 0..<count }
    var best: (terms: Int, matches: Int, start: Int, end: Int) = (0, 0, 0, 0)
    var present: [Int: Int] = [:]
    var next = 0
    for (index, match) in found.enumerated() {
      let start = match.tokens.lowerBound
      while next < found.count, found[next].tokens.upperBound <= start + most {
        present[found[next].term, default: 0] += 1
        next += 1
      }
      let worth = (present.count, next - index)
      if next > index, worth > (best.terms, best.matches) {
        best = (worth.0, worth.1, start, found[next - 1].tokens.upperBound)
      }
      if next > index {
        let left = present[match.term, default: 1] - 1
        present[match.term] = left > 0 ? left : nil
      } else {
        next = index + 1
      }
    }
    // Some words before the first match, as many as behind the last one.
    let start = max(0, min(best.start - (most - (best.end - best.start)) / 2, count - most))
    return start..<start + most
  }
}
