import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct EntryRunTests {
  private struct Added: Equatable {
    var key: [UInt8]
    var number: UInt64
    var isRemoval: Bool
  }

  private func run(_ entries: [Added]) -> [Added] {
    var run = EntryRun()
    for entry in entries { append(entry, to: &run) }
    run.sort()
    return (0..<run.count).map { index in
      let entry = run[index]
      return Added(
        key: run.withKey(entry) { Array($0) }, number: entry.number, isRemoval: entry.isRemoval)
    }
  }

  private func append(_ entry: Added, to run: inout EntryRun) {
    entry.key.withUnsafeBytes {
      run.append(
        $0, ObjectNumber(rawValue: entry.number), isRemoval: entry.isRemoval, isExempt: false)
    }
  }

  private func isBefore(_ left: Added, _ right: Added) -> Bool {
    left.key != right.key
      ? left.key.lexicographicallyPrecedes(right.key) : left.number < right.number
  }

  /// Returns short or long keys, some of the same length, with common prefixes and trailing zeros.
  private func key(_ random: inout SeededRandom, kind: Int) -> [UInt8] {
    let count =
      switch kind {
      case 0: 9
      case 1: Int.random(in: 1...20, using: &random)
      case 2: Int.random(in: 15...18, using: &random)
      default: Int.random(in: 1...480, using: &random)
      }
    let start = [UInt8](repeating: 2, count: Int.random(in: 0..<count, using: &random))
    return start + (start.count..<count).map { _ in UInt8.random(in: 0...3, using: &random) }
  }

  @Test("Sorting yields the order of LMDB", arguments: 0..<4)
  func sortsAsLMDBDoes(kind: Int) {
    var random = SeededRandom()
    for count in [1, 2, 30, 400] {
      let entries = (0..<count).map { number in
        Added(
          key: key(&random, kind: kind), number: UInt64(number + 1),
          isRemoval: .random(using: &random))
      }
      #expect(run(entries) == entries.sorted(by: isBefore), "seed \(random.seed)")
    }
  }

  @Test("The range of entries with a key is found", arguments: [9, 200])
  func groupsByKey(length: Int) {
    var random = SeededRandom()
    var run = EntryRun()
    var counts: [[UInt8]: Int] = [:]
    for number in 0..<300 {
      let tail = UInt8.random(in: 0..<20, using: &random)
      let key = [UInt8](repeating: 7, count: length - 1) + [tail]
      counts[key, default: 0] += 1
      append(Added(key: key, number: UInt64(number + 1), isRemoval: false), to: &run)
    }
    run.sort()
    var start = 0
    while start < run.count {
      let end = run.endOfKey(start)
      let key = run.withKey(run[start]) { Array($0) }
      #expect(counts.removeValue(forKey: key) == end - start)
      #expect(key.withUnsafeBytes { run.indices(of: $0) } == start..<end)
      start = end
    }
    #expect(counts.isEmpty)
    let absent = [UInt8](repeating: 7, count: length - 1) + [99]
    #expect(absent.withUnsafeBytes { run.indices(of: $0) }.isEmpty)
  }

  @Test("A run can be reused after it was emptied")
  func isUsedAgain() {
    var run = EntryRun()
    for round in 0..<3 {
      let long = [UInt8](repeating: UInt8(round), count: 100)
      append(Added(key: long, number: 1, isRemoval: false), to: &run)
      append(Added(key: [UInt8(round)], number: 2, isRemoval: true), to: &run)
      run.sort()
      #expect(run.count == 2)
      #expect(run.withKey(run[1]) { Array($0) } == long)
      run.removeAll()
      let count = run.count
      #expect(count == 0)
    }
  }
}
