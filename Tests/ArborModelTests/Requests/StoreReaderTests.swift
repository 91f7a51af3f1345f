import ArborModel
import Testing

@Suite struct StoreReaderTests {
  @Test func saysWhatItCosts() {
    let readers = [1, 1200].map {
      StoreReader(processID: 4711, transactionsBehind: $0, pinnedBytes: 8192)
    }
    #expect(
      readers.map(\.description) == [
        "process 4711 · 1 transaction behind · 8192 bytes pinned",
        "process 4711 · 1200 transactions behind · 8192 bytes pinned",
      ])
  }
}
