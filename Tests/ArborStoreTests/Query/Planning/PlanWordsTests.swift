import ArborModel
import Foundation
import Testing

@testable import ArborStore

@Suite struct PlanWordsTests {
  @Test("Nouns after a number in a plan agree with it")
  func nounsAgreeWithTheirNumbers() throws {
    let world = try QueryWorld(isIndexed: false)
    defer { world.store.close() }
    let words = PlanWords(StoreQuery(entity: world.entity("Person")))
    let cases: [(value: PropertyValue, text: String)] = [
      (.binary(Data([1])), "1 byte"), (.binary(Data([1, 2])), "2 bytes"),
      (.list([1]), "1 value"), (.list([1, 2]), "2 values"),
      (.composite(["a": 1]), "1 part"), (.composite(["a": 1, "b": 2]), "2 parts"),
    ]
    for (value, text) in cases { #expect(words.text("x", .points([value])) == "x == \(text)") }
  }
}
