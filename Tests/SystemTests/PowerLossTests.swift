#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing

  @testable import crash_writer

  /// Power fails at any moment while a program creates and changes a store. Of the data that was
  /// written but not synced, any part may have reached the disk. Every acknowledged commit is
  /// there, no commit is partially there, and the store is sound.
  @Suite(
    "Power failures", .serialized,
    .enabled(if: FaultTests.canFail, "sanitizers intercept the calls to record"))
  struct PowerLossTests {
    /// The number of disk images per kind of work; `ARBOR_CASES` overrides it.
    private static let images =
      ProcessInfo.processInfo.environment["ARBOR_CASES"].flatMap { Int($0) }
      ?? TestLength.of(40, long: 200_000)

    /// Returns a new seed, or the one specified by `ARBOR_SEED` to reproduce a failure.
    private static func seed() -> UInt64 {
      let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
      return given ?? .random(in: 0...(.max))
    }

    @Test("A power failure loses no acknowledged commit", arguments: StoreWork.tested)
    func everyAcknowledgedCommitSurvives(_ work: StoreWork) throws {
      let seed = Self.seed()
      let recording = try Recording(work, seed: seed)
      let tally = try recording.verify(Self.images, seed: seed, lies: false)
      print(
        "\(work): \(tally.images) images at \(recording.events.count) events, "
          + "\(tally.remade) recreated")
      #expect(tally.images == Self.images && tally.stores > 0)
      #expect(tally.remade == 0, "ARBOR_SEED=\(seed)")
      #expect(tally.violations.isEmpty, "ARBOR_SEED=\(seed): \(tally.violations.prefix(3))")
    }

    /// The first failure is mostly one while the store is being closed, because journaling ends then.
    @Test("Two power failures in a row lose no acknowledged commit", arguments: [1000, 3])
    func twoFailures(checkpoints: Int) throws {
      let seed = Self.seed()
      var random = RandomNumbers(seed: seed)
      let environment = [LedgerJournal.variable: "\(checkpoints)"]
      var (violations, stores): ([String], Int) = ([], 0)
      let first = try Recording(.journal, seed: seed, rounds: 3, environment: environment)
      for _ in 0..<max(4, Self.images / 8) {
        let isClosing = Int.random(in: 0..<4, using: &random) > 0
        let end = first.events.count
        let left = first.image(
          after: Int.random(in: (isClosing ? max(0, end - 16) : 0)..<end, using: &random), &random)
        let second = try Recording(
          .journal, seed: seed, rounds: 2, environment: environment, from: left)
        let tally = try second.verify(8, seed: random.next(), lies: false)
        violations += tally.violations
        stores += tally.stores
      }
      #expect(stores > 0)
      #expect(violations.isEmpty, "ARBOR_SEED=\(seed): \(violations.prefix(3))")
    }

    /// A disk that reports data as synced but loses it loses commits and destroys stores, and the
    /// test detects that.
    @Test("A disk that loses synced data is detected")
    func aDiskThatLiesIsNoticed() throws {
      let seed = Self.seed()
      let recording = try Recording(.commits, seed: seed)
      let tally = try recording.verify(40, seed: seed, lies: true)
      #expect(tally.violations.count > 5, "ARBOR_SEED=\(seed)")
    }

    @Test(
      "A journal without one of its steps loses commits, and the test detects that",
      arguments: [
        (StoreWork.journal, "pin"), (.journal, "flush"), (.journal, "entry"), (.journal, "landing"),
        (.share, "pin"),
        (.share, "flush"),
      ])
    func aMissingStepOfTheJournalIsNoticed(_ work: StoreWork, _ step: String) throws {
      let first = Self.seed()
      var (found, images) = (0, 0)
      // A recording may have no moment at which the step matters, so others are made until one has.
      for attempt in 0..<UInt64(50) where found == 0 {
        let seed = first &+ attempt
        let recording = try Recording(
          work, seed: seed, rounds: 40, environment: [LedgerJournal.variable: "12,\(step)"])
        let tally = try recording.verify(150, seed: seed, lies: false)
        // The store of a log is recreated from it.
        found = tally.violations.count + tally.remade
        images += tally.images
      }
      print("\(work) without \(step): \(found) of \(images) images")
      #expect(found > 0, "ARBOR_SEED=\(first)")
    }

    /// The recorded events of a program, and the files it started with.
    private struct Recording {
      let work: StoreWork
      let seed: UInt64
      let events: [DiskEvent]
      private let path: String
      /// The folder that holds the recording, and the log, if there is one.
      private let beside: TemporaryFolder
      private let before: [(path: String, bytes: [UInt8], inode: UInt64)]

      /// The output of the program whose files this one has started with.
      private let linesBefore: [String]

      /// What a power failure has left.
      struct Image {
        let files: [String: [UInt8]]
        /// The output of the programs that wrote them.
        let lines: [String]
        /// The folder that contained them.
        let root: String

        /// Writes the files below another folder.
        func write(to folder: URL) throws {
          for (name, bytes) in files {
            let file = folder.appending(path: name.dropFirst(root.count + 1))
            try FileManager.default.createDirectory(
              at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
          }
        }
      }

      /// - Parameter left: The files to start with instead of those that the work prepares.
      init(
        _ work: StoreWork, seed: UInt64, rounds: Int = 12, environment: [String: String] = [:],
        from left: Image? = nil
      ) throws {
        self.work = work
        self.seed = seed
        let folder = try TemporaryFolder()
        path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
        beside = try TemporaryFolder()
        let log = beside.path("log")
        linesBefore = left?.lines ?? []
        if let left {
          try left.write(to: folder.url.resolvingSymlinksInPath())
        } else {
          try work.prepare(path, log: log, seed: seed)
        }
        before = try [path, path + "-journal"].compactMap { path in
          guard FileManager.default.fileExists(atPath: path) else { return nil }
          let attributes = try FileManager.default.attributesOfItem(atPath: path)
          return (
            path, try [UInt8](Data(contentsOf: URL(filePath: path))),
            (attributes[.systemFileNumber] as? UInt64) ?? 0
          )
        }
        // The program ran under another boot ID than the one under which the images are verified.
        let boot = beside.path("boot")
        try Data(UUID().uuidString.utf8).write(to: URL(filePath: boot))
        let run = try CrashWriterRun(
          work.arguments(path, seed: seed, rounds: rounds),
          environment: work.environment(log: log).merging(environment) { $1 }.merging([
            "ARBOR_FAULTS_FOLDER": URL(filePath: path).deletingLastPathComponent().path,
            "ARBOR_FAULTS_RECORD": beside.path("record"), "ARBOR_FAULTS_BOOT": boot,
            "SWIFT_BACKTRACE": "enable=no",
          ]) { $1 })
        let end = run.finish()
        #expect(end.status == 0, "\(end.errors)")
        let record = try Data(contentsOf: URL(filePath: beside.path("record")))
        let recorded = DiskEvent.all(in: [UInt8](record))
        try #require(!recorded.isEmpty, "nothing was recorded")
        events = recorded
      }

      /// The outcomes of verifying disk images.
      struct Tally {
        var images = 0
        /// The number of images that contain a store.
        var stores = 0
        /// The number of images whose file was set aside as damaged and rebuilt from the log.
        var remade = 0
        var violations: [String] = []
      }

      /// Returns the files that a power failure may leave after one of the events.
      func image(after last: Int, _ random: inout RandomNumbers) -> Image {
        var disk = RecordedDisk()
        for file in before { disk.put(file.bytes, file.inode, at: file.path) }
        for event in events[...last] { disk.apply(event) }
        return image(of: disk, &random)
      }

      private func image(of disk: RecordedDisk, _ random: inout RandomNumbers) -> Image {
        Image(
          files: disk.image(&random), lines: linesBefore + disk.lines,
          root: URL(filePath: path).deletingLastPathComponent().path)
      }

      /// Verifies `count` images, taken after random events.
      func verify(_ count: Int, seed: UInt64, lies: Bool) throws -> Tally {
        var random = RandomNumbers(seed: seed)
        var tally = Tally()
        while tally.images < count {
          var disk = RecordedDisk(lies: lies)
          for file in before { disk.put(file.bytes, file.inode, at: file.path) }
          for event in events {
            disk.apply(event)
            let isDue = Int.random(in: 0..<events.count, using: &random) < count / 2 + 1
            guard isDue, tally.images < count else { continue }
            let image = image(of: disk, &random)
            tally.images += 1
            if image.files[path] != nil { tally.stores += 1 }
            let (what, isRemade) = try violation(of: image)
            if isRemade { tally.remade += 1 }
            if let what { tally.violations.append("image \(tally.images): \(what)") }
          }
        }
        return tally
      }

      /// Returns the first problem of an image's files, or `nil` if there isn't one, and whether
      /// the store was rebuilt.
      private func violation(of image: Image) throws -> (what: String?, isRemade: Bool) {
        let folder = try TemporaryFolder()
        let target = folder.url.resolvingSymlinksInPath()
        try image.write(to: target)
        let copy = target.appending(path: "ledger.arbor").path
        let what = try StoreWorkVerifier(
          work: work, path: copy, log: beside.path("log"), seed: seed, lines: image.lines,
          mayBeAhead: true
        ).violation()
        let left = try FileManager.default.contentsOfDirectory(atPath: target.path)
        return (what, left.contains { $0.contains(".damaged-") })
      }
    }
  }
#endif
