import ArborModel
import Foundation
import TestLength
import Testing

@Suite struct PageTokenTests {
  private static let values: [PropertyValue] = [
    .null, .integer(.min), .double(-0.5), .decimal(Decimal(string: "12.340") ?? 0), .boolean(true),
    .string("Zoë \u{0} %"), .date(Date(timeIntervalSinceReferenceDate: 1e6)),
    .binary(Data([0, 255])), .uuid(UUID()), .string(String(repeating: "x", count: 5000)),
  ]

  @Test("A token can be restored from its text")
  func tokensComeBackFromTheirTexts() throws {
    for count in 0...Self.values.count {
      let token = PageToken(
        values: Array(Self.values.prefix(count)), number: ObjectNumber(entity: 7, sequence: 12),
        fingerprint: 0xFFFF_0000_1234_5678)
      let text = token.text
      #expect(try PageToken(text) == token)
      #expect(
        text.utf8.allSatisfy { character in
          character == UInt8(ascii: "-") || character == UInt8(ascii: "_")
            || Character(UnicodeScalar(character)).isLetter
            || Character(UnicodeScalar(character)).isNumber
        })
    }
  }

  @Test("Modified tokens are rejected")
  func whatIsNoTokenIsRefused() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(seed: seed)
    let token = PageToken(
      values: Self.values, number: ObjectNumber(entity: 1, sequence: 1), fingerprint: 5)
    let letters = Array("ABCxyz019-_+/=. \u{e9}")
    for round in 0..<TestLength.of(600, long: 30_000) {
      var text = Array(token.text)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !text.isEmpty {
        let index = Int.random(in: 0..<text.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text[index] = letters.randomElement(using: &random) ?? "A"
        case 1: text.remove(at: index)
        default: text = Array(text.prefix(index + 1))
        }
      }
      // The change may have restored the original character.
      guard String(text) != token.text else { continue }
      let error = #expect(throws: ArborError.self, "seed \(seed), round \(round)") {
        _ = try PageToken(String(text))
      }
      #expect(error?.code == .invalidArgument)
    }
    for text in ["", "A", "====", "not a token", String(repeating: "A", count: 100)] {
      let error = #expect(throws: ArborError.self) { _ = try PageToken(text) }
      #expect(error?.code == .invalidArgument, "\(text)")
    }
  }

  @Test("Different requests have different fingerprints")
  func requestsAreToldApart() {
    let store = UUID()
    var seen: Set<UInt64> = []
    var descriptions: [FetchDescription] = []
    for entity in ["Person", "Employee"] {
      for predicate: FetchPredicate? in [nil, "age > 3", "age > 4", "age > \(3.5)"] {
        for keys: [SortKey] in [
          [], ["age"], ["-age"], ["age", "name"], ["name", "age"],
          [.ascending("name", options: .caseInsensitive)],
        ] {
          descriptions.append(
            FetchDescription(entityName: entity, predicate: predicate, sortKeys: keys))
        }
      }
    }
    for var description in descriptions {
      #expect(seen.insert(description.fingerprint(storeID: store)).inserted, "\(description)")
      let first = description.fingerprint(storeID: store)
      // Limit and batch size don't affect the fingerprint.
      description.fetchLimit = 7
      description.fetchBatchSize = 3
      #expect(description.fingerprint(storeID: store) == first)
      #expect(description.fingerprint(storeID: UUID()) != first)
      description.includesSubentities = false
      #expect(description.fingerprint(storeID: store) != first)
    }
    let same: FetchPredicate = "age>3"
    let first = FetchDescription(entityName: "Person", predicate: "age > 3", sortKeys: [])
    let second = FetchDescription(entityName: "Person", predicate: same, sortKeys: [])
    #expect(first.fingerprint(storeID: store) == second.fingerprint(storeID: store))
  }
}
