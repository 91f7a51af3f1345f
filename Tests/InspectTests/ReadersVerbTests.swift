import ArborData
import Foundation
import TestSupport
import Testing

/// The readers of a file.
@Suite struct ReadersVerbTests {
  private let began = Date()
  private let office: OfficeStore
  private var inspection: Inspection { Inspection(office.url) }

  init() throws { office = try OfficeStore() }

  @Test("Readers are listed with their processes")
  func readersAreNamed() throws {
    #expect(try inspection.run("readers").output == "no readers\n")
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    let context = store.makeContext()
    try context.withSnapshot {
      let list = try #require(try inspection.json("readers") as? [[String: Any]])
      #expect(list.map { $0["process"] as? Int } == [Int(getpid())])
      #expect(list.map { $0["behind"] as? Int } == [0])
      #expect(list.map { $0["stale"] as? Bool } == [false])
      #expect(list.allSatisfy { $0["since"] is NSNull })
      #expect(try inspection.run("readers").output.contains("pinned size"))
      let other = store.makeContext()
      try other.insert("Project")["title"] = "second"
      try other.commit()
      let behind = try #require(
        (try inspection.json("readers") as? [[String: Any]])?.first)
      #expect(behind["behind"] as? Int ?? 0 > 0)
      #expect(behind["pinnedPages"] as? Int ?? 0 > 0)
      let since = try Date(
        #require(behind["since"] as? String),
        strategy: .iso8601.year().month().day()
          .time(includingFractionalSeconds: true))
      // The reported commit may be an earlier one, because numbers are reserved in a transaction of
      // their own.
      #expect(since > began.addingTimeInterval(-1) && since <= Date())
    }
  }

  @Test("Stale readers are listed until they are cleared")
  func staleOnesAreShownUntilTheyAreCleared() async throws {
    // Opening a file that is not open clears all readers.
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    await #expect(processExitsWith: .success) { [path = office.url.path as String] in
      let store = try PersistentStore(at: .path(path))
      let context = store.makeContext()
      try context.withSnapshot {
        // Exits with an open snapshot.
        exit(EXIT_SUCCESS)
      }
    }
    for _ in 0..<2 {
      let list = try #require(try inspection.json("readers") as? [[String: Any]])
      #expect(list.map { $0["stale"] as? Bool } == [true])
    }
    #expect(try inspection.run("readers").output.contains("stale: the process has ended"))
    let cleared = try inspection.run("readers", "--clear")
    #expect(cleared.output == "no readers\n1 stale reader cleared\n")
    let again = try #require(try inspection.json("readers", "--clear") as? [String: Any])
    #expect(again["cleared"] as? Int == 0 && (again["readers"] as? [Any])?.isEmpty == true)
    #expect(try inspection.run("readers", "--clear", "--immutable").status == 64)
  }
}
