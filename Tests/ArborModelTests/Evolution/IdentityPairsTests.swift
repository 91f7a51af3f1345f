import Testing

@testable import ArborModel

@Suite struct IdentityPairsTests {
  /// Parses parts written as `name` or `name<identifier`.
  private func parts(_ text: String) -> [PartIdentity] {
    text.split(separator: " ").map { part in
      let pieces = part.split(separator: "<").map(String.init)
      return PartIdentity(pieces[0], pieces.count > 1 ? pieces[1] : nil)
    }
  }

  @Test(
    "Parts of two versions are paired by name and renaming identifier",
    arguments: [
      ("a b", "a b", "a=a b=b"), ("a b", "b a", "a=a b=b"), ("a", "b", ""),
      // Renamed once, and renamed again with the first name as the identifier.
      ("a", "b<a", "a=b"), ("b<a", "c<a", "b=c"), ("a", "c<a", "a=c"),
      // Renamed with the previous name as the identifier in each version, and renamed back.
      ("b<a", "c<b", "b=c"), ("c<b", "b<a", "c=b"), ("b<a", "a", "b=a"),
      // An identifier that is kept, removed or added.
      ("b<a", "b<a", "b=b"), ("b<a", "b", "b=b"), ("b", "b<a", "b=b"),
      // If the former name is still in use, the part with that name has not been renamed.
      ("a", "a b<a", "a=a"), ("b<a", "b<a a", "b=b"),
      // Two parts that exchange their names.
      ("a b", "a<b b<a", "a=b b=a"), ("a b", "b<a", "a=b"),
      // If an identifier occurs twice, the first one counts.
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

  @Test("An empty renaming identifier is ignored")
  func anEmptyIdentifierIsNone() {
    #expect(PartIdentity("a", "") == PartIdentity("a", nil))
    #expect(PartIdentity("a", "b").identifier == "b" && PartIdentity("a", nil).identifier == "a")
  }
}
