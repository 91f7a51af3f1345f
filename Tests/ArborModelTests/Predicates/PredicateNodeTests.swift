import ArborModel
import Testing

@Suite struct PredicateNodeTests {
  private func leaf(_ number: Int64) -> PredicateNode {
    .comparison(
      PredicateComparison(
        .path(KeyPathNode(names: ["a"])), .equal, .constant(.integer(number))))
  }

  @Test("Trees are built in canonical form")
  func treesAreCanonical() {
    let (one, two, three) = (leaf(1), leaf(2), leaf(3))
    #expect(PredicateNode.all([one, .all([two, three])]) == .and([one, two, three]))
    #expect(PredicateNode.any([.any([one, two]), three]) == .or([one, two, three]))
    #expect(PredicateNode.all([.any([one, two])]) == .or([one, two]))
    #expect(PredicateNode.all([]) == .constant(true))
    #expect(PredicateNode.any([]) == .constant(false))
    #expect(ExpressionNode.aggregate([.constant(1), .constant(2)]) == .constant([1, 2]))
    #expect(ExpressionNode.aggregate([]) == .constant(.list([])))
    #expect(
      ExpressionNode.aggregate([.constant(1), .argument(0)])
        == .list([.constant(1), .argument(0)]))
  }

  @Test("Locations don't affect equality")
  func locationsDoNotMatter() {
    let text = PredicateText(segments: ["a == 1"])
    let here = PredicateSite(text, 2)
    #expect(here == .none && Set([here, .none]).count == 1)
    #expect(here.error("x").location == .init(line: 1, column: 3))
    #expect(PredicateSite.none.error("x").location == nil)
  }

  @Test("Leaves are replaced at every depth")
  func leavesAreReplacedEverywhere() {
    let node = PredicateNode.not(
      .any([
        leaf(1),
        .comparison(
          PredicateComparison(
            .argument(0), .in, .list([.argument(1), .list([.argument(0), .constant(5)])]))),
      ]))
    let replaced = node.mapLeaves { leaf in
      if case .argument(let index) = leaf { .constant(.integer(Int64(index))) } else { leaf }
    }
    let list = ExpressionNode.constant([1, [0, 5]])
    #expect(
      replaced
        == .not(
          .or([leaf(1), .comparison(PredicateComparison(.constant(0), .in, list))])))
    #expect(node.depth == 5 && leaf(1).depth == 1)
  }
}
