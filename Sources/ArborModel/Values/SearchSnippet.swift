/// An excerpt of a text found by a full-text search, with the ranges of the matches.
///
/// ```swift
/// print(snippet.marked("<b>", "</b>"))   // …the <b>red</b> fox is not a <b>red</b> panda…
/// ```
public struct SearchSnippet: Sendable, Hashable {
  /// The text of the excerpt.
  public let text: String
  /// The ranges of the matching words and phrases in ``text``, in order and without overlaps.
  public let matches: [Range<String.Index>]
  /// A Boolean value that indicates whether there is more text before the excerpt.
  public let hasMoreBefore: Bool
  /// A Boolean value that indicates whether there is more text after the excerpt.
  public let hasMoreBehind: Bool

  /// Returns the excerpt with markers around the matches, and with an ellipsis where the text
  /// continues.
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
  /// The excerpt, with an ellipsis where the text continues.
  public var description: String { marked("", "") }
}

extension SearchSnippet {
  /// Creates the excerpt with the most distinct terms. Ties are broken by the number of matches,
  /// then by position. Without a match, the excerpt is the beginning of the text.
  ///
  /// - Parameter words: The maximum number of words in the excerpt, or 0 for the whole text.
  package init(of text: String, _ search: SearchText, words: Int) {
    var text = text
    text.makeContiguousUTF8()
    var tokens = TextTokens()
    let ranges = tokens.readLocated(text)
    let found = Self.matches(of: search, in: tokens)
    let maximumCount = words > 0 ? words : .max
    let window = Self.window(found, of: ranges.count, maximumCount: maximumCount)
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

  /// Returns the relevance of a text: the number of distinct terms, and the number of matches.
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

  /// Returns the matches, sorted by their first tokens.
  private static func matches(of search: SearchText, in tokens: TextTokens) -> [Match] {
    var found: [Match] = []
    for start in 0..<tokens.count {
      for (index, term) in search.wanted.enumerated() where term.matches(tokens, at: start) {
        found.append(Match(tokens: start..<start + term.tokens.count, term: index))
      }
    }
    return found
  }

  /// Returns the range of tokens in the excerpt.
  private static func window(_ found: [Match], of count: Int, maximumCount: Int) -> Range<Int> {
    guard count > maximumCount else { return 0..<count }
    var best: (terms: Int, matches: Int, start: Int, end: Int) = (0, 0, 0, 0)
    var present: [Int: Int] = [:]
    var next = 0
    for (index, match) in found.enumerated() {
      let start = match.tokens.lowerBound
      while next < found.count, found[next].tokens.upperBound <= start + maximumCount {
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
    // Includes as many words before the first match as after the last one.
    let margin = (maximumCount - (best.end - best.start)) / 2
    let start = max(0, min(best.start - margin, count - maximumCount))
    return start..<start + maximumCount
  }
}
