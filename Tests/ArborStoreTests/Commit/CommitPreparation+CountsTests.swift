import ArborModel
@testable import ArborStore
import TestSupport
import Testing

/// The number of members that a relationship has after a commit, whatever other commits did.
@Suite struct CommitPreparationCountsTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Team") {
        RelationshipDescription(
          "players", to: "Player", inverse: "teams", .toMany, .mandatory, .count(1...3))
        RelationshipDescription("fans", to: "Player", inverse: "favourite", .toMany, .count(2...3))
        RelationshipDescription(
          "line", to: "Player", inverse: "lines", .toMany, .ordered, .count(...2))
      }
      EntityDescription("Player") {
        RelationshipDescription("teams", to: "Team", inverse: "players", .toMany)
        RelationshipDescription("favourite", to: "Team", inverse: "fans")
        RelationshipDescription("lines", to: "Team", inverse: "line", .toMany)
      }
    }
  }

  /// Returns the problems that the commit is refused with, or an empty array if it is accepted.
  private func problems(_ draft: Draft) throws -> [String] {
    do { try draft.commit() } catch let error as StoreError {
      guard case .miscounted(let miscounted) = error else { throw error }
      return miscounted.map { "\($0.owner.sequence).\($0.relationship) \($0.problem)" }
    }
    return []
  }

  private func use(
    _ body: (Draft, _ team: ObjectNumber, _ players: [ObjectNumber]) throws -> Void
  ) throws {
    try TemporaryStore.use(Self.model(), inMemory: true) { store in
      let draft = Draft(store.file)
      let team = try draft.insert("Team")
      let players = try (0..<5).map { _ in try draft.insert("Player") }
      try draft.link(team, "players", players[0])
      try draft.commit()
      try body(draft, team, players)
    }
  }

  @Test("Links that exist already, and removals of others, don't change the number of members")
  func editsWithoutEffect() throws {
    try use { draft, team, players in
      for player in players[0...2] { try draft.link(team, "players", player) }
      try draft.unlink(team, "players", players[4])
      #expect(try problems(draft) == [])
      try draft.link(team, "players", players[3])
      #expect(
        try problems(draft) == ["1.players has 4 members, which exceeds the maximum of 3"])
      try draft.link(team, "players", players[3])
      try draft.unlink(team, "players", players[0])
      #expect(try problems(draft) == [])
    }
  }

  @Test("Members that are deleted or moved to another owner are counted")
  func membersOfFields() throws {
    try use { draft, team, players in
      for player in players[0...1] { try draft.update(player, to: ["favourite": team]) }
      #expect(try problems(draft) == [])
      try draft.delete(players[1])
      #expect(try problems(draft) == ["1.fans has 1 member, which is below the minimum of 2"])
      // The empty set is a value of an optional relationship.
      for player in players[0...1] { try draft.update(player, to: ["favourite": nil]) }
      #expect(try problems(draft) == [])
      for player in players[1...4] { try draft.update(player, to: ["favourite": team]) }
      #expect(try problems(draft) == ["1.fans has 4 members, which exceeds the maximum of 3"])
    }
  }

  @Test("The members of ordered relationships are counted, and those of deleted owners aren't")
  func orderedMembersAndDeletedOwners() throws {
    try use { draft, team, players in
      try draft.edit(team, "line", .reorder(Array(players[0...2])))
      for player in players[0...2] { try draft.edit(player, "lines", .add(team)) }
      #expect(try problems(draft) == ["1.line has 3 members, which exceeds the maximum of 2"])
      try draft.delete(team)
      try draft.edit(players[0], "teams", .remove(team))
      #expect(try problems(draft) == [])
    }
  }

  @Test("Many deletions are counted owner by owner")
  func manyDeletions() throws {
    try TemporaryStore.use(Self.model(), inMemory: true) { store in
      let draft = Draft(store.file)
      let team = try draft.insert("Team")
      let keeper = try draft.insert("Player")
      try draft.link(team, "players", keeper)
      let fans = try (0..<3).map { _ in try draft.insert("Player", to: ["favourite": team]) }
      let others = try (0..<1200).map { _ in try draft.insert("Player") }
      try draft.commit()
      for player in others + [fans[0], fans[1]] { try draft.delete(player) }
      #expect(try problems(draft) == ["1.fans has 1 member, which is below the minimum of 2"])
      for player in others + fans { try draft.delete(player) }
      #expect(try problems(draft) == [])
    }
  }
}
