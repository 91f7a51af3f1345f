import ArborExchange
import Foundation
import Testing

@Suite struct SeedAddressTests {
  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func problem(
    _ text: String, base: String? = nil, _ remote: SeedOptions.RemoteDocuments = .allowed
  ) throws -> SeedAddress.Problem? {
    let base = try base.map { try url($0) }
    do throws(SeedAddress.Problem) {
      _ = try SeedAddress.url(text, relativeTo: base, remote)
      return nil
    } catch { return error }
  }

  @Test("Only HTTP and HTTPS URLs are accepted")
  func takesHTTPAndHTTPSOnly() throws {
    for text in ["http://a/b", "HTTPS://a/b", "https://a", "http://[::1]:80/x?y"] {
      #expect(try problem(text) == nil, "\(text)")
    }
    for text in ["file:///etc/passwd", "ftp://a/b", "data:,1", "javascript:1"] {
      #expect(try problem(text) == .scheme, "\(text)")
    }
    for text in ["", " ", "http://", "https:///x", "http://a b/", "http://a\u{0}/"] {
      #expect(try problem(text) == .malformed, "\(text)")
    }
    for text in ["x.json", "/x.json", "//a/x.json", "../x"] {
      #expect(try problem(text) == .relative, "\(text)")
    }
  }

  @Test("URLs with credentials are rejected")
  func takesNoCredentials() throws {
    #expect(try problem("https://user:secret@a/b") == .credentials)
    #expect(try problem("https://user@a/b") == .credentials)
  }

  @Test("URLs are resolved relative to the linking document")
  func resolvesAgainstTheLinkingDocument() throws {
    let base = try url("https://a/b/c.json?x=1")
    for (text, expected) in [
      ("d.json", "https://a/b/d.json"), ("/d.json", "https://a/d.json"),
      ("../d.json", "https://a/d.json"), ("//h/d", "https://h/d"), ("https://h/d", "https://h/d"),
    ] {
      #expect(
        try SeedAddress.url(text, relativeTo: base, .allowed).absoluteString == expected)
    }
    #expect(try problem("http://a/b", base: "https://a/c") == .downgrade)
    #expect(try problem("https://a/b", base: "http://a/c") == nil)
  }

  @Test("Hosts are allowed by name")
  func hostsAreAllowedByName() throws {
    let hosts = SeedOptions.RemoteDocuments.hosts(["Data.example.com"])
    #expect(try problem("https://data.EXAMPLE.com/x", hosts) == nil)
    for host in ["example.com", "xdata.example.com", "data.example.com.evil", "127.0.0.1"] {
      #expect(try problem("https://\(host)/x", hosts) == .foreignHost(host))
    }
    #expect(try problem("https://data.example.com@evil/x", hosts) == .credentials)
    #expect(try problem("https://a/b", .refused) == .refused)
    #expect(try problem("https://a/b", .hosts([])) == .foreignHost("a"))
  }

  @Test("Redirects must comply with the options")
  func redirectsKeepToTheRules() throws {
    func problem(
      _ origin: String, _ target: String, _ remote: SeedOptions.RemoteDocuments = .allowed
    ) throws -> SeedAddress.Problem? {
      SeedAddress.problem(ofRedirectFrom: try url(origin), to: try url(target), remote)
    }
    #expect(try problem("http://a", "https://b") == nil)
    #expect(try problem("https://a", "https://b") == nil)
    #expect(try problem("http://a", "http://b") == nil)
    #expect(try problem("https://a", "http://a") == .downgrade)
    #expect(try problem("https://a", "file:///etc/passwd") == .scheme)
    #expect(try problem("https://a", "https://b", .hosts(["a"])) == .foreignHost("b"))
    #expect(try problem("https://a", "https://x:y@a/") == .credentials)
  }

  @Test("Different spellings of a URL are the same document")
  func spellingsOfOneURLAreOne() throws {
    let one = SeedAddress.identity(of: try url("http://A.b/x?y#z"))
    #expect(one == SeedAddress.identity(of: try url("HTTP://a.B/x?y")))
    #expect(one != SeedAddress.identity(of: try url("http://a.b/X?y")))
    #expect(
      SeedAddress.identity(of: try url("http://a.b"))
        == SeedAddress.identity(of: try url("http://a.b/")))
  }

  @Test("Each problem of a URL has a message of its own, which ends with a period")
  func messagesAreSentences() {
    let problems: [SeedAddress.Problem] = [
      .malformed, .relative, .scheme, .credentials, .refused, .foreignHost("h"), .downgrade,
    ]
    for problem in problems { #expect(problem.message.hasSuffix(".")) }
    #expect(Set(problems.map(\.message)).count == problems.count)
  }
}
