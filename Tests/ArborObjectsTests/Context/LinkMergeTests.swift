import ArborObjects
import Testing

/// Every pair of concurrent changes that two contexts can make to a one-to-one or ordered
/// relationship, under every policy. Other relationships are covered by ``MergePolicyTests``.
@Suite("Merging concurrent changes of relationships") struct LinkMergeTests {
  /// Returns the rows of the table as observed.
  private static func rows(of form: LinkPair.Form) throws -> [String] {
    var rows: [String] = []
    for mine in form.deeds {
      for theirs in form.deeds {
        var groups: [(letters: String, outcome: String)] = []
        for (letter, policy) in ConcurrentPair.policies {
          let outcome = try LinkPair(form: form, mine: mine, theirs: theirs).outcome(policy)
          if let index = groups.firstIndex(where: { $0.outcome == outcome }) {
            groups[index].letters.append(letter)
          } else {
            groups.append((String(letter), outcome))
          }
        }
        let cells = groups.map { "\(groups.count == 1 ? "all" : $0.letters) \($0.outcome)" }
        rows.append(([mine, theirs] + cells).joined(separator: " | "))
      }
    }
    return rows
  }

  @Test(
    "Every pair of concurrent link changes has the listed outcome",
    arguments: LinkPair.Form.allCases)
  func everyPairEndsAsTheTableSays(form: LinkPair.Form) throws {
    let expected = try #require(Self.tables[form]).split(separator: "\n").map(String.init)
    let found = try Self.rows(of: form)
    for (found, expected) in zip(found, expected) { #expect(found == expected) }
    #expect(found.count == expected.count, "\(found.joined(separator: "\n"))")
  }

  // Each row contains the change committed second, the change committed first, and the outcome: for
  // all policies, or by the letters of `ConcurrentPair.policies`.
  private static let tables: [LinkPair.Form: String] = [
    .oneToOne: """
    a | a | E conflict | OWC a2 P:X Q: | SR a3 P:X Q:
    a | P = Y | E conflict | OSC a2 P:Y Q: | W a2 P:X Q: | R a1 P:Y Q:
    a | P = none | E conflict | OSC a2 P: Q: | W a2 P:X Q: | R a1 P: Q:
    a | Q = X | E conflict | OSC a2 P: Q:X | W a2 P:X Q: | R a1 P: Q:X
    a | delete P | E conflict | OWC a2 P:X Q: | SR -P Q:
    a | delete X | E conflict | OSWC a2 P: Q: -X | R a1 P: Q: -X
    a | delete Y | all a2 P:X Q: -Y
    P = Y | a | E conflict | OSC a3 P:Y Q: | W a1 P:Y Q: | R a3 P:X Q:
    P = Y | P = Y | E conflict | OSWRC a1 P:Y Q:
    P = Y | P = none | E conflict | OWC a1 P:Y Q: | SR a1 P: Q:
    P = Y | Q = X | E conflict | OWC a1 P:Y Q: | SR a1 P: Q:X
    P = Y | delete P | E conflict | OWC a1 P:Y Q: | SR -P Q:
    P = Y | delete X | E conflict | OWC a1 P:Y Q: | SR a1 P: Q: -X
    P = Y | delete Y | E conflict | OWC a1 P:Y Q: | SR a1 P: Q: -Y
    P = none | a | E conflict | OSC a3 P: Q: | W a1 P: Q: | R a3 P:X Q:
    P = none | P = Y | E conflict | OWC a1 P: Q: | SR a1 P:Y Q:
    P = none | P = none | E conflict | OSWRC a1 P: Q:
    P = none | Q = X | E conflict | OWC a1 P: Q: | SR a1 P: Q:X
    P = none | delete P | E conflict | OWC a1 P: Q: | SR -P Q:
    P = none | delete X | E conflict | OWC a1 P: Q: | SR a1 P: Q: -X
    P = none | delete Y | all a1 P: Q: -Y
    Q = X | a | E conflict | OSC a3 P: Q:X | W a1 P: Q:X | R a3 P:X Q:
    Q = X | P = Y | E conflict | OWC a1 P: Q:X | SR a1 P:Y Q:
    Q = X | P = none | E conflict | OWC a1 P: Q:X | SR a1 P: Q:
    Q = X | Q = X | E conflict | OSWRC a1 P: Q:X
    Q = X | delete P | E conflict | OWC a1 P: Q:X | SR -P Q:
    Q = X | delete X | E conflict | OWC a1 P: Q:X | SR a1 P: Q: -X
    Q = X | delete Y | all a1 P: Q:X -Y
    delete P | a | E conflict | OW -P Q: | SRC a3 P:X Q:
    delete P | P = Y | E conflict | OW -P Q: | SRC a1 P:Y Q:
    delete P | P = none | E conflict | OW -P Q: | SRC a1 P: Q:
    delete P | Q = X | E conflict | OW -P Q: | SR a1 P: Q:X | C a1 P: Q:
    delete P | delete P | E conflict | OSWRC -P Q:
    delete P | delete X | E conflict | OW -P Q: | SR a1 P: Q: -X | C a1 P: Q:
    delete P | delete Y | all -P Q: -Y
    delete X | a | E conflict | OSC a3 P: Q: -X | W a1 P: Q: -X | R a3 P:X Q:
    delete X | P = Y | E conflict | OW a1 P: Q: -X | SR a1 P:Y Q: | C a1 P: Q:
    delete X | P = none | E conflict | OW a1 P: Q: -X | SRC a1 P: Q:
    delete X | Q = X | E conflict | OW a1 P: Q: -X | SRC a1 P: Q:X
    delete X | delete P | E conflict | OW a1 P: Q: -X | SR -P Q: | C a1 P: Q:
    delete X | delete X | E conflict | OSWRC a1 P: Q: -X
    delete X | delete Y | all a1 P: Q: -X -Y
    delete Y | a | all a3 P:X Q: -Y
    delete Y | P = Y | E conflict | OW a1 P: Q: -Y | SRC a1 P:Y Q:
    delete Y | P = none | all a1 P: Q: -Y
    delete Y | Q = X | all a1 P: Q:X -Y
    delete Y | delete P | all -P Q: -Y
    delete Y | delete X | all a1 P: Q: -X -Y
    delete Y | delete Y | all a1 P:X Q: -Y
    """,
    .ordered: """
    a | a | E conflict | OWC a2 P:ABC | SR a3 P:ABC
    a | + X | E conflict | OSWC a2 P:ABCX | R a1 P:ABCX
    a | X first | E conflict | OSWC a2 P:XABC | R a1 P:XABC
    a | - A | E conflict | OSWC a2 P:BC | R a1 P:BC
    a | CBA | E conflict | OSWC a2 P:CBA | R a1 P:CBA
    a | BCA | E conflict | OSWC a2 P:BCA | R a1 P:BCA
    a | delete A | E conflict | OSWC a2 P:BC -A | R a1 P:BC -A
    a | delete P | E conflict | OWC a2 P: | SR -P
    + X | a | all a3 P:ABCX
    + X | + X | E conflict | OSWRC a1 P:ABCX
    + X | X first | E conflict | OSWRC a1 P:XABC
    + X | - A | all a1 P:BCX
    + X | CBA | all a1 P:CBAX
    + X | BCA | all a1 P:BCAX
    + X | delete A | all a1 P:BCX -A
    + X | delete P | E conflict | OSWRC -P
    X first | a | all a3 P:XABC
    X first | + X | E conflict | OWC a1 P:XABC | SR a1 P:ABCX
    X first | X first | E conflict | OSWRC a1 P:XABC
    X first | - A | all a1 P:XBC
    X first | CBA | E conflict | OWC a1 P:XABC | SR a1 P:XCBA
    X first | BCA | E conflict | OWC a1 P:XABC | SR a1 P:XBCA
    X first | delete A | all a1 P:XBC -A
    X first | delete P | E conflict | OSWRC -P
    - A | a | all a3 P:BC
    - A | + X | all a1 P:BCX
    - A | X first | all a1 P:XBC
    - A | - A | E conflict | OSWRC a1 P:BC
    - A | CBA | all a1 P:CB
    - A | BCA | all a1 P:BC
    - A | delete A | E conflict | OWC a1 P:BC | SR a1 P:BC -A
    - A | delete P | E conflict | OSWRC -P
    CBA | a | all a3 P:CBA
    CBA | + X | all a1 P:CBAX
    CBA | X first | all a1 P:XCBA
    CBA | - A | all a1 P:CB
    CBA | CBA | all a1 P:CBA
    CBA | BCA | E conflict | OWC a1 P:CBA | SR a1 P:BCA
    CBA | delete A | all a1 P:CB -A
    CBA | delete P | all -P
    BCA | a | all a3 P:BCA
    BCA | + X | all a1 P:BCAX
    BCA | X first | all a1 P:XBCA
    BCA | - A | all a1 P:BC
    BCA | CBA | E conflict | OWC a1 P:BCA | SR a1 P:CBA
    BCA | BCA | all a1 P:BCA
    BCA | delete A | all a1 P:BC -A
    BCA | delete P | all -P
    delete A | a | all a3 P:BC -A
    delete A | + X | all a1 P:BCX -A
    delete A | X first | all a1 P:XBC -A
    delete A | - A | E conflict | OW a1 P:BC -A | SRC a1 P:BC
    delete A | CBA | all a1 P:CB -A
    delete A | BCA | all a1 P:BC -A
    delete A | delete A | all a1 P:BC -A
    delete A | delete P | E conflict | OW -P -A | SRC -P
    delete P | a | E conflict | OW -P | SRC a3 P:
    delete P | + X | E conflict | OW -P | SRC a1 P:X
    delete P | X first | E conflict | OW -P | SRC a1 P:X
    delete P | - A | E conflict | OW -P | SRC a1 P:
    delete P | CBA | E conflict | OW -P | SRC a1 P:
    delete P | BCA | E conflict | OW -P | SRC a1 P:
    delete P | delete A | E conflict | OW -P | SR a1 P: -A | C a1 P:
    delete P | delete P | E conflict | OSWRC -P
    """,
    .orderedBothWays: """
    a | a | E conflict | OWC a2 P:ABC | SR a3 P:ABC
    a | + X | E conflict | OSWC a2 P:ABCX | R a1 P:ABCX
    a | X first | E conflict | OSWC a2 P:XABC | R a1 P:XABC
    a | - A | E conflict | OSWC a2 P:BC | R a1 P:BC
    a | CBA | E conflict | OSWC a2 P:CBA | R a1 P:CBA
    a | BCA | E conflict | OSWC a2 P:BCA | R a1 P:BCA
    a | delete A | E conflict | OSWC a2 P:BC -A | R a1 P:BC -A
    a | delete P | E conflict | OWC a2 P: | SR -P
    + X | a | all a3 P:ABCX
    + X | + X | all a1 P:ABCX
    + X | X first | all a1 P:XABC
    + X | - A | all a1 P:BCX
    + X | CBA | all a1 P:CBAX
    + X | BCA | all a1 P:BCAX
    + X | delete A | all a1 P:BCX -A
    + X | delete P | E conflict | OSWRC -P
    X first | a | all a3 P:XABC
    X first | + X | E conflict | OWC a1 P:XABC | SR a1 P:ABCX
    X first | X first | all a1 P:XABC
    X first | - A | all a1 P:XBC
    X first | CBA | E conflict | OWC a1 P:XABC | SR a1 P:XCBA
    X first | BCA | E conflict | OWC a1 P:XABC | SR a1 P:XBCA
    X first | delete A | all a1 P:XBC -A
    X first | delete P | E conflict | OSWRC -P
    - A | a | all a3 P:BC
    - A | + X | all a1 P:BCX
    - A | X first | all a1 P:XBC
    - A | - A | all a1 P:BC
    - A | CBA | all a1 P:CB
    - A | BCA | all a1 P:BC
    - A | delete A | all a1 P:BC -A
    - A | delete P | all -P
    CBA | a | all a3 P:CBA
    CBA | + X | all a1 P:CBAX
    CBA | X first | all a1 P:XCBA
    CBA | - A | all a1 P:CB
    CBA | CBA | all a1 P:CBA
    CBA | BCA | E conflict | OWC a1 P:CBA | SR a1 P:BCA
    CBA | delete A | all a1 P:CB -A
    CBA | delete P | all -P
    BCA | a | all a3 P:BCA
    BCA | + X | all a1 P:BCAX
    BCA | X first | all a1 P:XBCA
    BCA | - A | all a1 P:BC
    BCA | CBA | E conflict | OWC a1 P:BCA | SR a1 P:CBA
    BCA | BCA | all a1 P:BCA
    BCA | delete A | all a1 P:BC -A
    BCA | delete P | all -P
    delete A | a | all a3 P:BC -A
    delete A | + X | all a1 P:BCX -A
    delete A | X first | all a1 P:XBC -A
    delete A | - A | all a1 P:BC -A
    delete A | CBA | all a1 P:CB -A
    delete A | BCA | all a1 P:BC -A
    delete A | delete A | all a1 P:BC -A
    delete A | delete P | all -P -A
    delete P | a | E conflict | OW -P | SRC a3 P:ABC
    delete P | + X | E conflict | OW -P | SRC a1 P:ABCX
    delete P | X first | E conflict | OW -P | SRC a1 P:XABC
    delete P | - A | E conflict | OW -P | SRC a1 P:BC
    delete P | CBA | E conflict | OW -P | SRC a1 P:CBA
    delete P | BCA | E conflict | OW -P | SRC a1 P:BCA
    delete P | delete A | E conflict | OW -P -A | SRC a1 P:BC -A
    delete P | delete P | all -P
    """,
  ]
}
