import ArborModel
import Testing

@Suite struct BoundOrdersTests {
  @Test("Bound orders are cached and match their keys")
  func anOrderIsResolvedOnceAndAsItsKeysAre() throws {
    let world = try PredicateWorld()
    for _ in 0..<3 {
      for index in 0..<40 {
        // More orders than are cached.
        let keys = ["name", "-long", "boss.name", "short"].prefix(index % 4 + 1).map { name in
          SortKey(stringLiteral: name)
        }
        let order = Array(keys) + (index % 2 == 0 ? [] : [SortKey("born", isAscending: index > 20)])
        let bound = try order.bind(to: world.person, in: world.schema)
        #expect(bound.map(\.isAscending) == order.map(\.isAscending))
        #expect(
          bound.map { $0.path?.hops.count } == order.map { $0.keyPath == "boss.name" ? 1 : 0 })
      }
    }
    #expect(try [SortKey]().bind(to: world.person, in: world.schema).isEmpty)
    #expect(throws: ArborError.self) {
      try [SortKey("nobody")].bind(to: world.person, in: world.schema)
    }
  }
}
