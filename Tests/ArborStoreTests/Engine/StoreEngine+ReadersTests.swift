import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing
import ArborStore

/// The readers of a store, when they started, and the space they pin.
@Suite struct StoreEngineReadersTests {
  @Test("The start of a reader's snapshot is derived from the commit history")
  func sinceWhenFollowsFromTheHistory() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      func commit(_ name: String) throws {
        let draft = Draft(file)
        try draft.insert("Tag", ["name": .string(name)])
        try draft.commit()
      }
      try commit("first")
      let old = try file.snapshot()
      #expect(try file.readers().map(\.since) == [nil])
      let before = Date()
      try commit("second")
      let between = Date()
      let young = try file.snapshot()
      for number in 0..<20 { try commit("later \(number)") }
      let readers = try file.readers()
      #expect(readers.map(\.transactionsBehind) == [21, 20])
      let dates = try readers.map { try #require($0.since) }
      #expect(dates[0] >= before && dates[0] <= between && dates[1] >= between)
      #expect(readers[0].transaction + 1 == readers[1].transaction)
      let space = try file.space(longReadersPinning: readers[1].pinnedPages)
      #expect(space.longReaders.map(\.transaction) == [readers[0].transaction])
      #expect(space.pinned == readers[0].pinnedBytes)
      #expect(try file.space(longReadersPinning: nil).longReaders == [])
      old.close()
      young.close()
      #expect(try file.space(longReadersPinning: 0).pinned == 0)
      #expect(try file.clearStaleReaders() == 0)
    }
  }
}
