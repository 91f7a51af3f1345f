import Foundation
import Testing
import ArborBrowser

/// The files of the page, which are complete and comply with the content security policy.
@Suite struct PageFilesTests {
  /// Returns the files that a text refers to in imports, sources, links and style sheets.
  private func references(in text: String) -> [String] {
    let patterns = [
      #/from "\.\/([^"]+)"/#, #/src="([^"#]+)"/#, #/href="([^"#]+)"/#, #/url\(([^)]+)\)/#,
    ]
    return patterns.flatMap { text.matches(of: $0).map { String($0.1) } }
  }

  @Test("Every referenced file is served")
  func everyFileThatIsNamedIsThere() throws {
    try ServedStore.use { served in
      var waiting = [""]
      var seen: Set<String> = []
      while let name = waiting.popLast() {
        guard seen.insert(name).inserted else { continue }
        let answer = try served.client.get("/\(name)", headers: ["Authorization": nil])
        #expect(answer.status == 200, "\(name)")
        waiting += references(in: String(decoding: answer.body, as: UTF8.self))
      }
      #expect(seen.count == 41)
    }
  }

  /// The policy would block these silently, which would break a page that needs them.
  @Test("The page needs nothing that its policy forbids")
  func nothingNeedsWhatThePolicyForbids() throws {
    try ServedStore.use { served in
      let page = String(decoding: try served.client.get("/").body, as: UTF8.self)
      #expect(!page.contains("<style"))
      #expect(!page.contains(" style="))
      #expect(page.matches(of: #/<script(?![^>]* src=)/#).isEmpty)
      #expect(page.matches(of: #/ on[a-z]+=/#).isEmpty)
      for name in references(in: page) where name.hasSuffix(".js") {
        #expect(name == "app.js")
      }
      let scripts = [
        "api", "app", "columnmenu", "copy", "diagram", "difference", "dom", "edit", "explain",
        "export",
        "fields",
        "finder", "grid", "head", "health", "history", "layout", "live", "menu", "objects", "place",
        "places", "predicate", "queries", "query", "review", "routing", "schema", "search",
        "settings",
        "staged", "table", "tables", "time", "values",
      ]
      for name in scripts {
        let script = String(decoding: try served.client.get("/\(name).js").body, as: UTF8.self)
        for forbidden in [
          "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
          "https://", ".cssText", "setAttribute(\"style\"",
        ] {
          // Only settings outlive the page.
          let isSetting = name == "settings" && forbidden == "localStorage"
          #expect(isSetting || !script.contains(forbidden), "\(name): \(forbidden)")
        }
      }
    }
  }
}
