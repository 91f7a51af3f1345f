import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborLog

@Suite struct LogSegmentTests {
  @Test("The names of segments sort by their commits")
  func namesSortAsTheirSequencesDo() throws {
    let names = [1, 9, 10, 99, UInt64.max - 1].map { LogSegment(first: $0, last: $0).name }
    #expect(names == names.sorted())
    #expect(names[2] == "00000000000000000010-00000000000000000010.segment")
    for name in names { #expect(LogSegment(name: name)?.name == name) }
    for name in ["", "1-2.segment", names[0] + "x", "next.unfinished", "manifest"] {
      #expect(LogSegment(name: name) == nil)
    }
    #expect(LogSegment(name: "00000000000000000002-00000000000000000001.segment") == nil)
  }

  @Test("The article shows the bytes of a segment")
  func theArticleDrawsIt() throws {
    let folder = try TemporaryFolder()
    let commit = try #require(ArticleExamples.of("StoreFormat")["logged commit"])
    let segment = LogSegment(first: 3, last: 3)
    let start = CommitChain(store: LogExamples.store, sequence: 2)
    let header = LogSegment.Header(
      log: LogExamples.log, base: 1, first: 3, chain: start, counters: LogExamples.counters)
    var end = start
    commit.withUnsafeBytes { end.append(3, $0) }
    let path = folder.path(segment.name)
    try commit.withRawBytes { commit in
      var output = try LogOutput(path)
      try output.append(header.encoded())
      try LogSegment.write(3, commit, to: &output)
      try LogSegment.writeEnd(3, end, to: &output)
      try output.finish()
    }
    let bytes = try #require(try LogFiles.contents(path))
    let (entry, body) = (header.encoded().count, header.encoded().count + 20)
    try LogExamples.expect("segment header", Array(bytes[..<entry]))
    try LogExamples.expect("segment entry", Array(bytes[entry..<body]))
    #expect(Array(bytes[body...].prefix(commit.count)) == commit)
    try LogExamples.expect("segment end", Array(bytes[(body + commit.count)...]))
    guard var reader = try LogSegment.Reader(path, segment) else {
      Issue.record("The header is cut off.")
      return
    }
    #expect(reader.header == header)
    let (read, rest) = (try reader.read(), try reader.read())
    #expect(read == SegmentEntry(sequence: 3, body: commit, chain: end) && rest == nil)
    #expect(!reader.isCut && reader.chain == end)
  }
}
