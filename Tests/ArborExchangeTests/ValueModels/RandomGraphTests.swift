import ArborExchange
import ArborModel
import ArborObjects
import TestSupport
import Testing

/// Random graphs of instances survive a round trip through the store, including changes in between.
@Suite("Random graphs of value models") struct RandomGraphTests {
  /// A graph of node numbers.
  private struct Shape: Equatable {
    var parents: [Int: Int] = [:]
    var friends: [Set<Int>]
    var best: [Int: Int] = [:]

    init(count: Int, _ random: inout SeededRandom) {
      friends = Array(repeating: [], count: count)
      for node in 0..<count {
        // Parents have lower numbers, so that children form no cycles.
        if node > 0, Bool.random(using: &random) {
          parents[node] = Int.random(in: 0..<node, using: &random)
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          let other = Int.random(in: 0..<count, using: &random)
          friends[node].insert(other)
          friends[other].insert(node)
        }
        if Bool.random(using: &random) { best[node] = Int.random(in: 0..<count, using: &random) }
      }
    }

    /// Creates instances linked like the numbers.
    func nodes() -> [Node] {
      let nodes = friends.indices.map { Node("\($0)", group: 1) }
      for (number, node) in nodes.enumerated() {
        node.parent = parents[number].map { nodes[$0] }
        node.children = parents.filter { $0.value == number }.keys.sorted().map { nodes[$0] }
        node.friends = Set(friends[number].map { nodes[$0] })
        node.best = best[number].map { nodes[$0] }
      }
      return nodes
    }
  }

  @Test("Random graphs survive a round trip")
  func graphsGoThereAndBack() throws {
    var seeds = SeededRandom()
    for _ in 0..<15 {
      let seed = seeds.next()
      var random = SeededRandom(seed: seed)
      let workshop = try ModelWorkshop()
      let count = Int.random(in: 1...40, using: &random)
      var expected = Shape(count: count, &random)
      try workshop.context.upsert(expected.nodes())
      try check(expected, in: workshop.context, seed)
      if Bool.random(using: &random) { try workshop.context.commit() }

      // `nil` leaves a relationship unchanged.
      let former = expected.best
      expected = Shape(count: count, &random)
      try workshop.context.upsert(expected.nodes().shuffled(using: &random))
      expected.best.merge(former) { new, _ in new }
      try workshop.context.commit()
      try check(expected, in: workshop.store.makeContext(), seed)
      try workshop.finish()
    }
  }

  private func check(
    _ expected: Shape, in context: ManagedObjectContext, _ seed: UInt64
  ) throws {
    let nodes = try context.values(Node.self)
    let byName = Dictionary(nodes.map { ($0.name ?? "", $0) }) { first, _ in first }
    #expect(nodes.count == expected.friends.count, "seed \(seed)")
    for (number, friends) in expected.friends.enumerated() {
      let node = try #require(byName["\(number)"])
      func instance(_ number: Int?) -> Node? { number.flatMap { byName["\($0)"] } }
      #expect(node.parent === instance(expected.parents[number]), "seed \(seed)")
      #expect(node.best === instance(expected.best[number]), "seed \(seed)")
      #expect(node.friends == Set(friends.compactMap(instance)), "seed \(seed)")
      let children = expected.parents.filter { $0.value == number }.keys
      #expect(Set(node.children) == Set(children.compactMap(instance)), "seed \(seed)")
    }
  }
}
