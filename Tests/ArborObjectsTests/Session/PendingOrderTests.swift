import ArborModel
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct PendingOrderTests {
  private func use(_ body: (PendingMembers) throws -> Void) throws {
    try ObjectStore.use(PlainWorld.model()) { store in
      let context = store.makeContext()
      let binding = try #require(
        context.session.classes.originals.first { $0.entity.name == "Person" })
      let relationship = try #require(
        binding.entity.relationships.first { $0.name == "favourites" })
      try body(context.session.links.makeEdit(ObjectNumber(rawValue: 1), relationship))
    }
  }

  private func numbers(_ names: String) -> [ObjectNumber] {
    names.unicodeScalars.map { ObjectNumber(rawValue: UInt64($0.value)) }
  }

  private func names(_ numbers: [ObjectNumber]) -> String {
    numbers.map { UnicodeScalar(UInt32($0.rawValue)).map(String.init) ?? "?" }.joined()
  }

  // MARK: Two lists

  @Test(
    "Inserted members follow or precede their neighbours",
    arguments: [
      ("abcd", "abcd", "abcd", "abcd"), ("", "ab", "ab", "ab"), ("ab", "", "ab", "ab"),
      ("ab", "XY", "XYab", "abXY"), ("abc", "aXbc", "aXbc", "aXbc"),
      ("cba", "aXbc", "cbaX", "cXba"), ("ab", "Xab", "Xab", "Xab"), ("ba", "Xab", "Xba", "Xba"),
      ("ba", "abX", "baX", "baX"), ("baM", "abX", "baXM", "baMX"), ("Mba", "Xab", "XMba", "MXba"),
      ("dcba", "XaYbWc", "XdcbWaY", "dXWcYba"),
    ])
  func guestsStandByTheirNeighbours(
    own: String, guests: String, behind: String, before: String
  ) {
    #expect(names(numbers(own).inserting(numbers(guests))) == behind)
    #expect(names(numbers(own).insertingBefore(numbers(guests))) == before)
  }

  @Test("Merging two lists agrees with placing members one at a time")
  func guestsStandWhereOneByOnePlacingPutsThem() {
    var random = SeededRandom(seed: 11)
    let letters = Array("abcdefghijklmnop")
    for _ in 0..<3000 {
      let own = letters.shuffled(using: &random).prefix(.random(in: 0...10, using: &random))
      let guests = letters.shuffled(using: &random).prefix(.random(in: 0...10, using: &random))
      var expected = Array(own)
      var previous: Character?
      let lastOfBoth = own.last { guests.contains($0) }
      for (index, guest) in guests.enumerated() {
        defer { previous = guest }
        guard !own.contains(guest) else { continue }
        let isBehindAll = !guests.dropFirst(index).contains { own.contains($0) }
        var anchor = previous
        if isBehindAll, previous.map({ own.contains($0) }) ?? false { anchor = lastOfBoth }
        var target = anchor.flatMap { expected.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        // After those that follow the same member.
        if isBehindAll, anchor == lastOfBoth, anchor != nil {
          while target < expected.count, !own.contains(expected[target]) { target += 1 }
        }
        expected.insert(guest, at: target)
      }
      let merged = numbers(String(own)).inserting(numbers(String(guests)))
      #expect(names(merged) == String(expected), "\(String(own)) with \(String(guests))")
      let mirrored = numbers(String(own.reversed())).insertingBefore(
        numbers(String(guests.reversed())))
      #expect(names(mirrored.reversed()) == String(expected))
    }
  }

  // MARK: One edit

  @Test("Added members are placed last")
  func whoIsAddedStandsLast() throws {
    try use { edit in
      for member in numbers("yx") {
        edit.putLast(member) {
          Issue.record("the store's members are read")
          return []
        }
        edit[member] = .added
      }
      #expect(names(edit.members(over: numbers("cab"))) == "cabyx")
      // Another context has added one of them in the meantime.
      #expect(names(edit.members(over: numbers("cxab"))) == "cxaby")
      edit[numbers("y")[0]] = .unmentioned
      #expect(names(edit.members(over: numbers("cab"))) == "cabx")
      edit[numbers("a")[0]] = .removed
      #expect(names(edit.members(over: numbers("cab"))) == "cbx")
      #expect(edit.changesOwner && !edit.isContested(over: numbers("bac")))
    }
  }

  @Test("A removed member that is added again is placed last")
  func whoComesBackStandsLast() throws {
    try use { edit in
      let a = numbers("a")[0]
      edit[a] = .removed
      edit.putLast(a) { numbers("abc") }
      edit[a] = .unmentioned
      #expect(names(edit.members(over: numbers("abc"))) == "bca")
      #expect(edit.changesOwner)
      // A member added by another context follows its predecessor, before those that were put last
      // here.
      #expect(names(edit.members(over: numbers("abXc"))) == "bXca")
      #expect(names(edit.members(over: numbers("bc"))) == "bc")
    }
  }

  @Test("Restoring the stored sequence is not a change")
  func theStoresOwnSequenceIsNoChange() throws {
    try use { edit in
      let stored = numbers("abc")
      edit.arrange(numbers("cab"), over: stored)
      #expect(edit.changesOwner && names(edit.members(over: stored)) == "cab")
      edit.arrange(stored, over: stored)
      #expect(edit.isEmpty && edit.order == nil)
      edit[numbers("x")[0]] = .added
      edit.arrange(numbers("abcx"), over: stored)
      #expect(edit.order?.arrangement == nil)
      #expect(names(edit.members(over: numbers("cba"))) == "cbax")
    }
  }

  @Test("An order is contested only if both sides have moved members")
  func onlyMovesOfBothAreContested() throws {
    try use { edit in
      let stored = numbers("abcd")
      edit.arrange(numbers("bacd"), over: stored)
      for theirs in ["abcd", "abcdX", "Xabcd", "abd", "bacd", "", "ac"] {
        #expect(!edit.isContested(over: numbers(theirs)), "\(theirs)")
      }
      for theirs in ["abdc", "dabc", "aXcbd"] {
        #expect(edit.isContested(over: numbers(theirs)), "\(theirs)")
      }
      edit[numbers("d")[0]] = .removed
      #expect(!edit.isContested(over: numbers("abdc")))
    }
  }

  @Test("After yielding to the stored order, additions keep their places")
  func whoYieldsKeepsItsAdditionsByTheirNeighbours() throws {
    try use { edit in
      edit[numbers("x")[0]] = .added
      edit.arrange(numbers("bxacd"), over: numbers("abcd"))
      edit.yieldOrder(to: numbers("dabYc"))
      #expect(names(edit.members(over: numbers("dabYc"))) == "dxabYc")
      #expect(!edit.isContested(over: numbers("dabYc")))
    }
  }

  @Test("Copies of an order are independent")
  func copiesShareNothing() throws {
    try use { edit in
      for member in numbers("abcdefghijklmnop") {
        edit.putLast(member) { [] }
        edit[member] = .added
      }
      let copy = try #require(edit.order?.copy)
      edit.putLast(numbers("z")[0]) { [] }
      #expect(copy.last.numbers == numbers("abcdefghijklmnop"))
      #expect(edit.order?.last.count == 17)
    }
  }
}
