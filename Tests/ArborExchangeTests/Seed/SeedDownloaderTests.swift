import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct SeedDownloaderTests {
  private let workshop: SeedWorkshop
  private let server: LocalServer

  init() throws {
    workshop = try SeedWorkshop()
    server = try LocalServer()
  }

  private func link(_ path: String) throws -> String {
    "{\"seedlings\": [{\"seedUrl\": \"\(try server.url(path))\"}]}"
  }

  private func failure(
    _ path: String = "/a.json", options: SeedOptions = SeedOptions(),
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws -> ArborError {
    let error = try workshop.failure(
      of: try link(path), options: options, sourceLocation: sourceLocation)
    let url = try server.url(path).absoluteString
    #expect(error.message.contains(url), "\(error)", sourceLocation: sourceLocation)
    #expect(error.message.contains("Main.json → \(url)"), sourceLocation: sourceLocation)
    #expect(error.location?.path == "$.seedlings[0].seedUrl", sourceLocation: sourceLocation)
    return error
  }

  // MARK: Links

  @Test("A link to a URL is followed")
  func followsALinkToAURL() throws {
    server.answer("/a.json", with: .document(#"{"Company": {"companyName": "Foo"}}"#))
    let report = try workshop.seed(try link("/a.json"))
    #expect(report.documents.last == (try server.url("/a.json")))
    #expect(try workshop.only("Company").value(forKey: "companyName") == "Foo")
    try workshop.finish()
  }

  @Test("The main document can be a URL")
  func aTopDocumentComesFromAURLToo() throws {
    server.answer("/a.json", with: .document(#"{"Company": {}}"#))
    let report = try workshop.context.seed(from: .file(try server.url("/a.json")))
    #expect(report.documents == [try server.url("/a.json")])
    #expect(report.objects == [try workshop.only("Company")])
    try workshop.finish()
  }

  @Test("Relative URLs are resolved against the final URL of the linking document")
  func relativeURLsAreThoseOfTheLinkingDocument() throws {
    server.answer("/old", with: .redirect(to: "/sub/a.json"))
    server.answer(
      "/sub/a.json",
      with: .document(#"{"seedlings": [{"seedUrl": "b.json"}, {"seedUrl": "/c.json"}]}"#))
    server.answer("/sub/b.json", with: .document(#"{"Company": {}}"#))
    server.answer("/c.json", with: .document(#"{"Employee": {}}"#))
    let report = try workshop.seed(try link("/old"))
    #expect(report.created == ["Company": 1, "Employee": 1])
    #expect(server.requests == ["/old", "/sub/a.json", "/sub/b.json", "/c.json"])
    try workshop.finish()
  }

  @Test("Labels can be referenced across URLs")
  func labelsReachAcrossURLs() throws {
    server.answer("/a.json", with: .document(#"{"Company": {"$id": "c"}}"#))
    try workshop.seed(
      #"""
      {"seeds": [{"Employee": {"company": {"$ref": "c"}}},
                 {"seedlings": [{"seedUrl": "\#(try server.url("/a.json"))"}]}]}
      """#)
    #expect(
      try workshop.only("Employee").object(forKey: "company") == workshop.only("Company"))
    try workshop.finish()
  }

  @Test("A remote document can't link to files")
  func aRemoteDocumentReachesNoFiles() throws {
    try workshop.write(#"{"Company": {}}"#, to: "b.json")
    server.answer("/a.json", with: .document(#"{"seedlings": [{"seedFile": "b.json"}]}"#))
    let error = try workshop.failure(of: try link("/a.json"))
    #expect(
      error.code == .notAllowed
        && error.message.contains("from the network cannot link local files"))
    #expect(error.location?.source == (try server.url("/a.json").absoluteString))
  }

  @Test("Errors in a remote document contain its URL")
  func errorsInARemoteDocumentNameItsURL() throws {
    server.answer("/a.json", with: .document("{\"Company\":\n {\"companyID\": \"x\"}}"))
    let error = try workshop.failure(of: try link("/a.json"))
    #expect(error.location?.source == (try server.url("/a.json").absoluteString))
    #expect(error.location?.line == 2 && error.location?.path == "$.Company.companyID")
  }

  @Test("A document in JSON Lines format is recognized by its content type or file extension")
  func linesAreToldByTheirType() throws {
    let lines = "{\"Company\": {}}\n{\"Company\": {}}"
    server.answer("/a", with: .document(lines, type: "application/x-ndjson; charset=utf-8"))
    server.answer("/a.ndjson", with: .document(lines, type: "text/plain"))
    for path in ["/a", "/a.ndjson"] {
      #expect(try workshop.context.seed(from: .file(try server.url(path))).count == 2)
    }
    try workshop.finish()
  }

  // MARK: Cycles

  @Test("A cycle of URLs is reported with its chain")
  func aCycleAcrossURLsShowsTheChain() throws {
    server.answer("/a.json", with: .document(#"{"seedlings": [{"seedUrl": "b.json"}]}"#))
    server.answer(
      "/b.json",
      with: .document(
        #"{"Company": {"employees": {"seedlings": [{"seedUrl": "a.json#x"}]}}}"#))
    let error = try workshop.failure(of: try link("/a.json"))
    let a = try server.url("/a.json").absoluteString
    let b = try server.url("/b.json").absoluteString
    #expect(error.message.contains("links to itself: \(a) → \(b) → \(a)#x."), "\(error)")
    #expect(server.requests == ["/a.json", "/b.json"])
  }

  @Test("A cycle that contains a redirect is detected")
  func aCycleOverARedirectIsFound() throws {
    server.answer("/a.json", with: .document(#"{"seedlings": [{"seedUrl": "b.json"}]}"#))
    server.answer("/b.json", with: .redirect(to: "/a.json"))
    let error = try workshop.failure(of: try link("/a.json"))
    #expect(error.message.contains("links to itself"))
  }

  // MARK: Errors

  @Test("A response with a status other than success is an error")
  func anotherStatusIsAnError() throws {
    for status in [404, 500, 204, 304, 401] {
      server.answer("/a.json", with: .status(status))
      let error = try failure()
      #expect(error.code == .fileUnreadable && error.message.contains("\(status)"), "\(error)")
    }
  }

  @Test("A response of another content type or with invalid content is rejected")
  func anotherContentIsAnError() throws {
    for type in ["text/html; charset=utf-8", "image/png", "application/xml"] {
      server.answer("/a.json", with: .document(#"{"Company": {}}"#, type: type))
      let error = try failure()
      #expect(error.code == .invalidDocument && error.message.contains("not JSON"), "\(error)")
    }
    server.answer("/a.json", with: .document("<html></html>", type: "text/plain"))
    let error = try workshop.failure(of: try link("/a.json"))
    #expect(error.location?.source == (try server.url("/a.json").absoluteString))
  }

  @Test("A truncated document is rejected")
  func aTruncatedDocumentIsAnError() throws {
    server.answer("/a.json", with: .truncated(#"{"Company": {}}"#, length: 100))
    #expect(try failure().code == .fileUnreadable)
  }

  @Test("A document that doesn't arrive in time is rejected")
  func aSlowDocumentIsAnError() throws {
    var options = SeedOptions()
    options.maximumTime = 0.3
    for text in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"] {
      server.answer("/a.json", with: .silent(after: text))
      let error = try failure(options: options)
      #expect(error.code == .limitExceeded && error.message.contains("did not arrive"), "\(error)")
    }
  }

  @Test("Any time limit is accepted, including infinite and negative ones")
  func anyTimeCanBeGiven() throws {
    server.answer("/a.json", with: .document(#"{"Company": {}}"#))
    var options = SeedOptions()
    for time in [.infinity, 1e300, 60] {
      options.maximumTime = time
      try workshop.seed(try link("/a.json"), options: options)
    }
    options.maximumTime = -1
    server.answer("/a.json", with: .silent(after: ""))
    #expect(try failure(options: options).code == .limitExceeded)
    try workshop.finish()
  }

  @Test("Reading an oversized document stops at the limit")
  func anOversizedDocumentIsNotReadToItsEnd() throws {
    var options = SeedOptions()
    options.maximumRemoteSize = 1 << 20
    server.answer("/a.json", with: .endless(length: nil))
    #expect(try failure(options: options).code == .limitExceeded)
    server.answer("/a.json", with: .endless(length: 1 << 30))
    #expect(try failure(options: options).code == .limitExceeded)
    // The system may buffer some data, but not a gigabyte.
    #expect(server.endlessBytes < 256 << 20)
    options.maximumRemoteSize = 64 << 20
    options.maximumSize = 1 << 20
    server.answer("/a.json", with: .endless(length: nil))
    #expect(try failure(options: options).code == .limitExceeded)
  }

  @Test("The number of redirects is limited")
  func redirectsAreLimited() throws {
    for step in 0..<6 { server.answer("/\(step)", with: .redirect(to: "/\(step + 1)")) }
    server.answer("/6", with: .document(#"{"Company": {}}"#))
    try workshop.seed(try link("/1"))
    let error = try failure("/0")
    #expect(error.code == .limitExceeded && error.message.contains("5 times"))
    try workshop.finish()
  }

  @Test("A redirect loop is rejected")
  func aRedirectLoopIsAnError() throws {
    server.answer("/a.json", with: .redirect(to: "/b.json"))
    server.answer("/b.json", with: .redirect(to: "/a.json"))
    #expect(try failure().message.contains("in a loop"))
    server.answer("/c.json", with: .redirect(to: "/c.json"))
    #expect(try failure("/c.json").message.contains("in a loop"))
  }

  @Test("The target of a redirect must comply with the options")
  func aRedirectKeepsToTheRules() throws {
    server.answer("/a.json", with: .redirect(to: "file:///etc/hostname"))
    // Foundation may treat such a redirect as a response.
    #expect([.notAllowed, .fileUnreadable].contains(try failure().code))
    let other = try LocalServer(["/x": .document(#"{"Company": {}}"#)])
    let target = "http://localhost:\(other.port)/x"
    server.answer("/a.json", with: .redirect(to: target))
    var options = SeedOptions()
    options.remote = .hosts(["127.0.0.1"])
    let error = try failure(options: options)
    #expect(error.code == .notAllowed && error.message.contains("localhost"))
    #expect(other.requests.isEmpty)
  }

  @Test("An unreachable host is reported")
  func anUnreachableHostIsAnError() throws {
    let port = try LocalServer().port
    let error = try workshop.failure(
      of: "{\"seedlings\": [{\"seedUrl\": \"http://127.0.0.1:\(port)/a.json\"}]}")
    #expect(error.code == .fileUnreadable && error.message.contains("127.0.0.1:\(port)"))
  }

  @Test("A response that is not HTTP is rejected")
  func anAnswerThatIsNoHTTPIsAnError() throws {
    for text in ["", "\r\n\r\n", "HELLO\r\n", #"{"Company": {}}"#] {
      server.answer("/a.json", with: .bytes(text))
      #expect(try failure().code == .fileUnreadable, "\(text)")
    }
  }

  // MARK: Options

  @Test("The options can reject remote documents")
  func optionsRefuseRemoteDocuments() throws {
    server.answer("/a.json", with: .document(#"{"Company": {}}"#))
    var options = SeedOptions()
    options.remote = .refused
    #expect(try workshop.failure(of: try link("/a.json"), options: options).code == .notAllowed)
    let top = try server.url("/a.json")
    #expect(try workshop.failure(ofSeedFrom: [top], options: options).code == .notAllowed)
    options.remote = .hosts(["example.com"])
    #expect(try workshop.failure(of: try link("/a.json"), options: options).code == .notAllowed)
    #expect(server.requests.isEmpty)
    options.remote = .hosts(["127.0.0.1"])
    try workshop.seed(try link("/a.json"), options: options)
    try workshop.finish()
  }

  @Test("A main document with another URL scheme is rejected")
  func aTopURLOfAnotherSchemeIsAnError() throws {
    let url = try #require(URL(string: "ftp://example.com/a.json"))
    #expect(try workshop.failure(ofSeedFrom: [url]).code == .invalidArgument)
  }

  @Test("If a link has both a file and a URL, the URL is used")
  func whereALinkNamesBothTheURLIsFollowed() throws {
    server.answer("/a.json", with: .document(#"{"Company": {}}"#))
    let url = try server.url("/a.json")
    for link in [
      "{\"seedFile\": \"none.json\", \"seedUrl\": \"\(url)\"}",
      "{\"seedUrl\": \"\(url)\", \"seedFile\": \"../none.json\"}",
    ] { #expect(try workshop.seed("{\"seedlings\": [\(link)]}").created == ["Company": 1]) }
    try workshop.finish()
  }

  @Test("A download doesn't depend on a free thread of the cooperative pool")
  func seedsWhileEveryThreadOfTheTasksWaits() async throws {
    server.answer("/a.json", with: .document(#"{"Company": {}}"#))
    let store = workshop.store
    let url = try server.url("/a.json")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<24 {
        group.addTask {
          let context = store.makeContext()
          // The test is about independence of the downloads, not about their duration on a busy
          // machine.
          var options = SeedOptions()
          options.maximumTime = 600
          do {
            try context.seed(from: .file(url), options: options)
            try context.commit()
          } catch let error as ArborError {
            Issue.record("\(error.debugDescription)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try workshop.all("Company").count == 24)
    try workshop.finish()
  }

  @Test("Content types of JSON are recognized")
  func knowsWhatMayBeJSON() {
    for type in [nil, "application/json", "application/ld+json", "text/plain", "TEXT/JSON"] {
      #expect(SeedContent.isAllowed(type))
    }
    for type in ["text/html", "application/xhtml+xml", "application/javascript", ""] {
      #expect(!SeedContent.isAllowed(type))
    }
  }
}
