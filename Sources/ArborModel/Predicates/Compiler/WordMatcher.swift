/// `TOKENMATCHES`: every word of a query occurs in the text.
struct TokenMatcher: ByteMatcher {
  private let query: TokenQuery
  private let scratch = WordScratch([.case, .diacritics])

  /// Creates a matcher, or returns `nil` for a query without words, which nothing matches.
  init?(_ query: String) {
    self.query = TokenQuery(query)
    if self.query.tokens.isEmpty { return nil }
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    query.matches(bytes, scratch: &scratch.tokens)
  }
}

/// `CONTAINS[w]`: the words of a phrase occur consecutively in the text.
struct PhraseMatcher: ByteMatcher {
  private let words: [[UInt8]]
  private let search: SequenceSearch
  private let scratch: WordScratch

  /// Creates a matcher, or returns `nil` for a phrase without words, which nothing contains.
  init?(_ phrase: String, _ folding: StringFolding) {
    scratch = WordScratch(folding)
    var tokens = TextTokens(folding: folding)
    tokens.read(phrase)
    let words = (0..<tokens.count).map { tokens.withToken($0) { Array($0) } }
    if words.isEmpty { return nil }
    self.words = words
    search = SequenceSearch(count: words.count) { words[$0] == words[$1] }
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    scratch.tokens.read(bytes)
    return search.occurs(in: scratch.tokens.count) { position, index in
      scratch.tokens.withToken(position) { $0.elementsEqual(words[index]) }
    }
  }
}

/// Memory for tokenizing text, reused from record to record.
private final class WordScratch {
  var tokens: TextTokens

  init(_ folding: StringFolding) { tokens = TextTokens(folding: folding) }
}

/// `UTI-CONFORMS-TO`: a type identifier is equal to a type, or identifies one of its subtypes.
struct TypeMatcher: ByteMatcher {
  let wanted: String

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    TypeIdentifiers.conforms(String(decoding: bytes, as: UTF8.self), to: wanted)
  }
}
