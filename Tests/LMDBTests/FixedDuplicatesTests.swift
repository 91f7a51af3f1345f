import Foundation
import TestLength
import Testing
import LMDB

/// Random operations on 16-byte values, as in ordered relationships, against sorted arrays.
///
/// Values of a fixed size are packed on separate pages (`MDB_DUPFIXED`). LMDB's change log lists
/// bugs in that code, fixed after 0.9.24, that deletions through cursors and some cursor moves
/// expose. The library avoids those operations, and this test covers the remaining ones.
@Suite("Values of a fixed size") struct FixedDuplicatesTests {
  @Test("Random operations on 16-byte values agree with sorted arrays")
  func valuesOfSixteenBytesAgreeWithSortedArrays() throws {
    let seed = RandomTests.seed("valuesOfSixteenBytesAgreeWithSortedArrays")
    let operations = Self.operations
    var run = try DuplicatesRun(seed: seed)
    var transactions = 0
    while run.done < operations {
      try run.transaction()
      transactions += 1
      if transactions % TestLength.of(20, long: 500) == 0 { try run.compare() }
      if transactions % TestLength.of(30, long: 1000) == 0 { run.setGoals() }
      if transactions % TestLength.of(50, long: 1500) == 0 { try run.reopen() }
    }
    try run.reopen()
    try run.compare()
    print(
      "\(run.done) operations in \(transactions) transactions, \(run.aborted) of them aborted, up "
        + "to \(run.largest) values of a key")
    #expect(run.largest > 1000 && run.aborted > 0)
  }

  /// The number of operations; `ARBOR_CASES` overrides it.
  private static let operations =
    ProcessInfo.processInfo.environment["ARBOR_CASES"].flatMap { Int($0) }
    ?? TestLength.of(30_000, long: 10_000_000)
}
