/// The right side of `TOKENMATCHES`: tokens that a text must contain, in any order.
///
/// A token immediately followed by an asterisk is a prefix: `"cof* house"` matches every text with
/// the word *house* and a word that starts with *cof*. `TOKENMATCHES` with a query without tokens
/// matches no text; see ``TokenMatcher``.
package struct TokenQuery: Sendable, Hashable {
  /// A token, or the prefix of one.
  package struct Token: Sendable, Hashable {
    /// The folded UTF-8.
    package let bytes: [UInt8]
    package let isPrefix: Bool
  }

  /// The distinct tokens, longest first, because these are usually the most selective.
  package let tokens: [Token]

  package init(_ text: String) {
    var read = TextTokens()
    read.read(text)
    var tokens: [Token] = []
    var known: Set<Token> = []
    for index in 0..<read.count {
      let token = Token(bytes: read.withToken(index) { Array($0) }, isPrefix: read.isStarred(index))
      if known.insert(token).inserted { tokens.append(token) }
    }
    self.tokens = tokens.sorted { $0.bytes.count > $1.bytes.count }
  }

  /// Returns whether a text contains all tokens.
  ///
  /// - Parameters:
  ///   - text: The text's UTF-8.
  ///   - scratch: Reusable memory for tokenizing the text.
  package func matches(_ text: UnsafeRawBufferPointer, scratch: inout TextTokens) -> Bool {
    scratch.read(text)
    // For many words and a long text, each word is found by binary search.
    if tokens.count > 8, scratch.count > 64 {
      scratch.sortDistinct()
      return tokens.allSatisfy { scratch.hasSorted($0) }
    }
    return tokens.allSatisfy { token in
      token.bytes.withUnsafeBytes { bytes in
        (0..<scratch.count).contains { index in
          scratch.withToken(index) { token.isMet(by: $0, bytes) }
        }
      }
    }
  }
}

extension TextTokens {
  /// Returns whether a token of a query matches one of the tokens, which must be sorted by their
  /// bytes.
  fileprivate func hasSorted(_ token: TokenQuery.Token) -> Bool {
    token.bytes.withUnsafeBytes { bytes in
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high) / 2
        if withToken(middle, { Ordering(bytes: $0, bytes) }) == .less {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low < count && withToken(low) { token.isMet(by: $0, bytes) }
    }
  }
}

extension TokenQuery.Token {
  /// Returns whether a token of a text equals this one, or starts with it if it is a prefix.
  @inline(__always)
  func isMet(by other: UnsafeRawBufferPointer, _ own: UnsafeRawBufferPointer) -> Bool {
    guard isPrefix ? other.count >= own.count : other.count == own.count else { return false }
    return Ordering(bytes: UnsafeRawBufferPointer(rebasing: other[..<own.count]), own) == .equal
  }
}
