import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborObjects

/// The readers that are reported in the program's log.
@Suite struct LongReaderLogTests {
  private func reader(_ pages: Int, transaction: UInt64 = 1) -> StoreReader {
    StoreReader(
      processID: 1, transaction: transaction, transactionsBehind: 1, pinnedPages: pages,
      pinnedBytes: pages * 4096)
  }

  @Test("A reader is reported once, and again when it pins twice as many pages")
  func aReaderIsNewsOnceAndAgainWhenItPinsTwiceAsMuch() {
    let log = LongReaderLog(limit: 10)
    #expect(log.news(of: [reader(10)]) == [])
    #expect(log.news(of: [reader(11), reader(11), reader(12, transaction: 2)]).count == 2)
    #expect(log.news(of: [reader(21), reader(23, transaction: 2)]).isEmpty)
    #expect(log.news(of: [reader(22), reader(23, transaction: 2)]) == [reader(22)])
    #expect(log.news(of: [reader(40)]).isEmpty)
    // The reader has ended, and another one reads the same state.
    #expect(log.news(of: []).isEmpty)
    #expect(log.news(of: [reader(40)]) == [reader(40)])
  }

  @Test("A commit logs the readers that pin many pages")
  func commitsNameThemInTheLog() throws {
    try #require(ProgramLog.isSetUp)
    let folder = try TemporaryFolder()
    let path = folder.path("long.arbor")
    let store = try PersistentStore(for: Office.classes, at: .path(path))
    let context = store.makeContext()
    context.insert(Company.self).name = "Ada"
    try context.commit()
    var options = StoreOptions()
    options.pinnedPagesThreshold = 0
    let watched = try PersistentStore(for: Office.classes, at: .path(path), options: options)
    #expect(try watched.spaceUsage().longReaders == [])
    try context.withSnapshot {
      let other = watched.makeContext()
      other.insert(Company.self).name = "Grace"
      try other.commit()
      let space = try watched.spaceUsage()
      #expect(space.longReaders.map(\.processID) == [ProcessInfo.processInfo.processIdentifier])
      #expect(space.pinned > 0 && space.pinned <= space.free)
      #expect(space.pinned == space.longReaders[0].pinnedBytes)
      // The first store was opened with a higher threshold.
      #expect(try store.spaceUsage().longReaders == [] && store.spaceUsage().pinned == space.pinned)
    }
    let written = ProgramLog.entries("path", path)
    let entry = try #require(written.first)
    #expect(written.count == 1)
    #expect(entry.label == "ArborData.readers" && entry.level == "warning")
    #expect(entry.metadata["process"] == "\(ProcessInfo.processInfo.processIdentifier)")
    #expect(
      entry.message.hasPrefix(
        "A long-running reader prevents the reuse of pages, so the file grows: process "))
    #expect(entry.message.hasSuffix(" bytes pinned. End its withSnapshot, or its process."))
    #expect(!"\(entry)".contains("Ada"))
    #expect(try watched.clearStaleReaders() == 0)
    watched.close()
    store.close()
    #expect(throws: ArborError.self) { try store.clearStaleReaders() }
  }
}
