import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Merges of binary values stored outside of records.
@Suite struct BlobMergeTests {
  private static let policies: [(side: TestedPolicy.Side, policy: MergePolicy)] =
    TestedPolicy.all.filter { $0 != .error }.map { (side: $0.side, policy: $0.policy) }

  private func bytes(_ number: UInt8) -> PropertyValue {
    .binary(Data(repeating: number, count: 20_000))
  }

  /// Commits changes of one card in two contexts, theirs first, and returns the values that a new
  /// context reads, or `nil` if the card is gone.
  private func merge(
    _ policy: MergePolicy, isAutomatic: Bool = true, hasUndo: Bool = false,
    theirs: (ManagedObjectContext, ManagedObject) throws -> Void,
    mine: (ManagedObjectContext, ManagedObject) throws -> Void
  ) throws -> [String: PropertyValue]? {
    try ObjectStore.use(MergeCard.model(), classes: [MergeCard.self]) { store in
      let (there, here) = (store.makeContext(), store.makeContext())
      here.mergePolicy = policy
      here.automaticallyMergesCommits = isAutomatic
      if hasUndo { here.undoHistory = UndoHistory() }
      let card = try there.insert("Card")
      for name in ["photo", "scan", "must"] { card[name] = bytes(1) }
      try there.commit()
      let same = try here.existingObject(with: card.objectID)
      try mine(here, same)
      try theirs(there, card)
      try there.commit()
      try here.commit()
      let result = try values(in: store.makeContext())
      for context in [here, there] { #expect(try values(in: context) == result) }
      return result
    }
  }

  /// Returns the values that a context reads of the only card, or `nil` if there is none.
  private func values(in context: ManagedObjectContext) throws -> [String: PropertyValue]? {
    guard let card = try context.fetch(FetchRequest<ManagedObject>(entity: "Card")).first else {
      return nil
    }
    var values: [String: PropertyValue] = [:]
    for name in ["photo", "scan", "must", "note", "number"] {
      values[name] = card[name] as PropertyValue
    }
    return values
  }

  @Test("A large value changed on both sides is the one that the policy keeps")
  func bothSidesChangeAValue() throws {
    for (side, policy) in Self.policies {
      for isAutomatic in [true, false] {
        let values = try merge(
          policy, isAutomatic: isAutomatic,
          theirs: { _, card in card["photo"] = bytes(8) },
          mine: { _, card in
            card["photo"] = bytes(5)
            card["note"] = "mine"
          })
        let isMine = side == .objectWins || side == .overwrite
        #expect(values?["photo"] == (isMine ? bytes(5) : bytes(8)), "\(policy)")
        #expect(values?["note"] == (side == .rollback ? .null : "mine"), "\(policy)")
        #expect(values?["scan"] == bytes(1) && values?["must"] == bytes(1))
      }
    }
  }

  @Test("A large value that only another context changed is merged as the policy says")
  func onlyTheStoreChangesAValue() throws {
    for (side, policy) in Self.policies {
      for isAutomatic in [true, false] {
        for change in [bytes(8), .null] {
          let values = try merge(
            policy, isAutomatic: isAutomatic,
            theirs: { _, card in
              card["photo"] = change
              card["must"] = .binary(Data())
            },
            mine: { _, card in card["number"] = 5 })
          let isMine = side == .overwrite
          #expect(values?["photo"] == (isMine ? bytes(1) : change), "\(policy)")
          #expect(values?["must"] == (isMine ? bytes(1) : .binary(Data())), "\(policy)")
          #expect(values?["number"] == (side == .rollback ? 0 : 5), "\(policy)")
        }
      }
    }
  }

  @Test("A restored object keeps its large values")
  func restoredObjectsKeepTheirValues() throws {
    for (side, policy) in Self.policies {
      for (isAutomatic, hasUndo) in [(true, false), (false, false), (true, true)] {
        let values = try merge(
          policy, isAutomatic: isAutomatic, hasUndo: hasUndo,
          theirs: { context, card in context.delete(card) },
          mine: { _, card in
            card["number"] = 5
            card["scan"] = bytes(6)
          })
        guard side == .objectWins || side == .overwrite else {
          #expect(values == nil, "\(policy)")
          continue
        }
        #expect(values?["photo"] == bytes(1) && values?["must"] == bytes(1), "\(policy)")
        #expect(values?["scan"] == bytes(6) && values?["number"] == 5, "\(policy)")
      }
    }
  }

  @Test("An object changed after another context deleted it can't be restored without its values")
  func valuesThatTheContextNeverHeldAreRefused() throws {
    try ObjectStore.use(MergeCard.model(), classes: [MergeCard.self]) { store in
      let (there, here) = (store.makeContext(), store.makeContext())
      here.mergePolicy = .mergeByPropertyObjectWins
      here.automaticallyMergesCommits = false
      let card = try there.insert("Card")
      card["photo"] = bytes(1)
      try there.commit()
      let same = try here.existingObject(with: card.objectID)
      #expect(same["number"] == 0)
      there.delete(card)
      try there.commit()
      same["number"] = 5
      let error = try failure { try here.commit() }
      #expect(error.code == .conflict && error.objectID == same.objectID)
      #expect(error.keyPath == "photo")
      #expect(
        error.message
          == "Card.photo can't be restored: another commit has deleted the object, and the value "
          + "is no longer in the store. Set photo, delete the object, or roll back.")
      same["photo"] = bytes(2)
      try here.commit()
      #expect(try store.makeContext().count("Card", matching: "number == 5") == 1)
    }
  }

  @Test("A context with an undo history sees the value of a restored object")
  func undoHistoriesDontHideNewValues() throws {
    try ObjectStore.use(MergeCard.model(), classes: [MergeCard.self]) { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      here.undoHistory = UndoHistory()
      there.mergePolicy = .mergeByPropertyObjectWins
      there.automaticallyMergesCommits = false
      let card = try here.insert("Card")
      card["photo"] = bytes(1)
      try here.commit()
      let same = try there.existingObject(with: card.objectID)
      same["photo"] = bytes(3)
      card["photo"] = bytes(2)
      try here.commit()
      here.delete(card)
      try here.commit()
      try there.commit()
      let restored = try here.fetch(FetchRequest<ManagedObject>(entity: "Card"))
      #expect(restored.map { $0["photo"] as PropertyValue } == [bytes(3)])
      #expect(
        try here.count("Card", matching: FetchPredicate(format: "photo == %@", bytes(3))) == 1)
    }
  }
}
