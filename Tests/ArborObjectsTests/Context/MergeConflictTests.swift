import ArborLocks
import ArborModel
import ArborObjects
import Testing

@Suite struct MergeConflictTests {
  typealias Kind = OrderedWorld.Kind

  /// A conflict shows both sequences of "abcd". The context's sequence includes the other's
  /// additions.
  @Test(
    "A conflict reports the contested sequences",
    arguments: Kind.allCases,
    [
      ("abXcd", "abcdX", "abXcd"), ("bacd", "abdc", "bacd"), ("bXacd", "abdc", "bXacd"),
      ("bacdX", "abdcY", "bacdYX"), ("bac", "dcba", "bac"),
    ])
  func showsContestedSequences(
    kind: Kind, sequences: (mine: String, theirs: String, context: String)
  ) throws {
    let seen = Lock<[MergeConflict]>([])
    let policy = MergePolicy.custom { conflict in
      seen.withLock { $0.append(conflict) }
      return conflict.contestedOrders.isEmpty ? .objectWins : .storeWins
    }
    try OrderedWorld.use(kind, policy) { mine, theirs in
      var names: [ObjectID: String] = [:]
      for name in "abcdXYZ" { names[try mine.member(name).objectID] = String(name) }
      let person = try mine.person().objectID
      try mine.arrange(sequences.mine)
      try theirs.arrange(sequences.theirs)
      try theirs.context.commit()
      try mine.context.commit()
      let conflict = try #require(
        seen.withLock { $0.first(where: { !$0.contestedOrders.isEmpty }) })
      #expect(conflict.objectID == person && conflict.contestedOrders.count == 1)
      let order = try #require(conflict.contestedOrders.first)
      func text(_ members: [ObjectID]) -> String { members.map { names[$0] ?? "?" }.joined() }
      #expect(order.relationship == kind.rawValue && text(order.committedMembers) == "abcd")
      #expect(text(order.contextMembers) == sequences.context)
      #expect(text(order.storeMembers) == sequences.theirs)
      let kept = try mine.members().filter(sequences.theirs.contains)
      #expect(kept == sequences.theirs.filter(try mine.members().contains))
    }
  }

  /// Conflicting attribute values or a move on one side don't make a sequence contested.
  @Test("A conflict reports no sequences that agree")
  func showsNoSequencesThatAgree() throws {
    let seen = Lock<[MergeConflict]>([])
    let policy = MergePolicy.custom { conflict in
      seen.withLock { $0.append(conflict) }
      return .objectWins
    }
    try OrderedWorld.use(.favourites, policy) { mine, theirs in
      try mine.person().setValue("mine", forKey: "name")
      try mine.context.fetchOne("Person", matching: "name == 'mine'")?
        .objects(forKey: "favourites").replaceAll(with: "dcba".map(mine.member))
      try theirs.person().setValue("theirs", forKey: "name")
      try theirs.context.commit()
      try mine.context.commit()
      let conflict = try #require(seen.withLock { $0.first })
      #expect(conflict.contestedOrders.isEmpty)
      #expect(conflict.contextValues?["name"] == "mine")
      #expect(conflict.storeValues?["name"] == "theirs" && conflict.committedValues["name"] == "P")
      try mine.context.fetchOne("Person", matching: "name == 'mine'")?
        .setValue("P", forKey: "name")
      try mine.context.commit()
      #expect(try mine.members() == "dcba")
    }
  }
}
