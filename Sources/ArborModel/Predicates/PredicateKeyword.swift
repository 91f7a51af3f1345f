/// The reserved words of the predicate language, in any mixture of cases.
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

  /// Up to sixteen letters as two words, upper case: what keywords are compared by.
  private struct Packed: Equatable {
    var low: UInt64 = 0
    var high: UInt64 = 0

    init(_ bytes: some Sequence<UInt8>) {
      var shift: UInt64 = 0
      for byte in bytes {
        let upper = UInt64(byte &- UInt8(ascii: "a") < 26 ? byte & ~0x20 : byte)
        if shift < 64 { low |= upper << shift } else { high |= upper << (shift - 64) }
        shift += 8
      }
    }
  }

  private static let longest = 15

  /// The keywords of each length.
  private static let byLength: [[(word: Packed, keyword: PredicateKeyword)]] = {
    var table = [[(word: Packed, keyword: PredicateKeyword)]](repeating: [], count: longest + 1)
    for keyword in allCases {
      table[keyword.rawValue.utf8.count].append((Packed(keyword.rawValue.utf8), keyword))
    }
    return table
  }()

  /// The keyword that bytes spell, or nil.
  init?(spelledBy bytes: some Collection<UInt8>) {
    guard bytes.count <= Self.longest else { return nil }
    let candidates = Self.byLength[bytes.count]
    guard !candidates.isEmpty else { return nil }
    let word = Packed(bytes)
    guard let match = candidates.first(where: { $0.word == word }) else { return nil }
    self = match.keyword
  }
}
