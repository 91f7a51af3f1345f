/// The reserved words of the predicate language, which are case-insensitive.
enum PredicateKeyword: String, Sendable, CaseIterable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case `in` = "IN"
  case all = "ALL"
  case any = "ANY"
  case some = "SOME"
  case none = "NONE"
  case like = "LIKE"
  case matches = "MATCHES"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case between = "BETWEEN"
  case caseInsensitive = "CASEINSENSITIVE"
  case ci = "CI"
  case null = "NULL"
  case `nil` = "NIL"
  case `self` = "SELF"
  case `true` = "TRUE"
  case yes = "YES"
  case `false` = "FALSE"
  case no = "NO"
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"
  case anyKey = "ANYKEY"
  case subquery = "SUBQUERY"
  case fetch = "FETCH"
  case cast = "CAST"
  case function = "FUNCTION"
  case ternary = "TERNARY"
  case union = "UNION"
  case intersect = "INTERSECT"
  case intersection = "INTERSECTION"
  case minus = "MINUS"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"
  case tokenMatches = "TOKENMATCHES"
  case apply = "APPLY"
  case conformsToUTI = "UTI-CONFORMS-TO"
  case equalsUTI = "UTI-EQUALS"
}

extension PredicateKeyword {
  /// Up to 16 uppercase letters, packed into two words for fast comparison.
  struct Packed: Equatable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private(set) var count = 0

    mutating func append(_ byte: UInt8) {
      let upper = UInt64(byte &- UInt8(ascii: "a") < 26 ? byte & ~0x20 : byte)
      if count < 8 { low |= upper << (count * 8) } else { high |= upper << (count * 8 - 64) }
      count += 1
    }

    init(_ bytes: some Sequence<UInt8>) {
      for byte in bytes.prefix(16) { append(byte) }
    }

    /// Packs the bytes of a range of at most 16 bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
      for index in range { append(bytes[index]) }
    }

    var hash: Int {
      let mixed = (low ^ high &* 0x9E37_79B9_7F4A_7C15) &* 0xFF51_AFD7_ED55_8CCD
      return Int(truncatingIfNeeded: mixed >> 57)
    }
  }

  private static let maximumLength = 15

  /// A hash table of the keywords with linear probing.
  private static let table: [(word: Packed, keyword: PredicateKeyword)?] = {
    var table = [(word: Packed, keyword: PredicateKeyword)?](repeating: nil, count: 128)
    for keyword in allCases {
      let word = Packed(keyword.rawValue.utf8)
      var slot = word.hash
      while table[slot] != nil { slot = (slot + 1) & 127 }
      table[slot] = (word, keyword)
    }
    return table
  }()

  init?(spelledBy bytes: [UInt8], _ range: Range<Int>) {
    guard range.count <= Self.maximumLength else { return nil }
    let word = Packed(bytes, range)
    var slot = word.hash
    while let entry = Self.table[slot] {
      if entry.word == word {
        self = entry.keyword
        return
      }
      slot = (slot + 1) & 127
    }
    return nil
  }

  init?(spelledBy text: String) {
    let bytes = Array(text.utf8)
    self.init(spelledBy: bytes, bytes.indices)
  }
}
