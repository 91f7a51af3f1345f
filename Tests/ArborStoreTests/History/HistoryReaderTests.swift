import ArborModel
import LMDB
import TestSupport
import Testing
import ArborStore

/// The history of commits, which are stored in the header first and in the history database later.
/// Readers must not notice the difference.
@Suite struct HistoryReaderTests {
  private func kept(_ file: StoreEngine) throws -> (first: UInt64, latest: UInt64) {
    let snapshot = try file.snapshot(reportsFindings: false)
    defer { snapshot.close() }
    let header = try StoreHeader.read(snapshot.reader)
    let first = try snapshot.reader.cursor(file.databases.history).first()?.integerKey
    return (first ?? header.sequence - header.latestCommits.count + 1, header.latestCommits.count)
  }

  /// Expects the commits from `first` to the last one, and none before.
  private func expectAll(_ file: StoreEngine, from first: UInt64) throws {
    let snapshot = try file.snapshot(reportsFindings: false)
    defer { snapshot.close() }
    guard case .entries(let entries) = try snapshot.history(after: first - 1) else {
      throw DraftError("history")
    }
    #expect(entries.map(\.sequence) == Array(first...snapshot.sequence))
    for entry in [entries.first, entries.last].compactMap({ $0 }) {
      #expect(try snapshot.nextEntry(after: entry.sequence - 1) == .entry(entry))
    }
    #expect(try snapshot.nextEntry(after: snapshot.sequence) == .none)
    if first > 1 {
      #expect(try snapshot.history(after: first - 2) == .tooOld)
      #expect(try snapshot.nextEntry(after: first - 2) == .tooOld(snapshot.sequence))
    }
  }

  /// Commits of all sizes are kept, some of which fit into the header and some never do.
  @Test("The last thousand commits are kept, whatever their size")
  func remembersTheLastThousand() throws {
    var random = SeededRandom()
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let (file, draft) = (store.file, Draft(store.file))
      var hasMoved = false
      for round in 1...1400 as ClosedRange<UInt64> {
        draft.changes.metadata = [("round", [1])]
        if Int.random(in: 0..<20, using: &random) == 0 {
          let length = Int.random(in: 0...600, using: &random)
          draft.changes.author = String(repeating: "a", count: length)
        }
        #expect(try draft.commit().sequence == round)
        let (first, latest) = try kept(file)
        let count = round - first + 1
        #expect(count >= min(round, StoreFormat.historyLength), "seed \(random.seed)")
        #expect(count <= min(round, StoreFormat.maximumHistoryLength), "seed \(random.seed)")
        if latest < min(round, 2) { hasMoved = true }
        guard round.isMultiple(of: 100) || round < 40 else { continue }
        try expectAll(file, from: first)
        #expect(try file.check().isSound, "seed \(random.seed)")
      }
      #expect(hasMoved)
      #expect(try kept(file).first > 300)
    }
  }

  @Test("A damaged history entry is reported with its sequence")
  func namesDamage() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let (file, draft) = (store.file, Draft(store.file))
      try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      let vandal = Vandal(file: file)
      var sound = LatestCommits()
      try vandal.write { _, header in
        sound = header.latestCommits
        var commits = LatestCommits()
        _ = commits.append([UInt8](repeating: 0, count: 30))
        header.latestCommits = commits
      }
      #expect(try file.check().problems.map(\.kind) == [.history])
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      try vandal.write { _, header in header.latestCommits = sound }
      do throws(StoreError) {
        _ = try snapshot.history(after: 0)
        Issue.record("read")
      } catch {
        #expect("\(error)".contains("entry 1 is damaged"))
      }
    }
  }
}
