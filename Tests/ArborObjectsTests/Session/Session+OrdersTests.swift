import ArborModel
import ArborObjects
import Testing

/// Ordered relationships that two contexts change concurrently.
@Suite struct SessionOrdersTests {
  typealias Kind = OrderedWorld.Kind

  // MARK: Sequences

  /// Each row contains the sequence committed second, the one committed first, and the outcome: for
  /// all policies, or by the letters of ``ConcurrentPair/policies``. The initial sequence is
  /// "abcd".
  private static let table = """
    abcdX | abcdY | all abcdYX
    abXcd | aYbcd | all aYbXcd
    Xabcd | Yabcd | all YXabcd
    abcdX | abcdX | all abcdX
    abXcd | abcdX | E conflict | OWC abXcd | SR abcdX
    abcdX | abd | all abdX
    abXcd | abd | all abXd
    abd | abcdX | all abdX
    abd | aXbcd | all aXbd
    abd | acd | all ad
    bacd | abcd | all bacd
    bacd | abcdX | all bacdX
    dcba | abcdX | all dcbaX
    bacd | Xabcd | all Xbacd
    bacd | abd | all bad
    bcd | dabc | all dbc
    abcd | dcba | all dcba
    abcdX | dcba | all dcbaX
    bacd | bacd | all bacd
    bacd | abdc | E conflict | OWC bacd | SR abdc
    bXacd | abdc | E conflict | OWC bXacd | SR Xabdc
    bacdX | abdcY | E conflict | OWC bacdYX | SR abdcYX
    bac | dcba | E conflict | OWC bac | SR cba
    X | abcdY | all YX
    """

  private static func outcome(_ letter: Character, _ groups: some Sequence<String>) -> String? {
    for group in groups {
      let parts = group.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      if parts[0] == "all" || parts[0].contains(letter) { return String(parts[1]) }
    }
    return nil
  }

  @Test(
    "Concurrent changes of an ordered relationship have the listed outcome",
    arguments: Kind.allCases, [true, false])
  func sequencesEndAsTheTableSays(kind: Kind, takesIn: Bool) throws {
    for line in Self.table.split(separator: "\n") {
      let words = line.split(separator: " | ").map(String.init)
      for (letter, policy) in ConcurrentPair.policies {
        try OrderedWorld.use(kind, policy) { mine, theirs in
          mine.context.automaticallyMergesCommits = takesIn
          try mine.arrange(words[0])
          try theirs.arrange(words[1])
          try theirs.context.commit()
          var outcome = "conflict"
          do throws(ArborError) {
            try mine.context.commit()
            outcome = ""
          } catch {
            guard error.code == .conflict, mine.context.hasChanges else { throw error }
            mine.context.rollback()
          }
          if !takesIn { mine.context.reset() }
          if outcome.isEmpty { outcome = try mine.members() }
          var expected = Self.outcome(letter, words.dropFirst(2))
          // Both contexts have changed the owner of X, even if to the same person.
          let isAddedByBoth = words[0].contains("X") && words[1].contains("X")
          if letter == "E", kind == .notes, isAddedByBoth { expected = "conflict" }
          #expect(outcome == expected, "\(line) under \(letter)")
        }
      }
    }
  }

  // MARK: Both ends

  @Test("Adding to a list keeps members that another context has added")
  func aListThatIsAddedToKeepsWhomOthersAdd() throws {
    try OrderedWorld.use(.favourites) { mine, theirs in
      try mine.member("X").objects(forKey: "fans").insert(mine.person("P"))
      try theirs.member("Y").objects(forKey: "fans").insert(theirs.person("P"))
      try theirs.member("X").objects(forKey: "fans").insert(theirs.person("Q"))
      try theirs.context.commit()
      #expect(try mine.members() == "abcdYX")
      try mine.context.commit()
      #expect(try mine.members() == "abcdYX" && mine.members(of: "Q") == "X")
      let fans = try mine.member("X").objects(forKey: "fans").fetch().map { $0["name"] as String }
      #expect(fans == ["Q", "P"])
    }
  }

  @Test(
    "A member that another context has moved to another owner doesn't return with the list",
    arguments: ConcurrentPair.policies.map(\.letter))
  func aListIsNotWrittenOverMembersThatHaveGone(letter: Character) throws {
    let policy = try #require(ConcurrentPair.policies.first { $0.letter == letter }?.policy)
    try OrderedWorld.use(.notes, policy) { mine, theirs in
      try mine.member("X").setObject(mine.person(), forKey: "author")
      try theirs.arrange("aX", of: "Q")
      try theirs.member("X").setObject(nil, forKey: "author")
      try theirs.context.commit()
      #expect(try mine.members() == "bcdX")
      try mine.context.commit()
      #expect(try mine.members() == "bcdX" && mine.members(of: "Q") == "a")
    }
  }

  @Test("If both contexts give a member to different owners, the policy decides")
  func aMemberHasOneOwnerByThePolicy() throws {
    for (letter, policy) in ConcurrentPair.policies where letter != "E" {
      try OrderedWorld.use(.notes, policy) { mine, theirs in
        try mine.arrange("bYcad")
        try mine.arrange("Xa", of: "Q")
        try theirs.arrange("dXbc")
        try theirs.context.commit()
        try mine.context.commit()
        let isMine = letter != "S" && letter != "R"
        #expect(try mine.members(of: "Q") == (isMine ? "Xa" : ""), "\(letter)")
        #expect(try mine.members() == (isMine ? "bYcd" : "dXbYc"), "\(letter)")
      }
    }
  }

  @Test("Under every policy, concurrent deletions and moves are merged", arguments: Kind.allCases)
  func deletionsMeetMoves(kind: Kind) throws {
    for (letter, policy) in ConcurrentPair.policies {
      // The other context deletes.
      try OrderedWorld.use(kind, policy) { mine, theirs in
        try mine.arrange("dbca")
        try theirs.context.delete(theirs.member("b"))
        try theirs.context.commit()
        #expect(try mine.members() == "dca", "\(letter)")
        try mine.context.commit()
        #expect(try mine.members() == "dca", "\(letter)")
      }
      // This context deletes.
      try OrderedWorld.use(kind, policy) { mine, theirs in
        try mine.context.delete(mine.member("b"))
        try theirs.arrange("dbca")
        try theirs.context.commit()
        #expect(try mine.members() == "dca", "\(letter)")
        try mine.context.commit()
        #expect(try mine.members() == "dca", "\(letter)")
      }
      // The owner is deleted.
      try OrderedWorld.use(kind, policy) { mine, theirs in
        try mine.arrange("dbca")
        try mine.arrange("X", of: "Q")
        try theirs.context.delete(theirs.person())
        try theirs.context.commit()
        try mine.context.commit()
        #expect(try mine.members(of: "Q") == "X", "\(letter)")
        #expect(try mine.context.count("Person") == 1, "\(letter)")
        try mine.context.insert("Person").setValue("P", forKey: "name")
        try mine.context.commit()
      }
    }
  }

  // MARK: Detecting changes

  @Test(
    "A failed commit keeps the pending order, and a rollback restores the stored one",
    arguments: Kind.allCases)
  func rollbacksAndFailuresLeaveTheStoresSequence(kind: Kind) throws {
    try OrderedWorld.use(kind, .error) { mine, theirs in
      try mine.arrange("dcXa")
      try theirs.arrange("bcad")
      try theirs.context.commit()
      for _ in 0..<2 {
        #expect(throws: ArborError.self) { try mine.context.commit() }
        #expect(try mine.members() == "dcXa")
      }
      mine.context.rollback()
      #expect(try mine.members() == "bcad" && !mine.context.hasChanges)
      try mine.arrange("acd")
      try mine.arrange("acdb")
      try mine.context.commit()
      #expect(try mine.members() == "acdb")
    }
  }

  @Test("Edits that result in the stored order are not changes", arguments: Kind.allCases)
  func whatIsThereAlreadyIsNoChange(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, _ in
      let person = try mine.person()
      try person.objects(forKey: kind.rawValue).insert(mine.member("b"))
      try mine.arrange("abcd")
      #expect(!mine.context.hasChanges)
      try mine.arrange("bacd")
      #expect(person.isUpdated)
      try mine.arrange("abcd")
      #expect(!mine.context.hasChanges)
    }
  }

  @Test("Commits within a snapshot are merged with the newest list", arguments: Kind.allCases)
  func commitsInsideOfAViewMergeWithTheNewestList(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      try mine.context.withSnapshot {
        try theirs.arrange("dabcY")
        try theirs.context.commit()
        try mine.arrange("abcdX")
        try mine.context.commit()
      }
      #expect(try mine.members() == "dabcYX")
    }
  }

  @Test(
    "An object that was deleted and restored elsewhere has the stored order",
    arguments: Kind.allCases)
  func whoIsGoneHasNoSequence(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      theirs.context.undoHistory = UndoHistory()
      try mine.arrange("dcba")
      try theirs.context.delete(theirs.person())
      try theirs.context.commit()
      #expect(try mine.context.count("Person") == 1)
      theirs.context.undo()
      #expect(try theirs.members() == "abcd")
      try theirs.context.commit()
      #expect(try mine.members() == "abcd")
      #expect(!mine.context.hasChanges)
    }
  }

  @Test(
    "A member that is added again is placed last and doesn't move the others",
    arguments: Kind.allCases)
  func whoComesBackMovesNobody(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      try mine.arrange("abcdYX")
      try theirs.arrange("abcdX")
      try theirs.context.commit()
      #expect(try mine.members() == "abcdXY")
      try mine.person().objects(forKey: kind.rawValue).remove(mine.member("d"))
      #expect(try mine.members() == "abcXY")
      try mine.person().objects(forKey: kind.rawValue).insert(mine.member("d"))
      #expect(try mine.members() == "abcXYd")
      try mine.context.commit()
    }
  }

  @Test("Undoing and redoing a re-added member moves no other member", arguments: Kind.allCases)
  func whoComesBackTakesNobodyAlong(kind: Kind) throws {
    try OrderedWorld.use(kind) { mine, theirs in
      mine.context.undoHistory = UndoHistory()
      try mine.arrange("Xabcd")
      mine.context.undoHistory?.closeGroup()
      try mine.person().objects(forKey: kind.rawValue).remove(mine.member("d"))
      try mine.person().objects(forKey: kind.rawValue).remove(mine.member("c"))
      try mine.person().objects(forKey: kind.rawValue).remove(mine.member("b"))
      try mine.person().objects(forKey: kind.rawValue).remove(mine.member("a"))
      mine.context.undoHistory?.closeGroup()
      try theirs.arrange("abcdY")
      try theirs.context.commit()
      let before = try mine.members()
      try mine.person().objects(forKey: kind.rawValue).insert(mine.member("a"))
      #expect(try mine.members() == before + "a")
      mine.context.undoHistory?.closeGroup()
      mine.context.undo()
      #expect(try mine.members() == before)
      mine.context.redo()
      #expect(try mine.members() == before + "a")
      try mine.context.commit()
    }
  }

  @Test("A change without net effect doesn't override links made by another context")
  func changesWithoutEffectKeepNoLinks() throws {
    for (letter, policy) in ConcurrentPair.policies {
      try OrderedWorld.use(.notes, policy) { mine, theirs in
        try mine.member("X").setValue(.integer(1), forKey: "age")
        try theirs.member("X").setObject(theirs.member("Z"), forKey: "previous")
        try theirs.member("X").setObject(theirs.person(), forKey: "author")
        try theirs.context.commit()
        _ = try mine.context.count("Note")
        try mine.member("X").setValue(.null, forKey: "age")
        try mine.member("Y").setObject(mine.member("Z"), forKey: "previous")
        try mine.context.commit()
        let after: ManagedObject? = try mine.member("Z").object(forKey: "next")
        #expect(try after === mine.member("Y"), "\(letter)")
        let before: ManagedObject? = try mine.member("X").object(forKey: "previous")
        #expect(before == nil, "\(letter)")
        // When it was merged, the change had an effect, and this policy took the context's values.
        #expect(try mine.members() == (letter == "W" ? "abcd" : "abcdX"), "\(letter)")
      }
    }
  }
}
