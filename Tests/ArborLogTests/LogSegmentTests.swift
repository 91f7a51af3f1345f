import Testing

@testable import ArborLog

@Suite struct LogSegmentTests {
  @Test func namesSortAsTheirSequencesDo() throws {
    let names = [1, 9, 10, 99, UInt64.max - 1].map { LogSegment(first: $0, last: $0).name }
    #expect(names == names.sorted())
    #expect(names[2] == "00000000000000000010-00000000000000000010.segment")
    for name in names { #expect(LogSegment(name: name)?.name == name) }
    for name in ["", "1-2.segment", names[0] + "x", "next.unfinished", "manifest"] {
      #expect(LogSegment(name: name) == nil)
    }
    #expect(LogSegment(name: "00000000000000000002-00000000000000000001.segment") == nil)
  }
}
