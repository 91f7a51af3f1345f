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
  package struct Term: Sendable, Hashable {
    /// The tokens, in their order, at least one: words that an index of words is asked for. Only
    /// the last one can be the beginning of a token.
    package let tokens: [TokenQuery.Token]
  }

  /// What a text has to have, each once.
  package private(set) var wanted: [Term] = []
  /// What a text must not have.
  package private(set) var unwanted: [Term] = []

  package init(_ text: String) {
    var known: Set<Term> = []
    var excluded: Set<Term> = []
    func add(_ term: Term?, isWanted: Bool) {
      guard let term else { return }
      if isWanted {
        if known.insert(term).inserted { wanted.append(term) }
      } else if excluded.insert(term).inserted {
        unwanted.append(term)
      }
    }
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
          add(Term(body + "*"), isWanted: isWanted)
          continue
        }
      } else {
        body = rest.prefix { !$0.isWhitespace && $0 != "\"" }
        rest = rest[body.endIndex...]
      }
      add(Term(body), isWanted: isWanted)
    }
  }
}

extension SearchText.Term {
  /// A word or a phrase; nil for a text without tokens.
  fileprivate init?(_ text: Substring) {
    var read = TextTokens()
    read.read(String(text))
    guard read.count > 0 else { return nil }
    self.init(
      tokens: (0..<read.count).map { index in
        TokenQuery.Token(
          bytes: read.withToken(index) { Array($0) },
          isPrefix: index == read.count - 1 && read.isStarred(index))
      })
  }

  /// Whether the term stands in a text from one of its tokens on.
  package func matches(_ text: TextTokens, at start: Int) -> Bool {
    guard start + tokens.count <= text.count else { return false }
    return tokens.enumerated().allSatisfy { index, token in
      text.withToken(start + index) { other in
        token.bytes.withUnsafeBytes { token.isMet(by: other, $0) }
      }
    }
  }

  package func count(in text: TextTokens) -> Int {
    (0..<max(0, text.count - tokens.count + 1)).count { matches(text, at: $0) }
  }
}
