import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Replaying logged commits in a copy, which must result in the same bytes.
@Suite struct StoreEngineReplayingTests {
  private let reader = UUID()

  @Test("Replaying logged commits makes a copy identical to the original", arguments: 0..<6)
  func aCopyComesOutTheSameToTheByte(round: Int) throws {
    var random = SeededRandom()
    let seed = random.seed
    try TemporaryStore.use(OfficeModel.make()) { original in
      var office = RandomOffice()
      for _ in 0..<5 { try office.commit(to: original.file, &random) }
      let start = try original.file.noteLogReader(reader, has: nil)
      let copy = try openCopy(of: original)
      defer { copy.close() }
      #expect(copy.lastSequence == start)
      for step in 0..<60 {
        // Large change sets take another code path and share a transaction here.
        let size = Int.random(in: 0..<10, using: &random) == 0 ? 120...150 : 1...9
        try office.commit(to: original.file, &random, changes: size)
        if step == 40 {
          try original.file.purge()
          office = RandomOffice()
        }
        guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
        try repeatCommits(of: original.file, in: copy)
        try original.file.noteLogReader(reader, has: copy.lastSequence)
      }
      try repeatCommits(of: original.file, in: copy)
      #expect(
        try StoreContents(original.file) == StoreContents(copy), "SeededRandom(seed: \(seed))")
      #expect(try copy.check().isSound)
    }
  }

  @Test("Commits that all readers have are removed from the log")
  func whatEverybodyHasGoesFromTheLog() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      #expect(try logged(store.file, after: 0).isEmpty)
      let start = try store.file.noteLogReader(reader, has: nil)
      let other = UUID()
      try store.file.noteLogReader(other, has: start)
      for _ in 0..<5 { try office.commit(to: store.file, &random) }
      let last = store.file.lastSequence
      #expect(last == start + 5)
      try store.file.noteLogReader(reader, has: last)
      #expect(try logged(store.file, after: start).map(\.sequence) == Array(start + 1...last))
      try store.file.noteLogReader(other, has: last - 1)
      #expect(try logged(store.file, after: last - 1).map(\.sequence) == [last])
      try store.file.removeLogReader(other)
      try store.file.removeLogReader(reader)
      #expect(try store.file.logReaders().sequences.isEmpty)
      try office.commit(to: store.file, &random)
      let snapshot = try store.file.logSnapshot()
      defer { snapshot.close() }
      let isComplete = try snapshot.forEachLogged(after: last) { (_, _) in true }
      #expect(!isComplete, "Nobody follows any more.")
    }
  }

  @Test("A copy has no log readers")
  func aCopyForOthersFollowsNothing() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      try store.file.noteLogReader(reader, has: nil)
      let copy = try openCopy(of: store)
      defer { copy.close() }
      #expect(try copy.logReaders().sequences.isEmpty)
      #expect(try copy.check().isSound)
    }
  }

  @Test("Logged commits that don't follow the store's newest one are rejected")
  func commitsThatDoNotFitAreRefused() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      try store.file.noteLogReader(reader, has: nil)
      let copy = try openCopy(of: store)
      defer { copy.close() }
      for _ in 0..<3 { try office.commit(to: store.file, &random) }
      let commits = try logged(store.file, after: 0)
      let before = try StoreContents(copy)
      let gap = #expect(throws: StoreError.self) { try copy.replay([commits[1]]) }
      expectCorrupted(
        gap, "The log's commit 2 doesn't follow the store's newest commit, 0.")
      // A diverged history with its own first commit.
      var elsewhere = RandomOffice()
      try elsewhere.commit(to: copy, &random)
      let forked = try StoreContents(copy)
      #expect(forked != before)
      let twice = #expect(throws: StoreError.self) {
        try copy.replay([commits[1], commits[1]])
      }
      expectCorrupted(
        twice,
        [
          "The log's commit 2 doesn't fit the store, because the log and the store have diverged.",
          "The log's commit 2 doesn't follow the store's newest commit, 2.",
        ])
      #expect(try StoreContents(copy) == forked)
    }
  }

  @Test("The checksum detects every changed byte and every truncation")
  func damagedBytesAreNoCommit() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      try store.file.noteLogReader(reader, has: nil)
      for _ in 0..<8 { try office.commit(to: store.file, &random) }
      let snapshot = try store.file.logSnapshot()
      defer { snapshot.close() }
      var entries: [(UInt64, [UInt8])] = []
      _ = try snapshot.forEachLogged(after: 0) { (sequence, bytes) in
        entries.append((sequence, Array(bytes)))
        return true
      }
      for (sequence, bytes) in entries {
        #expect(decode(bytes, sequence, store.file) != nil)
        #expect(decode(bytes, sequence + 1, store.file) == nil)
        for offset in bytes.indices {
          var damaged = bytes
          damaged[offset] ^= UInt8(1 << (offset % 8))
          #expect(decode(damaged, sequence, store.file) == nil)
          #expect(decode(Array(bytes[..<offset]), sequence, store.file) == nil)
        }
      }
    }
  }

  // MARK: Helpers

  private func openCopy(of store: TemporaryStore) throws -> StoreEngine {
    let path = store.folder.path("copy.arbor")
    try store.file.copy(to: path, compacting: true, keepsMarker: false)
    return try StoreEngine.open(StoreOpening(.file(path), model: nil))
  }

  private func logged(_ file: StoreEngine, after sequence: UInt64) throws -> [LoggedCommit] {
    let snapshot = try file.logSnapshot()
    defer { snapshot.close() }
    var commits: [LoggedCommit] = []
    let isComplete = try snapshot.forEachLogged(after: sequence) {
      (sequence, bytes) in
      commits.append(
        try #require(LoggedCommitCodec.decode(bytes, sequence: sequence, file.schema)))
      return true
    }
    #expect(isComplete)
    return commits
  }

  private func decode(_ bytes: [UInt8], _ sequence: UInt64, _ file: StoreEngine) -> LoggedCommit? {
    bytes.withUnsafeBytes { LoggedCommitCodec.decode($0, sequence: sequence, file.schema) }
  }

  private func repeatCommits(of original: StoreEngine, in copy: StoreEngine) throws {
    try copy.replay(try logged(original, after: copy.lastSequence))
  }

  private func expectCorrupted(_ error: StoreError?, _ whats: String...) {
    expectCorrupted(error, whats)
  }

  private func expectCorrupted(_ error: StoreError?, _ whats: [String]) {
    guard case .corrupted(nil, nil, let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(whats.contains(what))
  }
}
