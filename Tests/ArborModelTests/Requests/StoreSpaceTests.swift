import ArborModel
import Testing

@Suite struct StoreSpaceTests {
  private let space = StoreSpace(
    file: 1000, pageSize: 10, records: 100, indexes: 80, relationships: 60, largeBinaries: 40,
    history: 20, other: 10, free: 690, reclaimable: 680)

  @Test("The used space is the sum of all kinds")
  func usedIsTheSumOfTheKinds() {
    #expect(space.used == 310)
    #expect(space.kinds.reduce(0) { $0 + $1.bytes } == space.used)
  }

  @Test("The description of the space lists every kind")
  func namesEveryKind() {
    #expect(
      "\(space)"
        == "1000 bytes: records 100, indexes 80, relationships 60, large binaries 40, history 20, "
        + "other 10, free 690")
    let pinned = StoreSpace(
      file: 30, pageSize: 10, records: 0, indexes: 0, relationships: 0, largeBinaries: 0,
      history: 0, other: 10, free: 20, pinned: 10, reclaimable: 20)
    #expect("\(pinned)".hasSuffix(", other 10, free 20, of which pinned 10"))
  }
}
