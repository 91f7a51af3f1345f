import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

@Suite("The plan in the query view", .serialized, .enabled(if: Chromium.executable != nil))
struct PagePlanTests {
  @Test("The plan shows time, keys and records, and what an index would change")
  func costsAndProposedIndexesAreShown() throws {
    try ServedStore.use { served in
      let context = served.store.makeContext()
      let employee = try context.objects("Employee").filter("name == 'Employee 3'").first()
      employee?["notes"] = "x"
      try context.commit()
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/query?entity=Employee&where=age == 22'")
      try page.wait("document.querySelector('.plan')?.innerText.includes('Employee.age')")
      let costs = "[...document.querySelectorAll('.plan .cost')].map((each) => each.innerText)"
      let shown = try page.evaluate(costs)
      for form in [#"^\d+ keys?$"#, #"^\d+ records?$"#, #"^[\d.]+ (µs|ms|s)$"#] {
        #expect(
          try page.evaluate("\(costs).some((each) => /\(form)/.test(each))") == true,
          "\(form): \(shown)")
      }

      try page.evaluate("location.hash = `#/query?entity=Employee&where=notes == 'x'`")
      try page.wait("document.querySelector('.plan')?.innerText.includes('notes')")
      let field = "document.querySelector('[aria-label=\"Properties of a proposed index\"]')"
      try page.evaluate("\(field).focus()")
      try page.type("notes")
      try page.press("Enter")
      try page.wait("document.querySelector('.effect').innerText !== ''")
      let effect = try page.text(".effect")
      #expect(
        effect.hasPrefix("Employee (notes): It would have up to 30 entries and take about "),
        "\(effect)")
      #expect(
        effect.contains("The query would find 1 of 30 objects by notes == \"x\""), "\(effect)")
      try page.evaluate("\(field).select()")
      try page.type("nots")
      try page.press("Enter")
      try page.wait(
        "document.querySelector('.what-if .problem').innerText.includes('Did you mean notes?')")
      #expect(try page.text(".effect") == "")
      #expect(page.complaints == [])
    }
  }

  /// Only steps whose estimates are far off are marked.
  @Test("A step with a wrong estimate is marked")
  func wrongEstimatesAreMarked() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(
        """
        (async () => {
          const { planView } = await import("./explain.js");
          const step = (kind, estimated, actual, inputs = []) => ({ kind, name: null, detail: "", estimated, actual, inputs });
          document.querySelector("#main").replaceChildren(
            planView({ root: step("filter", 10, 900, [step("index", 1000, 1200), step("scan", 5, 1)]) }),
            planView({ root: step("scan", null, 3), suggestedIndex: "Person (<b>)", indexSize: { entries: 1, bytes: 4096, sample: 1 } }));
        })()
        """)
      #expect(
        try page.evaluate("[...document.querySelectorAll('.wrong')].map((each) => each.innerText)")
          == ["90 × more"])
      #expect(
        try page.evaluate("[...document.querySelectorAll('.advice')].map((each) => each.innerText)")
          == [
            "1 estimate was wrong by a factor of 4 or more. The plan may not be the best one.",
            "An index would help: Person (<b>). It would have up to 1 entry and take about 4.0 KiB, estimated from 1 object.",
          ])
      #expect(try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      #expect(page.complaints == [])
    }
  }
}
