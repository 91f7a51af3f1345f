import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

@Suite("The plan in the query view", .serialized, .enabled(if: Chromium.executable != nil))
struct PagePlanTests {
  /// Only steps whose estimates are far off are marked.
  @Test("A step with a wrong estimate is marked")
  func wrongEstimatesAreMarked() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try page.open(served.browser.url)
      try page.exists(".box")
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
