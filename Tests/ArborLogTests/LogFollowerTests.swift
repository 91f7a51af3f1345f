import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing
import ArborLog

@Suite struct LogFollowerTests {
  /// The restore point was chosen before further commits arrived, as during a long copy of the
  /// snapshot.
  @Test("Commits that arrive during the copy of a snapshot are followed")
  func arrivingCommits() throws {
    let folder = try TemporaryFolder()
    let log = FolderLog(folder.url.appending(path: "log"))
    try TemporaryStore.use(OfficeModel.make()) { store in
      try store.file.setMetadata("note", [0])
      _ = try log.backUp(store.file, snapshot: false)
      for number in 1...3 as ClosedRange<UInt8> {
        try store.file.setMetadata("note", [number])
        _ = try log.backUp(store.file, snapshot: false)
      }
      for start in 1...4 as ClosedRange<UInt64> {
        let path = folder.path("replica-\(start).arbor")
        #expect(try log.restore(to: path, at: .sequence(start), follows: true) == start)
        try LogFollower.prepare(path, following: log)
        let replica = try StoreEngine.open(StoreOpening(.file(path), model: nil))
        #expect(replica.lastSequence == 4)
        replica.close()
        try TemporaryStore.check(path: path)
      }
    }
  }
}
