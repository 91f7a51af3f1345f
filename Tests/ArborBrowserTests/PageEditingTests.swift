import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

@Suite("Edits in the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageEditingTests {
  private func count(_ served: ServedStore, _ predicate: String) throws -> Int {
    try served.store.makeContext().objects("Employee")
      .filter(FetchPredicate(format: predicate)).count()
  }

  @Test("Edits are shown, committed and undone")
  func changesAreShownCommittedAndUndone() throws {
    try ServedStore.use(writing: true) { served in
      let page = try Chromium(showing: served.browser.url)
      #expect(try page.text("#mode") == "writable")
      try page.evaluate("location.hash = '#/objects/Employee?id=Employee/4'")
      try page.click(".detail .actions button")
      try page.exists(".edit")
      try page.fill("age", "61")
      try page.fill("salary", "12.50")
      try page.picture("edit")
      #expect(try PageAudit.problems(in: page) == [])
      try page.press("Enter")
      try page.wait("document.querySelector('#review').innerText === 'Review 1 change'")

      try page.evaluate("location.hash = '#/objects/Office?id=Office/2'")
      try page.wait("document.querySelector('.detail h2')?.innerText === 'Oslo'")
      try page.click(".detail .actions button")
      try page.click(".edit .danger")
      try page.evaluate("location.hash = '#/objects/Project'")
      try page.wait("document.querySelector('.bar > button')?.innerText === 'New Project'")
      try page.click(".bar > button")
      try page.exists(".edit")
      try page.fill("title", "Tunnel")
      try page.press("Enter")
      try page.wait("document.querySelector('#review').innerText === 'Review 3 changes'")

      try page.click("#review")
      try page.exists("dialog .figure.deleted")
      #expect(try page.text("dialog .figures") == "1 inserted\n1 updated\n11 deleted")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("review")
      #expect(try count(served, "TRUEPREDICATE") == 30)
      // The commit button has the focus.
      try page.press("Enter")
      try page.wait("!document.querySelector('dialog').open")
      try page.wait("document.querySelector('#review').hidden")
      #expect(try count(served, "TRUEPREDICATE") == 20)
      #expect(try count(served, "age == 61 AND salary == 12.5") == 1)
      // The table is updated automatically.
      try page.wait("document.querySelector('.summary').innerText.startsWith('2 objects')")
      let shown = "document.querySelector('.side a[aria-current=page] .count').textContent"
      #expect(try page.evaluate(shown) == "2")

      try page.click("#undo")
      try page.exists("dialog .figure.inserted")
      try page.press("Enter")
      try page.wait("!document.querySelector('dialog').open")
      #expect(try count(served, "TRUEPREDICATE") == 30)
      #expect(try count(served, "age == 61") == 0)
      try page.wait("\(shown) === '1'")
      #expect(page.complaints == [])
    }
  }

  @Test("Text fields normalize line endings, which is not a change of the value")
  func onlyWhatWasChangedIsSent() throws {
    try ServedStore.use(writing: true) { served in
      let context = served.store.makeContext()
      let employee = try #require(
        try context.objects("Employee").filter("name == 'Employee 3'").first())
      employee["notes"] = "one\r\ntwo\rthree"
      try context.commit()
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee?id=Employee/4'")
      try page.click(".detail .actions button")
      try page.exists(".edit textarea")
      try page.fill("age", "61")
      try page.press("Enter")
      try page.click("#review")
      try page.exists("dialog .changes")
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('dialog .changes tbody th')].map((each) => each.innerText)"
        ) == ["age"])
      #expect(page.complaints == [])
    }
  }

  @Test("An error is displayed, and the edits are kept")
  func refusalsAreShownAndChangesKept() throws {
    try ServedStore.use(writing: true) { served in
      let page = try Chromium(width: 390, height: 780)
      try page.open(served.browser.url)
      try page.exists(".box")
      try page.evaluate("location.hash = '#/objects/Employee?id=Employee/4'")
      try page.click(".detail .actions button")
      try page.exists(".edit")
      try page.fill("age", "many")
      try page.press("Enter")
      try page.wait("!document.querySelector('#review').hidden")
      try page.click("#review")
      try page.wait(
        "document.querySelector('dialog .failure')?.innerText.includes('Enter an integer')")
      let problems = try PageAudit.problems(in: page)
      #expect(problems == [])
      try page.picture("refusal-390")
      try page.press("Escape")
      try page.wait("!document.querySelector('dialog').open")
      #expect(try page.evaluate("document.querySelector('#review').hidden") == false)
      #expect(served.store.sequence == 1)
      #expect(page.complaints == [])
    }
  }

  @Test("For a read-only store, the page offers no edits")
  func aStoreForReadingHasNoWayToChangeIt() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee?id=Employee/4'")
      try page.exists(".detail .relationship")
      #expect(try page.evaluate("document.querySelector('#undo').hidden") == true)
      #expect(try page.evaluate("document.querySelectorAll('.actions, .bar > button').length") == 0)
    }
  }
}
