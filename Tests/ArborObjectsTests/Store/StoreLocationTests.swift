import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct StoreLocationTests {
  private func refusal(_ location: StoreLocation) throws -> String {
    let error = #expect(throws: ArborError.self) {
      _ = try PersistentStore(for: Office.classes, at: location)
    }
    #expect(error?.code == .invalidArgument)
    return error?.message ?? ""
  }

  private static let advice = ". Create the URL from a path with URL(filePath:)."

  @Test(
    "URLs that don't name a file are rejected",
    arguments: [
      ("http://example.org/tmp/a.arbor", "its scheme is http and must be file"),
      ("a.arbor", "its scheme is missing and must be file"),
      ("file://example.org/tmp/a.arbor", "it contains the host example.org"),
      ("file:///tmp/a.arbor?x=1", "it has a query"),
      ("file:///tmp/a.arbor#1", "it has a fragment"),
      ("file:///tmp/%FF.arbor", "its path is not UTF-8"),
      ("file:///tmp/%C3(.arbor", "its path is not UTF-8"),
      ("file:///tmp/a%00b.arbor", "its path contains a zero byte"),
    ])
  func urlsThatNameNoFileAreRefused(text: String, what: String) throws {
    let url = try #require(URL(string: text))
    #expect(
      try refusal(.file(url))
        == "\(text) is not the URL of a store file: \(what)" + Self.advice)
  }

  @Test("Invalid paths are rejected", arguments: [("", "\"\""), ("a\0b", "\"a\\0b\"")])
  func pathsThatNoFileHasAreRefused(path: String, quoted: String) throws {
    #expect(
      try refusal(.path(path))
        == "\(quoted) is not a valid path: it is empty or contains a zero byte. Use the path of a "
        + "file.")
  }

  @Test(
    "File names with special characters are preserved",
    arguments: ["plain", "with space", "100%", "a#b?c", "%41", "Größe", "e\u{301}", "日本"])
  func everyNameComesThroughAsItIs(name: String) throws {
    let url = URL(filePath: "/tmp/folder").appending(path: name)
    #expect(try StoreLocation.file(url).stored == .file("/tmp/folder/" + name))
    #expect(try StoreLocation.file(URL(filePath: "/tmp/" + name)).stored == .file("/tmp/" + name))
    let relative = URL(filePath: name, relativeTo: URL(filePath: "/tmp/folder/"))
    #expect(try StoreLocation.file(relative).stored == .file("/tmp/folder/" + name))
  }

  @Test("A file URL may name the local host")
  func theLocalHostIsNone() throws {
    let url = try #require(URL(string: "file://localhost/tmp/a.arbor"))
    #expect(try StoreLocation.file(url).stored == .file("/tmp/a.arbor"))
  }
}
