#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @testable import crash_writer

  /// A store with a journal, whose writer is killed or whose machine is restarted, and journals that
  /// are missing, damaged or not the store's.
  @Suite("Journals", .serialized) struct JournalTests {
    private func hasJournal(_ path: String) -> Bool {
      FileManager.default.fileExists(atPath: path + "-journal")
    }

    @Test("The last process to close a store removes its journal")
    func closingRemovesTheJournal() throws {
      let folder = try TemporaryFolder()
      let path = folder.path("office.arbor")
      let model = try OfficeModel.make()
      let options = LedgerJournal.immediate
      for round in 1...3 {
        let store = try PersistentStore(model: model, at: .path(path), options: options)
        #expect(!hasJournal(path))
        for _ in 1...3 {
          let context = store.makeContext()
          try context.insert("Tag")["name"] = "round \(round)"
          try context.commit()
          #expect(hasJournal(path))
        }
        if round == 2 {
          try store.compact()
          #expect(!hasJournal(path))
        }
        let copy = folder.url.appending(path: "copy-\(round).arbor")
        try store.copy(to: copy, compacting: round == 3)
        let copied = try PersistentStore(at: .file(copy))
        #expect(try copied.makeContext().count("Tag") == 3 * round)
        try copied.check()
        copied.close()
        try store.check()
        store.close()
        #expect(!hasJournal(path))
      }
      let store = try PersistentStore(at: .path(path), options: options)
      try store.makeContext().commit()
      try store.purge()
      #expect(hasJournal(path))
      try store.destroy()
      #expect(!hasJournal(path))
      #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("After a restart of the machine, the last commits are recovered from the journal")
    func recoversAfterARestart() throws {
      for checkpoints in [1000, 2] {
        let left = try LeftStore(checkpoints: checkpoints)
        #expect(hasJournal(left.path))
        // The pages that were written last never reached the disk.
        try left.loseRoots()
        try left.verify()
        #expect(!hasJournal(left.path))
        try left.verify()
      }
    }

    @Test("A journal that a killed process left is removed by the next opening for writing")
    func endsWhatAKilledProcessLeft() throws {
      let left = try LeftStore(isRestarted: false)
      #expect(hasJournal(left.path))
      #expect(left.refusal(isReadOnly: true) == nil)
      #expect(hasJournal(left.path))
      try left.verify()
      #expect(!hasJournal(left.path))
    }

    @Test(
      "A store whose journal is damaged is set aside with it on request",
      arguments: ["entry", "headers", "end", "file"])
    func damagedJournalsAreSetAside(_ damage: String) throws {
      let left = try LeftStore()
      if damage != "file" { try left.loseRoots() }
      switch damage {
      case "file": try left.change(left.path) { $0 = Data(repeating: 7, count: $0.count) }
      case "headers":
        try left.change(left.journal) { bytes in
          for page in 0..<2 { bytes[page * 4096 + 100] ^= 1 }
        }
      case "end": try left.change(left.journal) { $0.removeLast($0.count - 9000) }
      default: try left.change(left.journal) { $0[2 * 4096 + 40] ^= 0x10 }
      }
      let refusal = left.refusal()
      try #require(refusal != nil)
      var options = LedgerJournal.options
      options.onCorruption = .setAsideAndRecreate
      do {
        let store = try PersistentStore(
          for: LedgerClasses.all, at: .path(left.path), options: options)
        #expect(try store.makeContext().fetch(FetchRequest<Ledger>()).isEmpty)
        try store.check()
        store.close()
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: left.folder.url.path)
      let kept = names.filter { $0.contains(".damaged-") }
      #expect(kept.contains { $0.hasSuffix("-journal") } && kept.count == 2, "\(names)")
    }

    @Test(
      "In a folder that is not writable, a store that needs its journal is read-only",
      .enabled(if: geteuid() == 0))
    func unwritableFoldersAreNamed() async throws {
      let left = try LeftStore()
      #expect(chmod(left.folder.url.path, 0o755) == 0)
      #expect(chmod(left.path, 0o666) == 0 && chmod(left.journal, 0o666) == 0)
      await #expect(processExitsWith: .exitCode(0)) { [path = left.path as String] in
        guard setuid(4711) == 0 else { exit(1) }
        do throws(ArborError) {
          try PersistentStore(at: .path(path)).close()
          exit(2)
        } catch {
          exit(error.code == .readOnly ? 0 : 3)
        }
      }
    }

    @Test("A store that needs its journal cannot be opened read-only")
    func readersAreRefused() throws {
      let left = try LeftStore()
      let error = try #require(left.refusal(isReadOnly: true))
      #expect(error.code == .readOnly)
      #expect(
        error.message
          == "The machine stopped while \(left.path) was open, and the store's last commits are in "
          + "its journal. Open the store for writing once to recover the commits.")
      try left.verify()
    }

    @Test("The journal of another store is refused")
    func refusesForeignJournals() throws {
      let (left, other) = (try LeftStore(), try LeftStore())
      let files = FileManager.default
      let aside = left.folder.path("aside")
      try files.moveItem(atPath: left.journal, toPath: aside)
      try files.copyItem(atPath: other.journal, toPath: left.journal)
      let error = try #require(left.refusal())
      #expect(error.code == .notAStore)
      #expect(
        error.message
          == "The journal \(left.journal) doesn't belong to the store's file. If the file was "
          + "restored from a copy, move the journal to another folder; otherwise put back the file "
          + "that the journal belongs to.")
      try files.removeItem(atPath: left.journal)
      try files.moveItem(atPath: aside, toPath: left.journal)
      try left.verify()
      try other.verify()
    }

    @Test("The journal of a file that was restored from a copy is refused")
    func refusesAJournalOfALaterFile() throws {
      let left = try LeftStore()
      let files = FileManager.default
      try files.copyItem(atPath: left.journal, toPath: left.folder.path("journal"))
      try left.verify()
      try files.copyItem(atPath: left.folder.path("journal"), toPath: left.journal)
      #expect(left.refusal()?.code == .notAStore)
      try files.removeItem(atPath: left.journal)
      try left.verify()
    }

    @Test("A journal without its store is kept")
    func keepsALoneJournal() throws {
      let left = try LeftStore()
      let files = FileManager.default
      try files.moveItem(atPath: left.path, toPath: left.folder.path("aside"))
      #expect(throws: ArborError.self) { try LedgerWriter.open(left.path) }
      #expect(
        left.refusal()?.message
          == "The journal \(left.journal) has commits of a store whose file is missing. Put the "
          + "file back, or move the journal to another folder to create a new store.")
      try files.moveItem(atPath: left.folder.path("aside"), toPath: left.path)
      try left.verify()
    }

    @Test("A journal of a later version is refused")
    func refusesLaterVersions() throws {
      let left = try LeftStore()
      let former = try Data(contentsOf: URL(filePath: left.journal))
      try left.change(left.journal) { bytes in
        for page in 0..<2 where bytes[page * 4096] != 0 {
          bytes[page * 4096 + 8] = 5
          bytes.sign(page * 4096..<page * 4096 + 224)
        }
      }
      let error = try #require(left.refusal())
      #expect(error.code == .formatTooNew)
      #expect(
        error.message
          == "The journal \(left.journal) has format 5, which requires a later version of the "
          + "library.")
      try former.write(to: URL(filePath: left.journal))
      try left.verify()
    }

    @Test("A truncated journal is refused")
    func refusesATruncatedJournal() throws {
      let left = try LeftStore()
      try left.loseRoots()
      let former = try Data(contentsOf: URL(filePath: left.journal))
      try left.change(left.journal) { $0.removeLast($0.count - 9000) }
      let error = try #require(left.refusal())
      #expect(error.code == .corrupted)
      #expect(
        error.message
          == "The journal \(left.journal) is shorter than it was, so commits may be missing. "
          + "Restore the store from a backup, or salvage it into a new file.")
      try former.write(to: URL(filePath: left.journal))
      try left.verify()
    }

    @Test("A damaged entry before others is reported as damage, not as the end of the journal")
    func refusesADamagedEntry() throws {
      let left = try LeftStore()
      try left.loseRoots()
      let former = try Data(contentsOf: URL(filePath: left.journal))
      // The first entry begins after the headers.
      try left.change(left.journal) { $0[2 * 4096 + 40] ^= 0x10 }
      let error = try #require(left.refusal())
      #expect(error.code == .corrupted)
      #expect(
        error.message.hasPrefix("The journal \(left.journal) is damaged: it has transaction "))
      #expect(
        error.message.hasSuffix(". Restore the store from a backup, or salvage it into a new file.")
      )
      try former.write(to: URL(filePath: left.journal))
      try left.verify()
    }

    @Test("A journal without its newest header is refused")
    func refusesADamagedHeader() throws {
      let left = try LeftStore()
      try left.loseRoots()
      let former = try Data(contentsOf: URL(filePath: left.journal))
      try left.change(left.journal) { bytes in
        for page in 0..<2 { bytes[page * 4096 + 100] ^= 1 }
      }
      let error = try #require(left.refusal())
      #expect(error.code == .corrupted)
      #expect(
        error.message
          == "A header of the journal \(left.journal) is damaged, so its commits cannot be "
          + "recovered. Restore the store from a backup, or salvage it into a new file.")
      // The one with the greater number, at offset 52, is needed.
      let numbers = [0, 1].map { former[$0 * 4096 + 52] }
      for page in 0..<2 {
        var bytes = former
        bytes[page * 4096 + 100] ^= 1
        try bytes.write(to: URL(filePath: left.journal))
        if numbers[page] > numbers[1 - page] { #expect(left.refusal()?.code == .corrupted) }
      }
      try former.write(to: URL(filePath: left.journal))
      try left.verify()
    }

    @Test("A torn last entry, which was never acknowledged, ends the journal")
    func endsAtATornEntry() throws {
      let left = try LeftStore()
      try left.change(left.journal) { bytes in
        let last = entries(in: bytes).last?.upperBound ?? bytes.count
        bytes.replaceSubrange(last - 512..<last, with: Data(count: 512))
      }
      let store = try LedgerWriter.open(left.path)
      defer { store.close() }
      try store.check()
      let state = try #require(try LedgerState(reading: store))
      #expect(state == LedgerState(seed: LeftStore.seed, rounds: state.round))
    }

    @Test("An empty journal is harmless if the whole file reached the disk")
    func verifiesTheFileWithAnEmptyJournal() throws {
      let left = try LeftStore()
      try left.change(left.journal) { $0 = Data(count: $0.count) }
      try left.verify()
      #expect(!hasJournal(left.path))
    }

    @Test("A store whose journal is missing is opened only if the options accept that")
    func refusesAMissingJournal() throws {
      for isReadOnly in [false, true] {
        let left = try LeftStore()
        try FileManager.default.removeItem(atPath: left.journal)
        let error = try #require(left.refusal(isReadOnly: isReadOnly))
        #expect(error.code == .corrupted)
        #expect(
          error.message
            == "The journal \(left.journal) is missing, and the machine stopped while the store was "
            + "open, so its last commits may be lost. Put the journal back. If it is lost, set "
            + "options.acceptsMissingJournal to open the store as its file is.")
        var options = StoreOptions()
        options.acceptsMissingJournal = true
        try PersistentStore(at: .path(left.path), options: options).close()
        #expect(!hasJournal(left.path))
        try left.verify()
      }
    }

    /// The offsets of the entries of a journal.
    private func entries(in journal: Data) -> [Range<Int>] {
      func number(_ offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(journal[offset + $1]) << (8 * $1) }
      }
      var entries: [Range<Int>] = []
      let epoch = journal[2 * 4096 + 8..<2 * 4096 + 16]
      var offset = 2 * 4096
      while offset + 28 < journal.count, number(offset) == 0x4A41_4531,
        journal[offset + 8..<offset + 16] == epoch
      {
        // 496 bytes in each sector of 512.
        let end = offset + (number(offset + 4) + 495) / 496 * 512
        entries.append(offset..<end)
        // The next one begins on another page.
        offset = (end + 4095) / 4096 * 4096
      }
      return entries
    }

    @Test("A sound file is kept if the end of its journal is lost")
    func keepsANewerFile() throws {
      for kept in [0, 1, 2, -1] {
        let left = try LeftStore()
        try left.change(left.journal) { journal in
          let entries = entries(in: journal)
          let first = entries[kept < 0 ? entries.count - 1 : kept].lowerBound
          if kept < 0 {
            journal[first + 40] ^= 1
          } else {
            journal.replaceSubrange(first..., with: Data(count: journal.count - first))
          }
        }
        // All acknowledged rounds.
        try left.verify()
        #expect(!hasJournal(left.path))
      }
    }

    /// Journals that are damaged, cut or of an earlier moment, beside a file that is whole.
    @Test("A damaged or earlier journal never puts a whole file back", arguments: [1000, 3])
    func damagedJournalsPutNothingBack(checkpoints: Int) throws {
      let seed = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
      var random = seed.map { SeededRandom(seed: $0) } ?? SeededRandom()
      var earlier = Data()
      let left = try LeftStore(rounds: 12, checkpoints: checkpoints) { path, _ in
        earlier = try Data(contentsOf: URL(filePath: path + "-journal"))
      }
      let file = try Data(contentsOf: URL(filePath: left.path))
      let journal = try Data(contentsOf: URL(filePath: left.journal))
      var (opened, refused) = (0, 0)
      for _ in 0..<TestLength.of(150, long: 10_000) {
        try file.write(to: URL(filePath: left.path))
        var bytes = Int.random(in: 0..<4, using: &random) == 0 ? earlier : journal
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let place = Int.random(in: 0..<end, using: &random)
          switch Int.random(in: 0..<6, using: &random) {
          case 0: bytes.replaceSubrange(place..., with: Data(count: bytes.count - place))
          case 1:
            bytes.replaceSubrange(
              place..<min(place + 512, end), with: Data(count: min(512, end - place)))
          case 2: bytes[Int.random(in: 0..<224, using: &random)] ^= 1 << UInt8(place % 8)
          case 3: bytes[4096 + Int.random(in: 0..<224, using: &random)] ^= 1 << UInt8(place % 8)
          default: bytes[place] ^= 1 << UInt8(place % 8)
          }
        }
        try bytes.write(to: URL(filePath: left.journal))
        let store: PersistentStore
        do throws(ArborError) {
          store = try PersistentStore(for: LedgerClasses.all, at: .path(left.path))
        } catch {
          refused += 1
          #expect(
            [.corrupted, .notAStore].contains(error.code), "\(error), seed \(random.seed)")
          continue
        }
        defer { store.close() }
        opened += 1
        let round = try LedgerState(reading: store)?.round ?? 0
        #expect(round >= left.rounds, "seed \(random.seed)")
      }
      #expect(opened > 0 && refused > 0)
    }

    @Test("Salvage keeps a sound file whose journal has lost its end")
    func salvagesANewerFile() throws {
      let left = try LeftStore()
      try left.change(left.journal) { journal in
        let first = entries(in: journal)[1].lowerBound
        journal.replaceSubrange(first..., with: Data(count: journal.count - first))
      }
      let (report, round) = try salvage(left)
      #expect(report.isComplete && round >= left.rounds)
    }

    @Test("A damaged file whose journal has lost its end is refused, and is not put back silently")
    func refusesALostEnd() throws {
      let left = try LeftStore()
      try left.change(left.journal) { journal in
        let first = entries(in: journal)[1].lowerBound
        journal.replaceSubrange(first..., with: Data(count: journal.count - first))
      }
      // A page in the middle of the file is an older one.
      try left.change(left.path) { bytes in
        let page = bytes.count / 4096 / 2
        for offset in page * 4096..<bytes.count { bytes[offset] = 0 }
      }
      let error = try #require(left.refusal())
      #expect(error.code == .corrupted)
      #expect(error.message.hasPrefix("The store's file has "))
      #expect(
        error.message.hasSuffix(
          " later transactions than the journal \(left.journal), but is damaged itself. The end of "
            + "the journal is lost, or the journal is a former one. Restore the store from a backup, "
            + "or salvage it into a new file."))
      #expect(hasJournal(left.path))
    }

    @Test("A file of another program with the journal's name is neither read nor changed")
    func refusesAStrangersFile() throws {
      let folder = try TemporaryFolder()
      let path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
      let contents = [
        Data("three years of notes".utf8), Data(repeating: 7, count: 20 << 20),
        try {
          let other = folder.path("other.arbor")
          try LedgerWriter(path: other) { _ in }.store.close()
          return try Data(contentsOf: URL(filePath: other))
        }(),
      ]
      try LedgerWriter(path: path) { _ in }.store.close()
      for content in contents {
        try content.write(to: URL(filePath: path + "-journal"))
        let options = LedgerJournal.immediate
        let error = #expect(throws: ArborError.self) {
          try PersistentStore(for: LedgerClasses.all, at: .path(path), options: options)
        }
        #expect(
          error?.message
            == "\(path)-journal has the name of a store's journal, but is something else. Move it "
            + "to another folder.")
        #expect(try Data(contentsOf: URL(filePath: path + "-journal")) == content)
      }
    }

    @Test("A header of a later format that is damaged is damage")
    func checksHeadersFirst() throws {
      let left = try LeftStore()
      let former = try Data(contentsOf: URL(filePath: left.journal))
      for bit in 0..<8 {
        for page in 0..<2 where former[page * 4096] != 0 {
          try former.write(to: URL(filePath: left.journal))
          try left.change(left.journal) { $0[page * 4096 + 8] ^= 1 << bit }
          let refusal = left.refusal(isReadOnly: true)
          #expect(refusal?.code == .readOnly || refusal?.code == .corrupted, "bit \(bit)")
        }
      }
      try former.write(to: URL(filePath: left.journal))
      try left.verify()
    }

    /// Salvages a store, and checks that the result is sound and in the state after one of its
    /// rounds.
    private func salvage(_ left: LeftStore) throws -> (report: SalvageReport, round: Int) {
      let former = try [left.path, left.journal].map { try Data(contentsOf: URL(filePath: $0)) }
      let rescued = left.folder.path("rescued-\(UUID().uuidString).arbor")
      let report = try PersistentStore.salvage(
        URL(filePath: left.path), to: URL(filePath: rescued))
      #expect(try Data(contentsOf: URL(filePath: left.path)) == former[0])
      #expect(try Data(contentsOf: URL(filePath: left.journal)) == former[1])
      let names = try FileManager.default.contentsOfDirectory(atPath: left.folder.url.path)
      #expect(!names.contains { $0.contains(".new-") })
      let store = try LedgerWriter.open(rescued)
      defer { store.close() }
      try store.check()
      let state = try #require(try LedgerState(reading: store))
      #expect(state == LedgerState(seed: LeftStore.seed, rounds: state.round))
      return (report, state.round)
    }

    @Test("Salvage recovers the commits in the journal, too")
    func salvagesTheJournal() throws {
      let left = try LeftStore()
      // The pages that were written last never reached the disk.
      try left.loseRoots()
      let (report, round) = try salvage(left)
      #expect(report.isComplete)
      #expect((left.rounds...left.rounds + 1).contains(round))
      try left.verify()
    }

    @Test("Salvage uses a damaged journal up to the damage")
    func salvagesADamagedJournal() throws {
      let left = try LeftStore()
      try left.loseRoots()
      // The first entry begins after the headers.
      try left.change(left.journal) { $0[2 * 4096 + 40] ^= 0x10 }
      let (report, round) = try salvage(left)
      #expect(!report.isComplete && !report.isSequenceCertain && report.state == .newest)
      #expect(report.doubtful.isEmpty && report.lostLinkCount == 0)
      #expect(round < left.rounds)
    }

    @Test("Salvage ignores the journal of another store")
    func salvagesWithoutAForeignJournal() throws {
      let (left, other) = (try LeftStore(), try LeftStore())
      try FileManager.default.removeItem(atPath: left.journal)
      try FileManager.default.copyItem(atPath: other.journal, toPath: left.journal)
      // This machine didn't stop, so the file alone has all commits.
      let (report, round) = try salvage(left)
      #expect(report.isComplete)
      #expect((left.rounds...left.rounds + 1).contains(round))
    }

    @Test("A folder in the journal's place is an error when the store is opened")
    func refusesAFolder() throws {
      let folder = try TemporaryFolder()
      let path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
      try LedgerWriter(path: path) { _ in }.store.close()
      try FileManager.default.createDirectory(
        atPath: path + "-journal", withIntermediateDirectories: false)
      let error = #expect(throws: ArborError.self) { try LedgerWriter.open(path) }
      #expect(
        error?.message
          == "\(path)-journal has the name of a store's journal, but is something else. Move it to "
          + "another folder.")
    }

    @Test(
      "Commits don't need a journal if there is no space for one",
      .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
    func commitsWithoutRoomForAJournal() throws {
      let disk = try SmallDisk(bytes: 1 << 20)
      defer { disk.unmount() }
      let path = disk.url.appending(path: "ledger.arbor").path
      let store = try PersistentStore(
        for: LedgerClasses.all, at: .path(path), options: LedgerJournal.immediate)
      let writer = try LedgerWriter(store) { _ in }
      try writer.write(rounds: 3, seed: LeftStore.seed)
      #expect(!hasJournal(path))
      try store.check()
      store.close()
    }

    @Test("Several writers share a journal, and kills lose no acknowledged commit")
    func severalProcessesShareAJournal() throws {
      let folder = try TemporaryFolder()
      let path = folder.path("ledger.arbor")
      try LedgerWriter(path: path) { _ in }.store.close()
      let environment = [LedgerJournal.variable: "7", "SWIFT_BACKTRACE": "enable=no"]
      var acknowledged = [0, 0, 0]
      for round in 0..<4 {
        let runs = try (0..<3).map { writer in
          try CrashWriterRun(
            ["resume", path, "\(writer + 1)", "1000000"],
            // One writer doesn't request a journal.
            environment: writer == 2 ? ["SWIFT_BACKTRACE": "enable=no"] : environment)
        }
        for run in runs { #expect(run.read(until: 20 + round, "appended")) }
        for (writer, run) in runs.enumerated() {
          run.kill()
          #expect(run.finish().errors.isEmpty)
          acknowledged[writer] = Int(run.acknowledged("appended").last ?? 0)
        }
      }
      let store = try LedgerWriter.open(path)
      defer { store.close() }
      try store.check()
      let entries = try store.makeContext().fetch(FetchRequest<Entry>())
      for writer in 1...3 {
        let rounds = entries.filter { $0.amount == writer }.map(\.round).sorted()
        #expect(rounds == Array(1...max(1, rounds.count)))
        let least = acknowledged[writer - 1]
        #expect((least...least + 1).contains(rounds.count))
      }
    }
  }

  extension Data {
    /// Replaces the last four bytes of a range by the CRC-32C of the others.
    fileprivate mutating func sign(_ range: Range<Int>) {
      var remainder = ~UInt32(0)
      for byte in self[range].dropLast(4) {
        remainder ^= UInt32(byte)
        for _ in 0..<8 {
          remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0x82F6_3B78 : remainder >> 1
        }
      }
      for index in 0..<4 {
        self[range.upperBound - 4 + index] = UInt8(truncatingIfNeeded: ~remainder >> (8 * index))
      }
    }
  }
#endif
