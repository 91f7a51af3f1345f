import Foundation
import Testing
import LMDB

@Suite struct EnvironmentInMemoryTests {
  @Test("An in-memory environment works like a file and leaves no name")
  func worksLikeAFileAndLeavesNoName() throws {
    let one = try Environment.openInMemory()
    let two = try Environment.openInMemory()
    #expect(one.identity != two.identity)
    #expect(!FileManager.default.fileExists(atPath: one.path))
    let folder = (one.path as NSString).deletingLastPathComponent
    #expect(!FileManager.default.fileExists(atPath: folder))
    let database = try #require(try one.openDatabase("it", .integerKey, create: true))
    try one.write { transaction in
      for key in 0..<5000 {
        try transaction.put(database, UInt64(key).nativeBytes, [UInt8](repeating: 7, count: 200))
      }
    }
    #expect(try one.statistics(of: database).entries == 5000)
    #expect(try two.databaseNames() == [])
    let inside = try one.withExclusiveLock { try one.value(database, UInt64(1).nativeBytes) }
    #expect(inside?.count == 200)
    try one.close()
  }

  @Test("The map of an in-memory environment grows")
  func growsLikeAFile() throws {
    var options = EnvironmentOptions()
    options.initialMapSize = 1 << 16
    let environment = try Environment.openInMemory(options: options)
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try environment.write { transaction in
      try transaction.put(database, UInt64(1).nativeBytes, [UInt8](repeating: 7, count: 1_000_000))
    }
    #expect(try environment.value(database, UInt64(1).nativeBytes)?.count == 1_000_000)
    let target = try TemporaryFolder()
    try environment.copy(to: target.file("copy"), compacting: false)
    let copy = try Environment.open(path: target.file("copy"))
    #expect(try copy.databaseNames() == ["it"])
  }
}
