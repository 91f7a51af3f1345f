/// A parsed full-text search.
///
/// ```
/// text   = { [ "-" ] ( word | phrase ) }
/// word   = a run of characters without white space [ "*" ]
/// phrase = '"' words [ "*" ] '"'
/// ```
///
/// A text matches if it contains every word and phrase, and none that is preceded by a minus sign.
/// A word that consists of several tokens (``TextTokens``), such as `e-mail` or `東京`, is a phrase:
/// its tokens must be consecutive. An asterisk after the last token makes it a prefix.
package struct SearchText: Sendable, Hashable {
  package struct Term: Sendable, Hashable {
    /// The tokens in order, at least one. Only the last can be a prefix.
    package let tokens: [TokenQuery.Token]
  }

  /// The distinct terms that a text must contain.
  package private(set) var wanted: [Term] = []
  /// The distinct terms that a text must not contain.
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
      // A minus sign without a word after it is ignored.
      if first == "-", let next = rest.dropFirst().first, !next.isWhitespace {
        isWanted = false
        rest.removeFirst()
      }
      let body: Substring
      if rest.first == "\"" {
        rest.removeFirst()
        body = rest.prefix { $0 != "\"" }
        rest = rest[body.endIndex...].dropFirst()
        // The asterisk may be on either side of the closing quote.
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
  /// Creates a word or a phrase, or returns `nil` for text without tokens.
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

  /// Returns whether the term matches the tokens of a text from the given position.
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
