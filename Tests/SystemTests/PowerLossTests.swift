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
    /// Of each work; `ARBOR_CASES` asks for another number.
    private static let images =
      ProcessInfo.processInfo.environment["ARBOR_CASES"].flatMap { Int($0) }
      ?? TestLength.of(40, long: 200_000)

    /// A new seed, or the one that a failure told of.
    private static func seed() -> UInt64 {
      let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
      return given ?? .random(in: 0...(.max))
    }

    @Test(arguments: StoreWork.allCases)
    func everyAcknowledgedCommitSurvives(_ work: StoreWork) throws {
      let seed = Self.seed()
      let recording = try Recording(work, seed: seed)
      guard !recording.events.isEmpty else { return }
      let tally = try recording.verify(Self.images, seed: seed, lies: false)
      print(
        "\(work): \(tally.images) images at \(recording.events.count) events, "
          + "\(tally.remade) made anew")
      #expect(tally.images == Self.images && tally.stores > 0)
      #expect((tally.remade > 0) == (work == .share), "ARBOR_SEED=\(seed)")
      #expect(tally.violations.isEmpty, "ARBOR_SEED=\(seed): \(tally.violations.prefix(3))")
    }

    /// On a disk that says of everything that it is synced, and forgets it, commits are lost and
    /// stores destroyed; and that is seen.
    @Test func aDiskThatLiesIsNoticed() throws {
      let seed = Self.seed()
      let recording = try Recording(.commits, seed: seed)
      guard !recording.events.isEmpty else { return }
      let tally = try recording.verify(40, seed: seed, lies: true)
      #expect(tally.violations.count > 5, "ARBOR_SEED=\(seed)")
    }

    /// What a program did, and where it began.
    private struct Recording {
      let work: StoreWork
      let seed: UInt64
      let events: [DiskEvent]
      private let path: String
      /// Holds the log, if there is one.
      private let beside: TemporaryFolder
      private let before: (bytes: [UInt8], inode: UInt64)?

      init(_ work: StoreWork, seed: UInt64) throws {
        self.work = work
        self.seed = seed
        let folder = try TemporaryFolder()
        path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
        beside = try TemporaryFolder()
        let log = beside.path("log")
        try work.prepare(path, log: log, seed: seed)
        if work == .creation {
          before = nil
        } else {
          let attributes = try FileManager.default.attributesOfItem(atPath: path)
          before = (
            try [UInt8](Data(contentsOf: URL(filePath: path))),
            (attributes[.systemFileNumber] as? UInt64) ?? 0
          )
        }
        // The images are looked at after another start of the machine than the program had.
        let boot = beside.path("boot")
        try Data(UUID().uuidString.utf8).write(to: URL(filePath: boot))
        let run = try CrashWriterRun(
          work.arguments(path, seed: seed, rounds: 12),
          environment: work.environment(log: log).merging([
            "ARBOR_FAULTS_FOLDER": URL(filePath: path).deletingLastPathComponent().path,
            "ARBOR_FAULTS_RECORD": beside.path("record"), "ARBOR_FAULTS_BOOT": boot,
            "SWIFT_BACKTRACE": "enable=no",
          ]) { $1 })
        let end = run.finish()
        #expect(end.status == 0, "\(end.errors)")
        let record = try? Data(contentsOf: URL(filePath: beside.path("record")))
        // None exists in builds of sanitizers.
        events = DiskEvent.all(in: [UInt8](record ?? Data()))
      }

      /// What images of the disk come to.
      struct Tally {
        var images = 0
        /// Those in which there is a store.
        var stores = 0
        /// Those whose file was put aside as damaged, and made anew from the log.
        var remade = 0
        var violations: [String] = []
      }

      /// Verifies images at random events, as many behind each as the number asks for.
      func verify(_ count: Int, seed: UInt64, lies: Bool) throws -> Tally {
        var random = RandomNumbers(seed: seed)
        var tally = Tally()
        while tally.images < count {
          var disk = RecordedDisk(lies: lies)
          if let before { disk.put(before.bytes, before.inode, at: path) }
          for event in events {
            disk.apply(event)
            let isDue = Int.random(in: 0..<events.count, using: &random) < count / 2 + 1
            guard isDue, tally.images < count else { continue }
            let image = disk.image(&random)
            tally.images += 1
            if image[path] != nil { tally.stores += 1 }
            let (what, isRemade) = try violation(of: image, disk.lines)
            if isRemade { tally.remade += 1 }
            if let what { tally.violations.append("image \(tally.images): \(what)") }
          }
        }
        return tally
      }

      /// What is wrong with the files of an image, nil where nothing is; and whether the store was
      /// made anew.
      private func violation(
        of image: [String: [UInt8]], _ lines: [String]
      ) throws -> (what: String?, isRemade: Bool) {
        let folder = try TemporaryFolder()
        let target = folder.url.resolvingSymlinksInPath()
        let root = URL(filePath: path).deletingLastPathComponent().path
        for (name, bytes) in image {
          let file = target.appending(path: name.dropFirst(root.count + 1))
          try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
          try Data(bytes).write(to: file)
        }
        let copy = target.appending(path: "ledger.arbor").path
        let what = try StoreWorkVerifier(
          work: work, path: copy, log: beside.path("log"), seed: seed, lines: lines,
          mayBeAhead: true
        ).violation()
        let left = try FileManager.default.contentsOfDirectory(atPath: target.path)
        return (what, left.contains { $0.contains(".damaged-") })
      }
    }
  }
#endif
