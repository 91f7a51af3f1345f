import ArborModel
import Foundation
import Testing

@Suite struct StoreReaderTests {
  @Test("The description of a reader contains its costs")
  func saysWhatItCosts() {
    let plain = StoreReader(
      processID: 4711, transaction: 7, transactionsBehind: 1, pinnedPages: 1, pinnedBytes: 4096)
    #expect(
      "\(plain)" == "process 4711 · 1 transaction behind · 1 page, 4096 bytes pinned")
    let known = StoreReader(
      processID: 4711, processName: "server", transaction: 7,
      since: Date(timeIntervalSince1970: 1_000_000_000), transactionsBehind: 1200, pinnedPages: 2,
      pinnedBytes: 8192)
    #expect(
      "\(known)" == "process 4711 (server) · since about 2001-09-09T01:46:40Z"
        + " · 1200 transactions behind · 2 pages, 8192 bytes pinned")
  }
}
