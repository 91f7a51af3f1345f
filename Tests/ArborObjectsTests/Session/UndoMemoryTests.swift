import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborObjects

/// The memory that an undo history takes, counted in bytes.
@Suite struct UndoMemoryTests {
  /// A way of changing a text, step by step.
  enum Typing: String, CaseIterable {
    case append, prepend, insert, delete, replace, exchange, turns
  }

  private func use(_ body: (ManagedObjectContext, UndoHistory, TypedNote) throws -> Void) throws {
    try ObjectStore.use(
      ManagedObjectModel(for: [TypedNote.self]), classes: [TypedNote.self]
    ) { store in
      let context = store.makeContext()
      let note = context.insert(TypedNote.self)
      try context.commit()
      let history = UndoHistory()
      context.undoHistory = history
      try body(context, history, note)
    }
  }

  private func change(_ text: inout [UInt8], _ typing: Typing, _ step: Int) {
    let letter = UInt8(97 + step % 26)
    switch typing {
    case .append: text.append(letter)
    case .prepend: text.insert(letter, at: 0)
    case .insert: text.insert(letter, at: text.count / 2)
    case .delete: if text.isEmpty { text = [letter] } else { text.removeLast() }
    case .replace: if !text.isEmpty { text[step % text.count] = letter }
    case .exchange:
      // Nothing in common with the former text.
      text = (0..<max(100, text.count)).map { UInt8(97 + ($0 * (step + 1) / 7) % 26) }
    case .turns: if step % 3 == 2 { text.removeLast() } else { text.append(letter) }
    }
  }

  @Test(
    "A group costs the former values, and less for a part of a long text",
    arguments: Typing.allCases,
    [(0, 1000), (10_000, 400)])
  func groupsCostTheirFormerValues(typing: Typing, text given: (size: Int, steps: Int)) throws {
    for isCommitted in [false, true] {
      try use { context, history, note in
        var text = Array(repeating: UInt8(32), count: given.size)
        note.body = String(decoding: text, as: UTF8.self)
        try context.commit()
        history.removeAll()
        #expect(history.heldBytes == 0)
        var states: [[UInt8]] = []
        for step in 0..<given.steps {
          states.append(text)
          change(&text, typing, step)
          note.body = String(decoding: text, as: UTF8.self)
          if isCommitted, step % 10 == 0 { try context.commit() } else { history.closeGroup() }
        }
        let size = states.reduce(0) { $0 + $1.count }
        let overhead = 400 * states.count
        #expect(history.heldBytes <= size * 6 / 5 + overhead)
        if given.size > 0, typing != .exchange { #expect(history.heldBytes < size / 10) }
        #expect(note.heldRecord?.count ?? 0 <= 2 * text.count + 500)
        for state in states.reversed() where history.canUndo {
          history.undo()
          #expect(note.body == String(decoding: state, as: UTF8.self))
        }
        // A rollback returns to the states undone since the commit, and a redo to the later ones.
        #expect(history.heldBytes <= 2 * (size * 6 / 5 + overhead))
        if given.size > 0, typing != .exchange { #expect(history.heldBytes < size / 10) }
        while history.canRedo { history.redo() }
        #expect(note.body == String(decoding: text, as: UTF8.self))
        #expect(history.heldBytes <= 2 * (size * 6 / 5 + overhead))
        history.removeAll()
        #expect(history.heldBytes == 0)
      }
    }
  }

  @Test("Nested groups of an open group cost their former values")
  func nestedGroupsCostTheirFormerValues() throws {
    try use { context, history, note in
      note.body = String(repeating: "word ", count: 2000)
      try context.commit()
      history.removeAll()
      let before = note.body
      history.beginGroup()
      for _ in 0..<200 { history.group { note.body?.append("x") } }
      #expect(history.heldBytes < 200_000)
      for _ in 0..<100 { history.undoGroup() }
      #expect(note.body == before.map { $0 + String(repeating: "x", count: 100) })
      for _ in 0..<50 { history.redoGroup() }
      history.endGroup()
      #expect(history.heldBytes < 300_000)
      history.undo()
      #expect(note.body == before)
      history.removeAll()
      #expect(history.heldBytes == 0)
    }
  }

  @Test("A text that grows from commit to commit doesn't collect unused bytes")
  func growingRecordsStayCompact() throws {
    try use { context, _, note in
      context.undoHistory = nil
      note.body = String(repeating: "word ", count: 2000)
      note.title = "t"
      for step in 0..<300 {
        if step % 2 == 0 { note.body?.append("x") } else { note.title += "y" }
        if step % 3 == 0 { try context.commit() }
        #expect(note.heldRecord?.count ?? 0 < 30_000)
      }
    }
  }

  @Test("The oldest groups are removed beyond the byte limit, but not the newest one")
  func theOldestGroupsGoAtTheByteLimit() throws {
    try use { _, history, note in
      history.byteLimit = 100_000
      for step in 0..<50 {
        // Random texts have no common parts.
        note.body = String(
          decoding: (0..<9000).map { UInt8(97 + ($0 * (step + 3) / 7) % 26) }, as: UTF8.self)
        history.closeGroup()
        #expect(history.heldBytes <= 100_000)
      }
      #expect((8...11).contains(history.undoNames.count))
      note.body = nil
      history.closeGroup()
      note.body = String(repeating: "long", count: 100_000)
      history.closeGroup()
      note.body = nil
      history.closeGroup()
      #expect(history.undoNames.count == 1)
      history.undo()
      #expect(note.body == String(repeating: "long", count: 100_000))
      history.redo()
      #expect(note.body == nil && history.undoNames.count == 1)
    }
  }

  @Test("The byte limit includes values that are stored outside of the records")
  func photosCount() throws {
    try use { context, history, note in
      history.byteLimit = 100_000
      for step in 0..<20 as Range<UInt8> {
        note.photo = Data(repeating: step, count: 30_000)
        note.title += "x"
        try context.commit()
      }
      #expect(history.undoNames.count == 3 && history.heldBytes <= 100_000)
      for step in [18, 17, 16] as [UInt8] {
        history.undo()
        #expect(note.photo == Data(repeating: step, count: 30_000))
      }
      #expect(!history.canUndo)
      try context.commit()
    }
  }

  @Test("A change that leaves the photo alone doesn't count it")
  func unchangedPhotosDoNotCount() throws {
    try use { context, history, note in
      note.photo = Data(repeating: 1, count: 100_000)
      try context.commit()
      history.removeAll()
      for _ in 0..<20 {
        note.title += "x"
        try context.commit()
      }
      #expect(history.undoNames.count == 20 && history.heldBytes < 20_000)
    }
  }

  @Test("Random histories of long texts agree with an array of states")
  func randomHistoriesAgree() throws {
    var seeds = SeededRandom()
    for _ in 0..<TestLength.of(150, long: 10_000) { try run(seed: seeds.next()) }
  }

  @Test("Histories of long texts that failed before", arguments: [1, 2, 3] as [UInt64])
  func knownHistoriesAgree(seed: UInt64) throws { try run(seed: seed) }

  private func run(seed: UInt64) throws {
    do {
      try ObjectStore.use(
        ManagedObjectModel(for: [TypedNote.self]), classes: [TypedNote.self]
      ) { store in
        var history = TypingHistory(store, seed: seed)
        try history.run(steps: 50)
      }
    } catch {
      Issue.record(error, "seed \(seed)")
      throw error
    }
  }

  @Test(
    "A change that the history missed is found by the comparison",
    arguments: 0..<10 as Range<UInt64>)
  func missedChangesAreFound(seed: UInt64) throws {
    try ObjectStore.use(
      ManagedObjectModel(for: [TypedNote.self]), classes: [TypedNote.self]
    ) { store in
      var history = TypingHistory(store, seed: seed, isLossy: true)
      #expect(throws: Mismatch.self) { try history.run(steps: 50) }
      history.context.rollback()
    }
  }
}
