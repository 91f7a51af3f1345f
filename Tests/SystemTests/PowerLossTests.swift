#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @testable import crash_writer

  /// Power fails at any moment of a program that makes a store and changes it: of what it wrote and
  /// had not synced, any part may be on the disk. Every acknowledged commit is there, nothing is
  /// there by half, and the store is sound.
  @Suite(.serialized) struct PowerLossTests {
    /// What the program does.
    enum Work: String, CaseIterable {
      case creation, commits, index, evolve, compact
    }

    /// Of each work; `ARBOR_CASES` asks for another number.
    private static let images =
      ProcessInfo.processInfo.environment["ARBOR_CASES"].flatMap { Int($0) }
      ?? TestLength.of(40, long: 200_000)
    private static let roundsBefore = 4

    /// A new seed, or the one that a failure told of.
    private static func seed() -> UInt64 {
      let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
      return given ?? .random(in: 0...(.max))
    }

    @Test(arguments: Work.allCases)
    func everyAcknowledgedCommitSurvives(_ work: Work) throws {
      let seed = Self.seed()
      let recording = try Recording(work, seed: seed)
      guard !recording.events.isEmpty else { return }
      let tally = try recording.judge(Self.images, seed: seed, lies: false)
      print("\(work): \(tally.images) images at \(recording.events.count) events")
      #expect(tally.images == Self.images && tally.stores > 0)
      #expect(tally.violations.isEmpty, "ARBOR_SEED=\(seed): \(tally.violations.prefix(3))")
    }

    /// On a disk that says of everything that it is synced, and forgets it, commits are lost and
    /// stores destroyed; and that is seen.
    @Test func aDiskThatLiesIsNoticed() throws {
      let seed = Self.seed()
      let recording = try Recording(.commits, seed: seed)
      guard !recording.events.isEmpty else { return }
      let tally = try recording.judge(40, seed: seed, lies: true)
      #expect(tally.violations.count > 5, "ARBOR_SEED=\(seed)")
    }

    /// What a program did, and where it began.
    private struct Recording {
      let work: Work
      let seed: UInt64
      let events: [DiskEvent]
      private let path: String
      private let before: (bytes: [UInt8], inode: UInt64)?

      init(_ work: Work, seed: UInt64) throws {
        self.work = work
        self.seed = seed
        let folder = try TemporaryFolder()
        path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
        let report = try TemporaryFolder()
        if work == .creation {
          before = nil
        } else {
          let writer = try LedgerWriter(path: path) { _ in }
          try writer.write(rounds: roundsBefore, seed: seed)
          writer.store.close()
          let attributes = try FileManager.default.attributesOfItem(atPath: path)
          before = (
            try [UInt8](Data(contentsOf: URL(filePath: path))),
            (attributes[.systemFileNumber] as? UInt64) ?? 0
          )
        }
        let (verb, number, count) =
          switch work {
          case .creation, .commits: ("rounds", "\(seed)", "12")
          case .index: ("index", "5", "1")
          case .evolve, .compact: (work.rawValue, "0", "1")
          }
        let run = try CrashWriterRun(
          [verb, path, number, count],
          environment: [
            "ARBOR_FAULTS_FOLDER": URL(filePath: path).deletingLastPathComponent().path,
            "ARBOR_FAULTS_RECORD": report.path("record"), "SWIFT_BACKTRACE": "enable=no",
          ])
        let end = run.finish()
        #expect(end.status == 0, "\(end.errors)")
        let record = try? Data(contentsOf: URL(filePath: report.path("record")))
        // There is none in builds of sanitizers.
        events = DiskEvent.all(in: [UInt8](record ?? Data()))
      }

      /// What images of the disk come to.
      struct Tally {
        var images = 0
        /// Those in which there is a store.
        var stores = 0
        var violations: [String] = []
      }

      /// Judges images at random events, as many behind each as the number asks for.
      func judge(_ count: Int, seed: UInt64, lies: Bool) throws -> Tally {
        var random = RandomNumbers(seed: seed)
        var tally = Tally()
        while tally.images < count {
          var disk = RecordedDisk(lies: lies)
          if let before { disk.place(before.bytes, before.inode, at: path) }
          for event in events {
            disk.apply(event)
            let isDue = Int.random(in: 0..<events.count, using: &random) < count / 2 + 1
            guard isDue, tally.images < count else { continue }
            let image = disk.image(&random)
            tally.images += 1
            if image[path] != nil { tally.stores += 1 }
            if let what = try violation(of: image, disk.lines) {
              tally.violations.append("image \(tally.images): \(what)")
            }
          }
        }
        return tally
      }

      /// What is wrong with the files of an image; nil where nothing is.
      private func violation(of image: [String: [UInt8]], _ lines: [String]) throws -> String? {
        let folder = try TemporaryFolder()
        let place = folder.url.resolvingSymlinksInPath().path
        for (name, bytes) in image {
          let file = place + "/" + URL(filePath: name).lastPathComponent
          try Data(bytes).write(to: URL(filePath: file))
        }
        let rounds = lines.filter { $0.hasPrefix("round ") }.compactMap { Int($0.dropFirst(6)) }
        let acknowledged = rounds.last ?? (before == nil ? nil : roundsBefore)
        let copy = place + "/ledger.arbor"
        guard FileManager.default.fileExists(atPath: copy) else {
          return acknowledged == nil ? nil : "the store is gone"
        }
        do {
          let store = try PersistentStore(at: .file(URL(filePath: copy)))
          defer { store.close() }
          try store.check()
        } catch {
          return "\(error)"
        }
        guard work != .index, work != .evolve else { return nil }
        return try violation(of: copy, acknowledged)
      }

      private func violation(of path: String, _ acknowledged: Int?) throws -> String? {
        let store = try LedgerWriter.open(path)
        defer { store.close() }
        do {
          guard let state = try LedgerState(reading: store) else {
            return acknowledged == nil ? nil : "the ledger is gone"
          }
          let least = acknowledged ?? 0
          guard (least...least + 1).contains(state.round) else {
            return "round \(state.round) after \(least) acknowledged"
          }
          return state == LedgerState(seed: seed, rounds: state.round)
            ? nil : "round \(state.round) has other contents"
        } catch let error as LedgerDefect {
          return error.description
        }
      }
    }
  }
#endif
