#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @testable import crash_writer

  /// What users do with a store that has a journal: open it with other options, copy its files, and
  /// restore them one after another. Each either gives all acknowledged commits, or is refused with
  /// an error that says what to do.
  @Suite("Handling journals", .serialized) struct JournalHandlingTests {
    @Test(
      "A store with a journal can be used with every durability",
      arguments: [StoreOptions.Durability.full, .fullClassic, .relaxed], [false, true])
    func otherDurabilities(_ durability: StoreOptions.Durability, isRestarted: Bool) throws {
      let left = try LeftStore(isRestarted: isRestarted)
      let options = StoreOptions(durability: durability)
      let store = try PersistentStore(
        for: LedgerClasses.all, at: .path(left.path), options: options)
      let state = try #require(try LedgerState(reading: store))
      #expect((left.rounds...left.rounds + 1).contains(state.round))
      #expect(state == LedgerState(seed: LeftStore.seed, rounds: state.round))
      let writer = try LedgerWriter(store) { _ in }
      try writer.write(rounds: 2, seed: LeftStore.seed)
      try store.check()
      store.close()
      #expect(!left.hasJournal)
      let later = try PersistentStore(for: LedgerClasses.all, at: .path(left.path))
      defer { later.close() }
      #expect(try LedgerState(reading: later)?.round == state.round + 2)
    }

    @Test(
      "A journaled store is read without changing anything, unless it has to be recovered",
      arguments: [false, true], [false, true])
    func reading(isImmutable: Bool, isRestarted: Bool) throws {
      let left = try LeftStore(isRestarted: isRestarted)
      let former = try left.contents()
      if isRestarted {
        let error = try #require(
          left.refusal(isReadOnly: !isImmutable, isImmutable: isImmutable))
        #expect(error.code == .readOnly)
        #expect(
          error.message
            == "The machine stopped while \(left.path) was open, and the store's last commits are in "
            + "its journal. Open the store for writing once to recover the commits.")
      } else {
        var options = StoreOptions()
        options.isReadOnly = !isImmutable
        options.isImmutable = isImmutable
        let store = try PersistentStore(
          for: LedgerClasses.all, at: .path(left.path), options: options)
        defer { store.close() }
        #expect(try #require(try LedgerState(reading: store)).round >= left.rounds)
      }
      #expect(try left.contents() == former)
      try left.verify()
    }

    @Test("Both files of a store that is not in use can be moved", arguments: [false, true])
    func movedTogether(isRestarted: Bool) throws {
      let left = try LeftStore(isRestarted: isRestarted)
      let moved = try left.copied(to: "moved.arbor", journal: left.journal)
      try moved.verify()
      #expect(!moved.hasJournal)
    }

    @Test("A file without its journal is complete, or the error names the journal")
    func movedAlone() throws {
      try LeftStore(isRestarted: false).copied(to: "moved.arbor", journal: nil).verify()
      let moved = try LeftStore().copied(to: "moved.arbor", journal: nil)
      for isReadOnly in [false, true] {
        let error = try #require(moved.refusal(isReadOnly: isReadOnly))
        #expect(error.code == .corrupted)
        #expect(
          error.message
            == "The journal \(moved.journal) is missing, and the machine stopped while the store was "
            + "open, so its last commits may be lost. Put the journal back. If it is lost, set "
            + "options.acceptsMissingJournal to open the store as its file is.")
      }
    }

    /// A tool copies one file after the other, while a process writes to the store.
    @Test(
      "Files that were copied at different times are refused, found damaged, or right",
      arguments: [1000, 3], [false, true])
    func copiedOneAfterAnother(checkpoints: Int, journalFirst: Bool) throws {
      var (right, refused, damaged) = (0, 0, 0)
      for _ in 0..<TestLength.of(3, long: 300) {
        var copies: [String: Data] = [:]
        let left = try LeftStore(rounds: 20, checkpoints: checkpoints) { path, run in
          let suffixes = journalFirst ? ["-journal", ""] : ["", "-journal"]
          for suffix in suffixes {
            copies[suffix] = try Data(contentsOf: URL(filePath: path + suffix))
            if copies.count == 1 { _ = run.read(until: 9, "round") }
          }
        }
        let path = left.folder.path("copied.arbor")
        for (suffix, bytes) in copies { try bytes.write(to: URL(filePath: path + suffix)) }
        let store: PersistentStore
        do throws(ArborError) {
          store = try PersistentStore(for: LedgerClasses.all, at: .path(path))
        } catch {
          #expect([.corrupted, .notAStore].contains(error.code), "\(error)")
          refused += 1
          continue
        }
        defer { store.close() }
        do {
          try store.check()
          let state = try #require(try LedgerState(reading: store))
          #expect(state == LedgerState(seed: LeftStore.seed, rounds: state.round))
          #expect(state.round >= 1)
          right += 1
        } catch let error as ArborError {
          #expect(error.code == .corrupted, "\(error)")
          damaged += 1
        }
      }
      print(
        "journal first \(journalFirst), \(checkpoints) commits: \(right) right, \(refused) refused, "
          + "\(damaged) damaged")
      #expect(right + refused + damaged > 0)
    }
  }
#endif
