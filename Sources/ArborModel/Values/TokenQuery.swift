/// What the right side of `TOKENMATCHES` asks for: tokens that a text has to have, in any order.
///
/// A token that an asterisk follows directly is a prefix: `"cof* house"` is met by every text with
/// the word *house* and a word that begins with *cof*. A query without tokens asks for nothing.
package struct TokenQuery: Sendable, Hashable {
  /// One token, or the beginning of one.
  package struct Token: Sendable, Hashable {
    /// The folded UTF-8.
    package let bytes: [UInt8]
    package let isPrefix: Bool
  }

  /// What is asked for, each once; the longest first, which few texts have.
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

  /// Whether a text has what is asked for.
  ///
  /// - Parameters:
  ///   - text: The text's UTF-8.
  ///   - scratch: Memory to take the text apart in.
  package func matches(_ text: UnsafeRawBufferPointer, scratch: inout TextTokens) -> Bool {
    scratch.read(text)
    // Many words in a long text are looked up in its order.
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
  /// Whether one of the tokens, which are in the order of their bytes, meets one of a query.
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
  /// Whether a token of a text is the one with these bytes, or begins with them.
  @inline(__always)
  func isMet(by other: UnsafeRawBufferPointer, _ own: UnsafeRawBufferPointer) -> Bool {
    guard isPrefix ? other.count >= own.count : other.count == own.count else { return false }
    return Ordering(bytes: UnsafeRawBufferPointer(rebasing: other[..<own.count]), own) == .equal
  }
}
