import Foundation
import Testing
import LMDB

@Suite struct EnvironmentReadersTests {
  @Test("Held snapshots are listed with their cost")
  func tellsWhatEachSnapshotCosts() async throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    func fill() throws {
      try environment.write { transaction in
        for key in UInt64(0)..<200 {
          try transaction.put(database, key.nativeBytes, [UInt8](repeating: 7, count: 400))
        }
      }
    }
    try fill()
    #expect(try environment.heldSnapshots() == [])
    let old = try environment.beginRead()
    for _ in 0..<3 { try fill() }
    let young = try environment.beginRead()
    let held = try environment.heldSnapshots()
    #expect(held.map(\.processID) == [getpid(), getpid()])
    #expect(held.map(\.transactionID) == [old.id, young.id])
    #expect(held.map(\.transactionsBehind) == [3, 0])
    // Three versions of the records' pages.
    #expect(held[0].pinnedBytes > 3 * 200 * 400 && held[1].pinnedBytes == 0)
    await #expect(processExitsWith: .success) { [path = environment.path as String] in
      let other = try Environment.open(path: path)
      let snapshot = try other.beginRead()
      #expect(
        try other.heldSnapshots().map(\.processID).sorted()
          == [getppid(), getppid(), getpid()].sorted())
      _ = snapshot.id
      // The process exits with the snapshot open.
    }
    #expect(try environment.heldSnapshots().count == 2)
    _ = (old.id, young.id)
  }
}
