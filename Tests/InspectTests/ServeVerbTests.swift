import ArborData
import Foundation
import TestSupport
import Testing

/// The output and the server of `serve`. The page itself has separate tests.
@Suite struct ServeVerbTests {
  /// Starts the command and passes the printed address to `body`.
  private func serve(
    _ arguments: [String], _ body: (URL) async throws -> Void
  ) async throws {
    let program = try StartedProgram(
      Inspection.program.executable, ["serve"] + arguments, output: .pipe)
    defer {
      program.kill()
      _ = program.wait()
    }
    var line: [UInt8] = []
    while !line.contains(UInt8(ascii: "\n")) {
      let more = program.read()
      try #require(!more.isEmpty)
      line += more
    }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    let address = try #require(text.firstMatch(of: #/http:\/\/127[^"]*/#)?.output)
    try await body(try #require(URL(string: String(address))))
  }

  private func schema(_ url: URL) async throws -> String {
    let token = try #require(url.fragment).dropFirst("token=".count)
    var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
    (parts.fragment, parts.path) = (nil, "/api/schema")
    let curl = BuiltProgram(at: URL(filePath: "/usr/bin/curl"))
    return try curl.run([
      "-s", "-H", "Authorization: Bearer \(token)", try #require(parts.url).absoluteString,
    ]).output
  }

  @Test(
    "`serve` prints the address of a page",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
  func printsTheAddressOfAPage() async throws {
    let office = try OfficeStore()
    try await serve([office.url.path]) { url in
      let schema = try await schema(url)
      #expect(schema.contains("\"name\":\"Office.arbor\""))
      #expect(schema.contains("\"canWrite\":false"))
    }
    try await serve([office.url.path, "--write", "--json"]) { url in
      let schema = try await schema(url)
      #expect(schema.contains("\"canWrite\":true"))
    }
    try TemporaryStore.check(path: office.url.path)
  }

  @Test(
    "`serve` compares the store's model with another one",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
  func servesDifferences() async throws {
    let office = try OfficeStore()
    let model = office.folder.url.appending(path: "Next.model.json")
    try office.model.jsonData().write(to: model)
    try await serve([office.url.path, "--against", model.path]) { url in
      let schema = try await schema(url)
      #expect(schema.contains("\"against\":\"Next.model.json\""))
    }
  }

  /// An address with a port of the user's choice is the same each time, except for its token.
  @Test("`serve` uses the port that the user chooses")
  func servesOnAPort() async throws {
    let office = try OfficeStore()
    var port = 0
    try await serve([office.url.path]) { port = try #require($0.port) }
    try await serve([office.url.path, "--port", "\(port)"]) { url in
      #expect(url.port == port)
      let second = try Inspection.program.run(["serve", office.url.path, "--port", "\(port)"])
      #expect(second.status == 2 && second.output.isEmpty)
      #expect(second.errors.contains("Port \(port) of 127.0.0.1 cannot be used"), "\(second)")
    }
  }

  @Test("The error says why a file can't be served")
  func saysWhyAFileCannotBeServed() throws {
    let folder = try TemporaryFolder()
    let missing = folder.path("None.arbor")
    let outcome = try Inspection.program.run(["serve", missing])
    #expect(outcome.status == 2)
    #expect(outcome.errors.hasPrefix("lmdb-inspect: \(missing): "))
    #expect(outcome.output.isEmpty)
  }
}
