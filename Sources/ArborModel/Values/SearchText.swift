/// What a full-text search asks for.
///
/// ```
/// text   = { [ "-" ] ( word | phrase ) }
/// word   = a run of characters without blanks [ "*" ]
/// phrase = '"' words [ "*" ] '"'
/// ```
///
/// A text has to have every word and every phrase, and nothing that a minus sign stands before. A
/// word that consists of several tokens (``TextTokens``), such as `e-mail` or `東京`, is a phrase:
/// its tokens stand one behind the other. An asterisk behind the last token makes it a prefix.
package struct SearchText: Sendable, Hashable {
  /// One word or phrase.
  package struct Term: Sendable, Hashable {
    /// The folded tokens, in their order, at least one.
    package let tokens: [[UInt8]]
    /// Whether the last token is the beginning of one.
    package let isPrefix: Bool
  }

  /// What a text has to have, each once.
  package private(set) var wanted: [Term] = []
  /// What a text must not have.
  package private(set) var unwanted: [Term] = []

  package init(_ text: String) {
    var rest = text[...]
    while let first = rest.first {
      guard !first.isWhitespace else {
        rest.removeFirst()
        continue
      }
      var isWanted = true
      // A sign with nothing behind it is none.
      if first == "-", let next = rest.dropFirst().first, !next.isWhitespace {
        isWanted = false
        rest.removeFirst()
      }
      let body: Substring
      if rest.first == "\"" {
        rest.removeFirst()
        body = rest.prefix { $0 != "\"" }
        rest = rest[body.endIndex...].dropFirst()
        // The asterisk may stand on either side of the quote.
        if rest.first == "*" {
          rest.removeFirst()
          add(body + "*", isWanted: isWanted)
          continue
        }
      } else {
        body = rest.prefix { !$0.isWhitespace && $0 != "\"" }
        rest = rest[body.endIndex...]
      }
      add(body, isWanted: isWanted)
    }
  }

  private mutating func add(_ text: Substring, isWanted: Bool) {
    var read = TextTokens()
    read.read(String(text))
    guard read.count > 0 else { return }
    let term = Term(
      tokens: (0..<read.count).map { read.withToken($0) { Array($0) } },
      isPrefix: read.isStarred(read.count - 1))
    if isWanted {
      if !wanted.contains(term) { wanted.append(term) }
    } else if !unwanted.contains(term) {
      unwanted.append(term)
    }
  }
}

extension SearchText.Term {
  /// What an index of words is asked for: a word for each token.
  package var words: [TokenQuery.Token] {
    tokens.enumerated().map { index, token in
      TokenQuery.Token(bytes: token, isPrefix: isPrefix && index == tokens.count - 1)
    }
  }

  /// Whether the term stands in a text from one of its tokens on.
  package func matches(_ text: TextTokens, at start: Int) -> Bool {
    guard start + tokens.count <= text.count else { return false }
    for (index, token) in tokens.enumerated() {
      let isLast = index == tokens.count - 1
      let isMet = text.withToken(start + index) { other in
        token.withUnsafeBytes { own in
          guard isPrefix && isLast ? other.count >= own.count : other.count == own.count else {
            return false
          }
          return TextTokens.compare(UnsafeRawBufferPointer(rebasing: other[..<own.count]), own) == 0
        }
      }
      if !isMet { return false }
    }
    return true
  }

  /// How often the term stands in a text.
  package func count(in text: TextTokens) -> Int {
    (0..<max(0, text.count - tokens.count + 1)).count { matches(text, at: $0) }
  }
}
