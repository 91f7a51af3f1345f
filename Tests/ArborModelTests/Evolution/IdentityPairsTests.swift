import Testing

@testable import ArborModel

@Suite struct IdentityPairsTests {
  /// Parts as `name` or `name<identifier`.
  private func parts(_ text: String) -> [PartIdentity] {
    text.split(separator: " ").map { part in
      let pieces = part.split(separator: "<").map(String.init)
      return PartIdentity(pieces[0], pieces.count > 1 ? pieces[1] : nil)
    }
  }

  @Test(arguments: [
    ("a b", "a b", "a=a b=b"), ("a b", "b a", "a=a b=b"), ("a", "b", ""),
    // Renamed, once and once more with the first name as identifier.
    ("a", "b<a", "a=b"), ("b<a", "c<a", "b=c"), ("a", "c<a", "a=c"),
    // With the previous name in each version, and back again.
    ("b<a", "c<b", "b=c"), ("c<b", "b<a", "c=b"), ("b<a", "a", "b=a"),
    // A mark that stands, comes or goes.
    ("b<a", "b<a", "b=b"), ("b<a", "b", "b=b"), ("b", "b<a", "b=b"),
    // The former name is taken: what keeps its name has not been renamed.
    ("a", "a b<a", "a=a"), ("b<a", "b<a a", "b=b"),
    // Two that change their names with each other.
    ("a b", "a<b b<a", "a=b b=a"), ("a b", "b<a", "a=b"),
    // One identifier twice: the first counts.
    ("a", "b<a c<a", "a=b"), ("b<a c<a", "d<a", "b=d"), ("a", "b<", ""), ("", "a", ""),
  ])
  func pairs(old: String, new: String, expected: String) {
    let (old, new) = (parts(old), parts(new))
    let pairs = IdentityPairs(old, new)
    var found: [String] = []
    for (index, partner) in pairs.newOf.enumerated() {
      guard let partner else { continue }
      found.append("\(old[index].name)=\(new[partner].name)")
      #expect(pairs.oldOf[partner] == index)
    }
    #expect(found.joined(separator: " ") == expected)
    #expect(pairs.oldOf.compactMap { $0 }.count == found.count)
  }

  @Test func anEmptyIdentifierIsNone() {
    #expect(PartIdentity("a", "") == PartIdentity("a", nil))
    #expect(PartIdentity("a", "b").identifier == "b" && PartIdentity("a", nil).identifier == "a")
  }
}
