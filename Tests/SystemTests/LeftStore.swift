#if os(Linux)
  import ArborData
  import Foundation
  import TestSupport
  import Testing

  @testable import crash_writer

  /// A store whose writer was killed, so that its journal is still there.
  struct LeftStore {
    /// The seed of its rounds.
    static let seed: UInt64 = 11

    let folder: TemporaryFolder
    let path: String
    let rounds: Int

    var journal: String { path + "-journal" }

    var hasJournal: Bool { FileManager.default.fileExists(atPath: journal) }

    /// - Parameters:
    ///   - isRestarted: Whether the machine was restarted since.
    ///   - first: Called with the path and the writer after the first round, while it goes on.
    init(
      rounds: Int = 5, checkpoints: Int = 1000, isRestarted: Bool = true,
      afterFirst first: (String, CrashWriterRun) throws -> Void = { _, _ in }
    ) throws {
      folder = try TemporaryFolder()
      path = folder.url.resolvingSymlinksInPath().appending(path: "ledger.arbor").path
      let boot = folder.path("boot")
      try Data(UUID().uuidString.utf8).write(to: URL(filePath: boot))
      var environment = [
        LedgerJournal.variable: "\(checkpoints)", "SWIFT_BACKTRACE": "enable=no",
      ]
      if isRestarted { environment["ARBOR_FAULTS_BOOT"] = boot }
      let run = try CrashWriterRun(
        ["rounds", path, "\(Self.seed)", "100000"], environment: environment)
      _ = run.read(until: 2, "round")
      try first(path, run)
      _ = run.read(until: rounds + 1, "round")
      run.kill()
      self.rounds = Int(try #require(run.acknowledged("round").last))
      #expect(self.rounds >= rounds)
    }

    /// Opens the store, and checks that all acknowledged rounds are there.
    func verify(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let store = try LedgerWriter.open(path)
      defer { store.close() }
      try store.check()
      let state = try #require(try LedgerState(reading: store))
      #expect((rounds...rounds + 1).contains(state.round), sourceLocation: sourceLocation)
      #expect(
        state == LedgerState(seed: Self.seed, rounds: state.round), sourceLocation: sourceLocation)
    }

    private init(_ folder: TemporaryFolder, _ path: String, rounds: Int) {
      self.folder = folder
      self.path = path
      self.rounds = rounds
    }

    /// Copies the store in the same folder.
    ///
    /// - Parameter journal: The path of the journal to copy, if there is one.
    func copied(to name: String, journal: String?) throws -> LeftStore {
      let copy = LeftStore(
        folder, URL(filePath: path).deletingLastPathComponent().appending(path: name).path,
        rounds: rounds)
      try FileManager.default.copyItem(atPath: path, toPath: copy.path)
      if let journal { try FileManager.default.copyItem(atPath: journal, toPath: copy.journal) }
      return copy
    }

    /// Returns the contents of both files.
    func contents() throws -> [Data] {
      try [path, journal].map { try Data(contentsOf: URL(filePath: $0)) }
    }

    /// Returns the error of opening the store.
    func refusal(isReadOnly: Bool = false, isImmutable: Bool = false) -> ArborError? {
      do {
        var options = StoreOptions(isReadOnly: isReadOnly)
        options.isImmutable = isImmutable
        try PersistentStore(at: .path(path), options: options).close()
        return nil
      } catch {
        return error
      }
    }

    /// Damages both root pages, so that the store depends on its journal.
    func loseRoots() throws {
      try change(path) { bytes in
        for page in 0..<2 {
          bytes.replaceSubrange(page * 4096..<page * 4096 + 200, with: Data(count: 200))
        }
      }
    }

    func change(_ name: String, _ body: (inout Data) -> Void) throws {
      let url = URL(filePath: name)
      var bytes = try Data(contentsOf: url)
      body(&bytes)
      try bytes.write(to: url)
    }
  }
#endif
