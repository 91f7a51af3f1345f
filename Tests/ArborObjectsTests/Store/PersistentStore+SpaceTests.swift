import ArborModel
import Foundation
import TestSupport
import Testing

import ArborObjects

/// The readers of a store and the space usage of its file.
@Suite struct PersistentStoreSpaceTests {
  private let folder: TemporaryFolder
  private let store: PersistentStore

  init() throws {
    folder = try TemporaryFolder()
    store = try PersistentStore(for: Office.classes, at: .path(folder.path("a.arbor")))
  }

  private func insert(_ names: [String], _ context: ManagedObjectContext) throws {
    for name in names { context.insert(Company.self).name = name }
    try context.commit()
  }

  @Test("The readers of a store are listed with their processes")
  func namesWhoReads() throws {
    let context = store.makeContext()
    try insert(["Ada"], context)
    #expect(try store.readers() == [])
    let before = Date()
    try context.withSnapshot {
      #expect(try store.readers().map(\.since) == [nil])
      try insert(["Grace"], store.makeContext())
      try insert(["Edsger"], store.makeContext())
      let reader = try #require(try store.readers().first)
      #expect(try store.readers().count == 1)
      #expect(reader.transactionsBehind == 2)
      #expect(reader.processID == ProcessInfo.processInfo.processIdentifier)
      #expect(reader.pinnedPages > 0)
      #expect(reader.pinnedBytes == reader.pinnedPages * (try store.spaceUsage().pageSize))
      // The date of the first commit that the reader doesn't see.
      let since = try #require(reader.since)
      #expect(since >= before && since <= Date())
      #if os(Linux)
        let name = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8)
        #expect(reader.processName.map { $0 + "\n" } == name)
      #endif
    }
    #expect(try store.readers() == [])
    store.close()
    #expect(throws: ArborError.self) { try store.readers() }
    #expect(throws: ArborError.self) { try store.spaceUsage() }
  }

  @Test("The space usage lists every database")
  func everyDatabaseIsNamed() throws {
    try insert((0..<500).map { "company \($0)" }, store.makeContext())
    let space = try store.spaceUsage()
    let companies = try #require(
      space.databases.first { $0.kind == .records && $0.entity == "Company" })
    #expect(companies.entries == 500 && companies.storedName == "e/Company")
    #expect(companies.bytes == companies.pages * space.pageSize && !companies.isEstimated)
    #expect(try #require(companies.fill) > 0.5)
    let sums = Dictionary(grouping: space.databases, by: \.kind)
      .mapValues { $0.reduce(0) { $0 + $1.bytes } }
    #expect(sums[.records] == space.records && sums[.index] == space.indexes)
    #expect(
      (sums[.relationship] ?? 0) + (sums[.order] ?? 0) == space.relationships)
    #expect(Set(space.databases.map(\.storedName)).count == space.databases.count)
    store.close()
  }
}
