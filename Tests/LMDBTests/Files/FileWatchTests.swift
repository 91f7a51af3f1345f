import Foundation
import Testing

@testable import LMDB

@Suite struct FileWatchTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func append(_ name: String) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.file(name)))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([1]))
    try handle.close()
  }

  private func makeFile(_ name: String) throws -> String {
    try Data([0]).write(to: URL(filePath: folder.file(name)))
    return folder.file(name)
  }

  @Test("Each write to a watched file is reported", .timeLimit(.minutes(40)))
  func tellsOfEveryWriteThatNobodyHasSeen() async throws {
    let path = try makeFile("store")
    let (calls, call) = AsyncStream.makeStream(of: Void.self)
    let watch = FileWatch(path: path) { call.yield() }
    var iterator = calls.makeAsyncIterator()
    for _ in 0..<3 {
      try append("store")
      #expect(await iterator.next() != nil)
    }
    watch.cancel()
    watch.cancel()
  }

  @Test("Each watch reports writes to its own file", .timeLimit(.minutes(40)))
  func filesAndTheirWatchesAreTold() async throws {
    let first = try makeFile("first")
    let second = try makeFile("second")
    let (calls, call) = AsyncStream.makeStream(of: String.self)
    // Two watches of a file share one kernel watch: cancelling one must not affect the other.
    let ended = FileWatch(path: first) { call.yield("ended") }
    let watches = [
      FileWatch(path: first) { call.yield("first") },
      FileWatch(path: second) { call.yield("second") },
    ]
    ended.cancel()
    var iterator = calls.makeAsyncIterator()
    try append("first")
    #expect(await iterator.next() == "first")
    try append("second")
    while let call = await iterator.next(), call != "second" { #expect(call == "first") }
    withExtendedLifetime(watches) {}
  }

  @Test("Without notifications by the kernel, files are polled", .timeLimit(.minutes(40)))
  func withoutTheKernelTheTimeComesRound() async throws {
    let (calls, call) = AsyncStream.makeStream(of: Void.self)
    let end = FileWatch.repeatedly { call.yield() }
    var iterator = calls.makeAsyncIterator()
    for _ in 0..<2 { #expect(await iterator.next() != nil) }
    end()
    // A path that can't be watched is polled at the same interval.
    let watch = FileWatch(path: folder.file("missing")) { call.yield() }
    for _ in 0..<2 { #expect(await iterator.next() != nil) }
    watch.cancel()
  }

  #if os(Linux)
    @Test("Events of the kernel are parsed, even if they are truncated")
    func readsWhatTheKernelSays() {
      var messages = [UInt8](repeating: 0, count: 16 + 32 + 16)
      messages[0] = 7
      // The second event is followed by a name of 16 bytes.
      messages[16] = 3
      messages[16 + 12] = 16
      messages.replaceSubrange(48..<52, with: [255, 255, 255, 255])
      for end in 0...messages.count {
        var watches: Set<Int32> = []
        messages.withUnsafeBytes { bytes in
          FileNotifications.collect(UnsafeRawBufferPointer(rebasing: bytes[..<end]), into: &watches)
        }
        #expect(watches == Set([7, 3, -1].prefix(end < 16 ? 0 : end < 32 ? 1 : end < 64 ? 2 : 3)))
      }
    }
  #endif
}
