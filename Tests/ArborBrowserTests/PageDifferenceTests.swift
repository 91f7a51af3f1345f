import ArborData
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

@Suite("The differences of two models in the diagram", .serialized)
struct PageDifferenceTests {
  private func use(_ body: (ServedStore) throws -> Void) throws {
    let model = try ServedStore.makeModel()
    var next = model
    next.entities.removeAll { $0.name == "Project" }
    next.entities[1].relationships.removeAll { $0.name == "projects" }
    next.entities[1].attributes.removeAll { $0.name == "notes" }
    next.entities[1].attributes.append(AttributeDescription("nick", .string, .optional))
    next.entities[2].attributes[0].isOptional = true
    next.entities.append(
      EntityDescription("Team") { AttributeDescription("motto", .string, .optional) })
    try ServedStore.use(model, against: next, fill: { try ServedStore.fill($0, 3) }, body: body)
  }

  @Test("The server marks what differs, if it has a model to compare with")
  func theServerMarksDifferences() throws {
    try use { served in
      #expect(try served.client.get("/api/schema").json["against"] == "Next.model.json")
      let entities = try served.client.get("/api/difference").json["entities"]?.array
      #expect(
        entities?.map { $0["mark"] } == [.null, "changed", "changed", "added", "removed"],
        "\(entities ?? [])")
      #expect(entities?[2]["attributes"]?[0]?["notes"] == ["becomes optional"])
    }
    try ServedStore.use { served in
      let schema = try served.client.get("/api/schema").json
      #expect(schema["against"] == .null)
      let refused = try served.client.get("/api/difference")
      #expect(refused.status == 400)
    }
  }

  private static let names = """
    [...document.querySelectorAll('.box .name')].map((each) => each.textContent).sort().join()
    """

  @Test(
    "The diagram shows the differences and the store's model in turn",
    .enabled(if: Chromium.executable != nil))
  func theDiagramShowsDifferences() throws {
    try use { served in
      let page = try Chromium(width: 1400, height: 900)
      try page.open(served.browser.url)
      try page.exists(".box")
      #expect(try page.evaluate(Self.names) == "Employee,Office,Person,Project")
      // By keys alone.
      let button =
        "[...document.querySelectorAll('.bar button')].find((each) => each.innerText === 'Differences')"
      try page.evaluate("\(button).focus()")
      try page.press("Enter")
      try page.wait("\(button).getAttribute('aria-pressed') === 'true'")
      try page.wait("document.querySelectorAll('.box').length === 5")
      #expect(try page.evaluate(Self.names) == "+ Team,Person,~ Employee,~ Office,− Project")
      #expect(try page.text(".signs") == "+ added\n− removed\n~ changed")
      #expect(try page.text(".notice") == "Next.model.json differs in 4 entities.")
      let lines = try page.evaluate(
        "[...document.querySelectorAll('.box .line')].map((each) => each.textContent)")
      for line in ["+ nick", "− notes", "− projects", "~ city", "+ motto", "age"] {
        #expect(lines.array?.contains(.string(line)) == true, "\(line) \(lines)")
      }
      #expect(try page.evaluate("document.querySelectorAll('.edge.removed').length") == 1)
      #expect(
        try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      try page.picture("differences")
      try page.evaluate(
        "[...document.querySelectorAll('.box')].find((each) => each.getAttribute('aria-label') === 'Office, changed').focus()"
      )
      try page.press("Enter")
      try page.wait("document.querySelector('.detail h2')?.innerText === 'Office'")
      #expect(try page.text(".detail dl") == "~ city\nchanged, string?, becomes optional")
      try page.evaluate(
        """
        window.texts = {};
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then((text) => { texts[blob.type] = text; }); return make(blob); };
        for (const name of ["SVG", "Mermaid"]) {
          [...document.querySelectorAll(".bar button")].find((each) => each.innerText === name).click();
        }
        """)
      try page.wait("Object.keys(texts).length === 2")
      let mermaid = try #require(try page.evaluate("texts['text/plain']").string)
      #expect(mermaid.contains("  note \"+ added, - removed, ~ changed\"\n"))
      #expect(mermaid.contains("    +string? nick\n") && mermaid.contains("    -string? notes\n"))
      let svg = try #require(try page.evaluate("texts['image/svg+xml']").string)
      #expect(svg.contains(">− removed</text>") && svg.contains(">~ Office</text>"))
      try page.resize(390, 780, isDark: true)
      #expect(
        try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      try page.click(".detail .close")
      try page.evaluate("\(button).click()")
      try page.wait("document.querySelectorAll('.box').length === 4")
      #expect(try page.evaluate(Self.names) == "Employee,Office,Person,Project")
      #expect(try page.evaluate("document.querySelector('.signs').hidden") == true)
      #expect(page.complaints == [])
    }
  }
}
