import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborLog
@testable import ArborObjects

/// Numbers that were reserved before a backup, and a store that is restored from it.
@Suite struct LogCountersTests {
  private let folder: TemporaryFolder
  private let log: FolderLog
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    log = FolderLog(folder.url.appending(path: "log"))
    model = try OfficeModel.make()
  }

  private func open(_ name: String) throws -> PersistentStore {
    try PersistentStore(model: model, at: .path(folder.path("\(name).arbor")))
  }

  private func close(_ store: PersistentStore) throws {
    try store.check()
    store.close()
  }

  private func insertTag(_ name: String, _ store: PersistentStore) throws -> ObjectID {
    let context = store.makeContext()
    let tag = try context.insert("Tag")
    tag["name"] = name
    try context.commit()
    return tag.objectID
  }

  @Test("Unique IDs and object numbers reserved without a commit are not reserved again")
  func withoutCommits() throws {
    let store = try open("a")
    _ = try insertTag("one", store)
    try store.backUp(to: log)
    var newest: (id: Int64, number: UInt64) = (0, 0)
    for round in 0..<4 {
      newest.id = try store.uniqueIDs.next(100).upperBound - 1
      // The objects are never committed.
      let context = store.makeContext()
      for _ in 0..<100 { newest.number = try context.insert("Tag").objectID.number }
      let added = try store.backUp(to: log)
      #expect(added == .init(isSnapshot: false, commits: 0, sequence: 1))
      try log.verify()
      for point in [RestorePoint.newest, .sequence(1)] {
        let name = "restored-\(round)-\(point)"
        let url = folder.url.appending(path: "\(name).arbor")
        try PersistentStore.restore(from: log, to: url, at: point)
        let restored = try open(name)
        #expect(try restored.uniqueIDs.next() > newest.id)
        #expect(try insertTag("two", restored).number > newest.number)
        try close(restored)
      }
    }
    try close(store)
  }

  @Test("A follower that stops following continues after the reserved unique IDs")
  func followers() throws {
    let store = try open("a")
    try store.backUp(to: log)
    let follower = try PersistentStore(
      following: log, at: .path(folder.path("b.arbor")), every: .seconds(3600))
    let newest = try store.uniqueIDs.next(1000).upperBound - 1
    try store.backUp(to: log)
    try follower.catchUp()
    try close(follower)
    let promoted = try open("b")
    #expect(try promoted.uniqueIDs.next() > newest)
    try close(promoted)
    try close(store)
  }

  @Test("A backup of a shared store includes the numbers that other machines have reserved")
  func sharedStores() throws {
    let shared = SimulatedLog()
    let stores = try ["a", "b"].map {
      try PersistentStore(
        model: model, at: .path(folder.path("\($0).arbor")), following: shared,
        every: .seconds(3600))
    }
    try stores[0].backUp(to: log)
    let newest = try stores[1].uniqueIDs.next(1000).upperBound - 1
    let number = try stores[1].makeContext().insert("Tag").objectID.number
    #expect(try stores[0].backUp(to: log).isSnapshot == false)
    // Without the server, a backup is still possible.
    shared.isOut = true
    #expect(try stores[0].backUp(to: log).isSnapshot == false)
    shared.isOut = false
    for store in stores { try close(store) }
    try PersistentStore.restore(from: log, to: folder.url.appending(path: "restored.arbor"))
    let restored = try open("restored")
    #expect(try restored.uniqueIDs.next() > newest)
    #expect(try insertTag("two", restored).number > number)
    try close(restored)
  }

  @Test("The article shows the bytes of a file of counters")
  func example() throws {
    let counters = LogCounters(log: LogExamples.log, values: LogExamples.counters)
    #expect(LogCounters(try LogExamples.expect("counters", counters.encoded())) == counters)
  }

  @Test("A damaged file of counters is reported, and replaced by the next backup")
  func damage() throws {
    let store = try open("a")
    try store.backUp(to: log)
    _ = try store.uniqueIDs.next(1000)
    try store.backUp(to: log)
    let file = folder.url.appending(path: "log/counters")
    let sound = try Data(contentsOf: file)
    let message =
      "\(file.path) is damaged: it doesn't contain the counters of the log's store. Restore the "
      + "file from another copy of the log."
    for index in sound.indices {
      var damaged = sound
      damaged[index] ^= 0x10
      try damaged.write(to: file)
      #expect(#expect(throws: ArborError.self) { try log.verify() }?.message == message)
    }
    try sound.dropLast(3).write(to: file)
    let target = folder.url.appending(path: "b.arbor")
    let error = #expect(throws: ArborError.self) {
      try PersistentStore.restore(from: log, to: target)
    }
    #expect(error?.code == .corrupted && error?.message == message)
    try store.backUp(to: log)
    #expect(try Data(contentsOf: file) == sound)
    try log.verify()
    try close(store)
  }
}
