import ArborData
import Foundation
import TestSupport
import Testing

/// A store that shares a log, on a disk that fills up.
@Suite("A store that shares a log on a full disk") struct SharedDiskTests {
  private let log = SimulatedLog()
  private let model = ManagedObjectModel(entities: [
    EntityDescription(name: "Note", attributes: [AttributeDescription(name: "text", type: .string)])
  ])

  private func insert(_ text: String, _ store: PersistentStore) throws {
    let context = store.makeContext()
    try context.insert("Note")["text"] = text
    try context.commit()
  }

  private func count(_ store: PersistentStore) throws -> Int {
    try store.makeContext().count(FetchRequest<ManagedObject>(entity: "Note"))
  }

  @Test(
    "A commit in the log counts and is applied to the file once there is room",
    .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
  func whatTheLogHasCounts() throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    defer { disk.unmount() }
    let store = try PersistentStore(
      model: model, at: .file(disk.url.appending(path: "notes.arbor")), following: log,
      every: .seconds(3600))
    let filler = disk.url.appending(path: "filler")
    try Data(count: 700_000).write(to: filler)
    let text = String(repeating: "x", count: 4000)
    var error: ArborError?
    var commits = 0
    while error == nil, commits < 1000 {
      do {
        try insert(text, store)
        commits += 1
      } catch let failure as ArborError { error = failure }
    }
    #expect(error?.code == .diskFull)
    #expect(
      error?.message
        == "The commit is in the log and valid, but it could not be applied to this machine's "
        + "file: There is not enough disk space for \(disk.url.path)/notes.arbor, or a file size "
        + "limit was reached. Free space or raise the limit. The store will apply the commit as "
        + "soon as possible; don't commit the same changes again.")
    #expect(try store.outcome(of: try #require(error?.batch)) == .committed)
    #expect(try count(store) == commits)
    // No further commit is accepted before the file has caught up with the log.
    #expect(throws: ArborError.self) { try insert(text, store) }
    #expect(log.entries.last?.last == UInt64(commits + 1))
    try FileManager.default.removeItem(at: filler)
    for _ in 0..<100 where (try? store.catchUp()) == nil { Thread.sleep(forTimeInterval: 0.02) }
    #expect(try count(store) == commits + 1)
    try insert(text, store)
    #expect(try count(store) == commits + 2)
    try store.check()
    store.close()
  }
}
