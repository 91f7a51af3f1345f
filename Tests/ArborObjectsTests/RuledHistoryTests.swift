import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Random histories of several contexts, after each of whose commits the rules of the model are
/// checked on every stored object.
///
/// By default, every run uses the same seeds. If `ARBOR_LONG_TESTS` is set, it runs many more
/// histories with new seeds. A history that breaks a rule is reduced to the fewest steps that still
/// do.
@Suite("Rules of the model in random histories") struct RuledHistoryTests {
  @Test(
    "Every commit of a random history keeps the model's rules",
    arguments: [(1, 60, 40), (2, 40, 120), (3, 60, 60)])
  func randomHistoriesKeepTheRules(contexts: Int, steps: Int, count: Int) throws {
    var seeds = TestLength.isLong ? SeededRandom() : SeededRandom(seed: UInt64(contexts * steps))
    let model = RuledWorld.model()
    var (commits, refusals) = (0, 0)
    for _ in 0..<TestLength.of(count, long: 50 * count) {
      let seed = seeds.next()
      let all = Array(0..<steps)
      guard var problem = Self.problem(model, contexts, seed, all, &commits, &refusals) else {
        continue
      }
      var shortest = all
      for step in all.reversed() {
        let fewer = shortest.filter { $0 != step }
        if let other = Self.problem(model, contexts, seed, fewer, &commits, &refusals) {
          (problem, shortest) = (other, fewer)
        }
      }
      Issue.record("contexts \(contexts), seed \(seed), steps \(shortest): \(problem)")
      return
    }
    #expect(commits > count && refusals > count / 2, "\(commits) commits, \(refusals) refusals")
  }

  @Test(
    "Histories that once broke a rule or were refused for ever keep the rules",
    arguments: [
      (2, 15_338_659_863_703_633_672, 40, [1, 4, 7, 11, 14]),
      (3, 3_685_166_327_285_635_278, 60, [25, 27, 37, 39, 41]),
      (3, 15_790_134_412_353_504_953, 60, [8, 9, 21, 24, 29, 34, 37]),
      (3, 11_952_473_325_285_188_323, 60, [2, 6, 8, 19, 21, 22, 24, 33, 35, 38, 43]),
      (2, 4_969_786_728_665_112_750, 40, [0, 4, 5, 10, 13, 14, 16]),
    ] as [(Int, UInt64, Int, [Int])])
  func knownHistoriesKeepTheRules(contexts: Int, seed: UInt64, steps: Int, reduced: [Int]) {
    var (commits, refusals) = (0, 0)
    let all = Array(0..<steps)
    #expect(Self.problem(RuledWorld.model(), contexts, seed, all, &commits, &refusals) == nil)
    #expect(Self.problem(RuledWorld.model(), contexts, seed, reduced, &commits, &refusals) == nil)
  }

  /// Runs a history. Returns the first problem.
  private static func problem(
    _ model: ManagedObjectModel, _ contexts: Int, _ seed: UInt64, _ steps: [Int],
    _ commits: inout Int, _ refusals: inout Int
  ) -> String? {
    do {
      try ObjectStore.use(model) { store in
        var history = RuledHistory(store, contexts: contexts, seed: seed)
        try history.run(steps)
        commits += history.commitCount
        refusals += history.refusalCount
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("The naive check finds each kind of broken rule")
  func negativeControl() throws {
    // Without rules, the store accepts what the rules forbid.
    let breaks: [(expected: String, body: (ManagedObjectContext) throws -> Void)] = [
      ("Card 1.owner is nil", { _ = try $0.insert("Card") }),
      ("Box 1.items has 0 members", { _ = try $0.insert("Box") }),
      (
        "Team 1.players has 3 members",
        { context in
          let team = try context.insert("Team")
          for _ in 0..<3 {
            let person = try context.insert("Person")
            person["desk"] = try context.insert("Desk")
            try team.objects(forKey: "players").insert(person)
          }
        }
      ),
    ]
    for (expected, body) in breaks {
      try ObjectStore.use(RuledWorld.model(isLax: true)) { store in
        let context = store.makeContext()
        try body(context)
        try context.commit()
        #expect(try RuledWorld.State(store.makeContext()).brokenRule() == expected)
      }
    }
  }

  @Test("The naive check finds members that a deletion should have spared or taken along")
  func negativeControlOfDeleteRules() throws {
    for (entity, reference, list) in [("Pin", "holder", "pins"), ("Tab", "owner", "tabs")] {
      try ObjectStore.use(RuledWorld.model(isLax: true)) { store in
        let context = store.makeContext()
        let (box, member) = (try context.insert("Box"), try context.insert(entity))
        member[reference] = box
        try context.commit()
        let other = store.makeContext()
        other.delete(try other.existingObject(with: box.objectID))
        let state = try RuledWorld.State(store.makeContext())
        let deletions = try RuledWorld.Deletions(of: [box.objectID], over: state) { _, _, _ in
          false
        }
        try other.commit()
        let found = deletions.brokenRule(in: try RuledWorld.State(store.makeContext()))
        #expect(found == "Box 1 is deleted in spite of its \(list)")
      }
    }
  }
}
