import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

@Suite("A store whose file is removed or replaced while it is served") struct ReplacedFileTests {
  @Test("A removed or replaced file is detected", arguments: [false, true])
  func noticesThatTheFileIsGone(isReplaced: Bool) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Company.arbor")
    let store = try PersistentStore(model: ServedStore.makeModel(), at: .file(url))
    let browser = try StoreBrowser(store)
    defer {
      browser.stop()
      browser.waitUntilStopped()
    }
    let client = try RawClient(browser)
    #expect(try client.get("/api/news").json["sequence"]?.int64 != nil)
    try FileManager.default.moveItem(at: url, to: folder.url.appending(path: "Moved.arbor"))
    if isReplaced { try Data("another file".utf8).write(to: url) }
    for path in ["news", "schema", "objects?entity=Office", "health"] {
      let answer = try client.get("/api/\(path)")
      #expect(answer.status == 500)
      #expect(answer.json["error"]?["code"] == "fileReplaced")
      #expect(
        answer.message
          == "The store's file was removed or replaced. Start the browser again to see the "
          + "current file.")
    }
  }

  @Test("Pages that only look for commits don't keep the server running")
  func watchingKeepsNoServer() throws {
    var limits = HTTPLimits()
    limits.idleTime = .milliseconds(300)
    try ServedStore.use(limits: limits) { served in
      let end = ContinuousClock.now + .seconds(20)
      while ContinuousClock.now < end, (try? served.client.get("/api/news"))?.status == 200 {}
      #expect(ContinuousClock.now < end)
      served.browser.waitUntilStopped()
    }
  }

  @Test("A commit increases the sequence number")
  func countsEveryCommit() throws {
    try ServedStore.use { served in
      let before = try #require(try served.client.get("/api/news").json["sequence"]?.int64)
      let context = served.store.makeContext()
      try context.insert("Project")["title"] = "Tunnel"
      try context.commit()
      #expect(try served.client.get("/api/news").json["sequence"]?.int64 == before + 1)
      #expect(try served.client.get("/api/schema").json["sequence"]?.int64 == before + 1)
    }
  }
}
