import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

@Suite struct LatestCommitsTests {
  private func read(_ bytes: [UInt8]) -> LatestCommits? {
    bytes.withUnsafeBytes { LatestCommits($0) }
  }

  private func entries(_ commits: LatestCommits, endingWith last: UInt64) -> [UInt64: [UInt8]] {
    var entries: [UInt64: [UInt8]] = [:]
    commits.forEach(endingWith: last) { sequence, bytes in entries[sequence] = Array(bytes) }
    return entries
  }

  @Test("Entries are returned under their sequences, and appending fails once there is no space")
  func keepsWhatFits() {
    var random = SeededRandom()
    for _ in 0..<200 {
      var commits = LatestCommits()
      var expected: [UInt64: [UInt8]] = [:]
      var last: UInt64 = .random(in: 0...100_000, using: &random)
      while true {
        let count = Int.random(in: 15...200, using: &random)
        let entry = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        let before = commits
        guard commits.append(entry) else {
          #expect(commits == before && commits.bytes.count + entry.count + 2 > 512)
          break
        }
        last += 1
        expected[last] = entry
        #expect(commits.bytes.count <= StoreFormat.latestCommitsSize, "seed \(random.seed)")
        #expect(entries(commits, endingWith: last) == expected, "seed \(random.seed)")
        #expect(commits.count == expected.count && read(commits.bytes) == commits)
      }
    }
  }

  @Test("The commits in the header never exceed the maximum length of the history")
  func holdsNoMoreThanTheHistoryAllows() throws {
    var commits = LatestCommits()
    let shortest = [UInt8](repeating: 1, count: StoreFormat.leastEntrySize)
    while commits.append(shortest) {}
    #expect(StoreFormat.historyLength + commits.count <= StoreFormat.maximumHistoryLength)
    let history = HistoryEntry(
      sequence: 1, date: .distantPast, author: nil, contextName: nil, isBulk: true, changes: [])
    let model = ManagedObjectModel(entities: [])
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    #expect(HistoryCodec.encode(history, schema).count == StoreFormat.leastEntrySize)
  }

  @Test("Bytes that aren't whole entries are rejected")
  func refusesBytesThatAreNoEntries() {
    var commits = LatestCommits()
    let first = commits.append([UInt8](repeating: 7, count: 20))
    let second = commits.append([UInt8](repeating: 8, count: 150))
    #expect(first && second && read([]) == LatestCommits())
    for count in 0..<commits.bytes.count where count != 0 && count != 21 {
      #expect(read(Array(commits.bytes[..<count])) == nil)
    }
    #expect(read([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) == nil)
  }
}
