import ArborModel
import ArborObjects
import Testing

/// Every pair of concurrent changes that two contexts can make to the same state, under every
/// policy.
@Suite struct MergePolicyTests {
  /// Each row contains the change committed second, the change committed first, and the outcome:
  /// for all policies, or by the letters of ``ConcurrentPair/policies``. The second change sets
  /// numbers to 2, the first one to 3.
  ///
  /// A revived object has its attributes and to-one relationships, but no other links, because the
  /// deletion removed them. New links to deleted objects are dropped or rejected. New links from
  /// other objects to a deleted one count as changes of it.
  private static let table = """
    a | a | E conflict | OWC a2 T1 S1 | SR a3 T1 S1
    a | b | E conflict | OSC a2 b3 T1 S1 | W a2 T1 S1 | R a1 b3 T1 S1
    a | to T2 | E conflict | OSC a2 T2 S1 | W a2 T1 S1 | R a1 T2 S1
    a | to none | E conflict | OSC a2 S1 | W a2 T1 S1 | R a1 S1
    a | + S2 | all a2 T1 S1 S2
    a | - S1 | all a2 T1
    a | delete P | E conflict | OWC a2 T1 | SR gone
    a | delete T1 | E conflict | OSWC a2 S1 -T1 | R a1 S1 -T1
    a | delete T2 | all a2 T1 S1 -T2
    a | delete S1 | all a2 T1 -S1
    a | delete S2 | all a2 T1 S1 -S2
    b | a | E conflict | OSC a3 b2 T1 S1 | W a1 b2 T1 S1 | R a3 T1 S1
    b | b | E conflict | OWC a1 b2 T1 S1 | SR a1 b3 T1 S1
    b | to T2 | E conflict | OSC a1 b2 T2 S1 | W a1 b2 T1 S1 | R a1 T2 S1
    b | to none | E conflict | OSC a1 b2 S1 | W a1 b2 T1 S1 | R a1 S1
    b | + S2 | all a1 b2 T1 S1 S2
    b | - S1 | all a1 b2 T1
    b | delete P | E conflict | OWC a1 b2 T1 | SR gone
    b | delete T1 | E conflict | OSWC a1 b2 S1 -T1 | R a1 S1 -T1
    b | delete T2 | all a1 b2 T1 S1 -T2
    b | delete S1 | all a1 b2 T1 -S1
    b | delete S2 | all a1 b2 T1 S1 -S2
    to T2 | a | E conflict | OSC a3 T2 S1 | W a1 T2 S1 | R a3 T1 S1
    to T2 | b | E conflict | OSC a1 b3 T2 S1 | W a1 T2 S1 | R a1 b3 T1 S1
    to T2 | to T2 | E conflict | OSWRC a1 T2 S1
    to T2 | to none | E conflict | OWC a1 T2 S1 | SR a1 S1
    to T2 | + S2 | all a1 T2 S1 S2
    to T2 | - S1 | all a1 T2
    to T2 | delete P | E conflict | OWC a1 T2 | SR gone
    to T2 | delete T1 | E conflict | OWC a1 T2 S1 -T1 | SR a1 S1 -T1
    to T2 | delete T2 | E conflict | OSWRC a1 S1 -T2
    to T2 | delete S1 | all a1 T2 -S1
    to T2 | delete S2 | all a1 T2 S1 -S2
    to none | a | E conflict | OSC a3 S1 | W a1 S1 | R a3 T1 S1
    to none | b | E conflict | OSC a1 b3 S1 | W a1 S1 | R a1 b3 T1 S1
    to none | to T2 | E conflict | OWC a1 S1 | SR a1 T2 S1
    to none | to none | E conflict | OSWRC a1 S1
    to none | + S2 | all a1 S1 S2
    to none | - S1 | all a1
    to none | delete P | E conflict | OWC a1 | SR gone
    to none | delete T1 | E conflict | OSWRC a1 S1 -T1
    to none | delete T2 | all a1 S1 -T2
    to none | delete S1 | all a1 -S1
    to none | delete S2 | all a1 S1 -S2
    + S2 | a | all a3 T1 S1 S2
    + S2 | b | all a1 b3 T1 S1 S2
    + S2 | to T2 | all a1 T2 S1 S2
    + S2 | to none | all a1 S1 S2
    + S2 | + S2 | all a1 T1 S1 S2
    + S2 | - S1 | all a1 T1 S2
    + S2 | delete P | E conflict | OSWRC gone
    + S2 | delete T1 | all a1 S1 S2 -T1
    + S2 | delete T2 | all a1 T1 S1 S2 -T2
    + S2 | delete S1 | all a1 T1 S2 -S1
    + S2 | delete S2 | E conflict | OSWRC a1 T1 S1 -S2
    - S1 | a | all a3 T1
    - S1 | b | all a1 b3 T1
    - S1 | to T2 | all a1 T2
    - S1 | to none | all a1
    - S1 | + S2 | all a1 T1 S2
    - S1 | - S1 | all a1 T1
    - S1 | delete P | all gone
    - S1 | delete T1 | all a1 -T1
    - S1 | delete T2 | all a1 T1 -T2
    - S1 | delete S1 | all a1 T1 -S1
    - S1 | delete S2 | all a1 T1 -S2
    delete P | a | E conflict | OW gone | SRC a3 T1 S1
    delete P | b | E conflict | OW gone | SRC a1 b3 T1 S1
    delete P | to T2 | E conflict | OW gone | SRC a1 T2 S1
    delete P | to none | E conflict | OW gone | SRC a1 S1
    delete P | + S2 | E conflict | OW gone | SRC a1 T1 S1 S2
    delete P | - S1 | all gone
    delete P | delete P | all gone
    delete P | delete T1 | E conflict | OW gone -T1 | SRC a1 S1 -T1
    delete P | delete T2 | all gone -T2
    delete P | delete S1 | all gone -S1
    delete P | delete S2 | all gone -S2
    delete T1 | a | E conflict | OSC a3 S1 -T1 | W a1 S1 -T1 | R a3 T1 S1
    delete T1 | b | E conflict | OSC a1 b3 S1 -T1 | W a1 S1 -T1 | R a1 b3 T1 S1
    delete T1 | to T2 | E conflict | OWC a1 S1 -T1 | SR a1 T2 S1 -T1
    delete T1 | to none | E conflict | OSWRC a1 S1 -T1
    delete T1 | + S2 | all a1 S1 S2 -T1
    delete T1 | - S1 | all a1 -T1
    delete T1 | delete P | E conflict | OWC a1 -T1 | SR gone -T1
    delete T1 | delete T1 | E conflict | OSWRC a1 S1 -T1
    delete T1 | delete T2 | all a1 S1 -T1 -T2
    delete T1 | delete S1 | all a1 -T1 -S1
    delete T1 | delete S2 | all a1 S1 -T1 -S2
    delete T2 | a | all a3 T1 S1 -T2
    delete T2 | b | all a1 b3 T1 S1 -T2
    delete T2 | to T2 | E conflict | OW a1 S1 -T2 | SRC a1 T2 S1
    delete T2 | to none | all a1 S1 -T2
    delete T2 | + S2 | all a1 T1 S1 S2 -T2
    delete T2 | - S1 | all a1 T1 -T2
    delete T2 | delete P | all gone -T2
    delete T2 | delete T1 | all a1 S1 -T1 -T2
    delete T2 | delete T2 | all a1 T1 S1 -T2
    delete T2 | delete S1 | all a1 T1 -T2 -S1
    delete T2 | delete S2 | all a1 T1 S1 -T2 -S2
    delete S1 | a | all a3 T1 -S1
    delete S1 | b | all a1 b3 T1 -S1
    delete S1 | to T2 | all a1 T2 -S1
    delete S1 | to none | all a1 -S1
    delete S1 | + S2 | all a1 T1 S2 -S1
    delete S1 | - S1 | all a1 T1 -S1
    delete S1 | delete P | all gone -S1
    delete S1 | delete T1 | all a1 -T1 -S1
    delete S1 | delete T2 | all a1 T1 -T2 -S1
    delete S1 | delete S1 | all a1 T1 -S1
    delete S1 | delete S2 | all a1 T1 -S1 -S2
    delete S2 | a | all a3 T1 S1 -S2
    delete S2 | b | all a1 b3 T1 S1 -S2
    delete S2 | to T2 | all a1 T2 S1 -S2
    delete S2 | to none | all a1 S1 -S2
    delete S2 | + S2 | E conflict | OW a1 T1 S1 -S2 | SRC a1 T1 S1 S2
    delete S2 | - S1 | all a1 T1 -S2
    delete S2 | delete P | all gone -S2
    delete S2 | delete T1 | all a1 S1 -T1 -S2
    delete S2 | delete T2 | all a1 T1 S1 -T2 -S2
    delete S2 | delete S1 | all a1 T1 -S1 -S2
    delete S2 | delete S2 | all a1 T1 S1 -S2
    """

  private struct Row {
    let mine: String
    let theirs: String
    /// The outcomes by the letters of the policies.
    var outcomes: [Character: String] = [:]
  }

  private static let rows: [Row] = table.split(separator: "\n").map { line in
    let words = line.split(separator: "|").map { word in
      word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed().map(String.init).joined()
    }
    var row = Row(mine: words[0], theirs: words[1])
    for group in words.dropFirst(2) {
      let parts = group.split(separator: " ", maxSplits: 1).map(String.init)
      for letter in parts[0] == "all" ? "EOSWRC" : parts[0] { row.outcomes[letter] = parts[1] }
    }
    return row
  }

  @Test("The table covers every pair of changes")
  func theTableHasEveryPair() {
    let deeds = ConcurrentPair.Deed.allCases.map(\.rawValue)
    let pairs = deeds.flatMap { mine in deeds.map { "\(mine), \($0)" } }
    #expect(Self.rows.map { "\($0.mine), \($0.theirs)" } == pairs)
    for row in Self.rows { #expect(row.outcomes.count == ConcurrentPair.policies.count) }
  }

  @Test(
    "Every pair of concurrent changes has the listed outcome",
    arguments: ConcurrentPair.Deed.allCases)
  func everyPairEndsAsTheTableSays(mine: ConcurrentPair.Deed) throws {
    let model = try PlainStore.model()
    for row in Self.rows where row.mine == mine.rawValue {
      let theirs = try #require(ConcurrentPair.Deed(rawValue: row.theirs))
      for (letter, policy) in ConcurrentPair.policies {
        let outcome = try ConcurrentPair(mine: mine, theirs: theirs).outcome(policy, model)
        #expect(
          outcome == row.outcomes[letter], "\(row.mine), after \(row.theirs), under \(letter)")
      }
    }
  }
}
