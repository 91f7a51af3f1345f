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
    for index in 0..<read.count {
      let token = Token(bytes: read.withToken(index) { Array($0) }, isPrefix: read.isStarred(index))
      if !tokens.contains(token) { tokens.append(token) }
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
    return tokens.allSatisfy { token in
      token.bytes.withUnsafeBytes { bytes in
        (0..<scratch.count).contains { index in
          scratch.withToken(index) { token.isMet(by: $0, bytes) }
        }
      }
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
