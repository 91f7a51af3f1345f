#if os(Linux)
  import ArborData
  import Foundation
  import TestLength
  import TestSupport
  import Testing
  import crash_writer

  /// Each system call of a program on a store's files fails in turn, once or from then on. The
  /// program ends with an error or continues; it never dies of a signal and never reports a false
  /// outcome. Every acknowledged change is in the store, and no rejected change is.
  @Suite("Failing system calls", .serialized) struct FaultTests {
    /// The ways in which calls fail.
    enum Kind: String, CaseIterable {
      case eio, enospc, short, eintr
    }

    private static let seed: UInt64 = 7
    /// The number of calls per kind that fail, one in each run; all of them in a long run.
    private static let callsPerKind = TestLength.of(3, long: Int.max)

    @Test(
      "Every system call on a store's files may fail",
      .enabled(if: FaultTests.canFail, "sanitizers intercept the same calls"),
      arguments: StoreWork.tested)
    func everyCallMayFail(_ work: StoreWork) async throws {
      let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
        for trial in try Self.trials(of: work) { group.addTask { try trial.run() } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let refused = outcomes.count { $0.wasRefused }
      let names = Set(outcomes.compactMap(\.failed)).sorted()
      print("\(work): \(outcomes.count) cases, \(refused) refused, calls: \(names)")
      #expect(!names.isEmpty, "\(work): no call has failed")
      if TestLength.isLong { #expect(refused > 0) }
    }

    private static func trials(of work: StoreWork) throws -> [Trial] {
      try Kind.allCases.flatMap { kind in
        let count = try Trial(work, kind, call: 0, isLasting: false).run().calls
        #expect(count > 0, "\(work) \(kind): no call was counted")
        return (kind == .eintr || kind == .short ? [false] : [false, true]).flatMap { isLasting in
          calls(count).map { Trial(work, kind, call: $0, isLasting: isLasting) }
        }
      }
    }

    /// Returns the numbers of the calls to fail: all of them, or a random selection.
    private static func calls(_ count: Int) -> [Int] {
      let all = Array(1...max(count, 1))
      return callsPerKind >= count ? all : Array(all.shuffled().prefix(callsPerKind))
    }

    /// Whether faults can be injected, which is not the case in sanitizer builds because they
    /// intercept the same calls.
    static let canFail: Bool = {
      let calls = try? Trial(.commits, .eio, call: 0, isLasting: false).run().calls
      return (calls ?? 0) > 0
    }()

    /// The result of a run.
    struct Outcome {
      let calls: Int
      /// The first call that failed.
      let failed: String?
      let wasRefused: Bool
    }

    /// One run of the program in which a call fails, and the verification of the files it left.
    struct Trial {
      let work: StoreWork
      let kind: Kind
      let call: Int
      let isLasting: Bool

      init(_ work: StoreWork, _ kind: Kind, call: Int, isLasting: Bool) {
        self.work = work
        self.kind = kind
        self.call = call
        self.isLasting = isLasting
      }

      private var title: String {
        "\(work) \(kind) at call \(call)\(isLasting ? " and all behind it" : "")"
      }

      func run() throws -> Outcome {
        let folder = try TemporaryFolder()
        let path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
        let report = try TemporaryFolder()
        let log = report.path("log")
        try work.prepare(path, log: log, seed: seed)
        let writer = try CrashWriterRun(
          work.arguments(path, seed: seed, rounds: 3),
          environment: work.environment(log: log).merging([
            "ARBOR_FAULTS_FOLDER": URL(filePath: path).deletingLastPathComponent().path,
            "ARBOR_FAULTS_KIND": kind.rawValue, "ARBOR_FAULTS_CALL": "\(call)",
            "ARBOR_FAULTS_LASTING": isLasting ? "1" : "0",
            "ARBOR_FAULTS_REPORT": report.path("calls"), "SWIFT_BACKTRACE": "enable=no",
          ]) { $1 })
        let end = writer.finish()
        #expect(end.status == 0 || end.status == 1, "\(title): \(end.status), \(end.errors)")
        #expect((end.status == 0) == end.errors.isEmpty, "\(title): \(end.status), \(end.errors)")
        let notes = try String(contentsOfFile: report.path("calls"), encoding: .utf8)
          .split(separator: "\n").map { $0.split(separator: " ") }
        let failed = notes.first { $0[0] != "calls" }.map { String($0[0]) }
        // A commit in the log counts even if it did not reach the file. If an entry fails to land
        // after LMDB has committed, and so does the checkpoint, the outcome is in doubt.
        let verifier = StoreWorkVerifier(
          work: work, path: path, log: log, seed: seed, lines: writer.lines,
          mayBeAhead: work == .share || failed == "io_getevents" && isLasting)
        let violation = try verifier.violation()
        #expect(violation == nil, "\(title): \(end.errors)")
        if end.status == 0, work == .copy || work == .salvage {
          #expect(FileManager.default.fileExists(atPath: path + ".copy"), "\(title): no copy")
        }
        // A file that could not be removed is removed when the store is next opened.
        let left = try FileManager.default.contentsOfDirectory(
          atPath: URL(filePath: path).deletingLastPathComponent().path)
        if !isLasting, failed != "unlink" {
          #expect(!left.contains { $0.contains(".new-") }, "\(title): left behind \(left)")
        }
        return Outcome(
          calls: notes.last(where: { $0[0] == "calls" }).flatMap { Int($0[1]) } ?? 0,
          failed: failed, wasRefused: end.status != 0)
      }
    }
  }
#endif
