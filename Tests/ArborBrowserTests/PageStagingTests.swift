import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// Edits are shown with their objects, validated while typing, and removed one at a time.
@Suite("Staged edits in the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageStagingTests {
  @Test("Values are validated while typing")
  func valuesAreCheckedWhileTyping() throws {
    try ServedStore.use(EditRunTests.makeModel(), writing: true, fill: EditRunTests.fill) {
      served in
      let page = try Chromium(showing: served.browser.url)
      try page.edit("Shop/1")
      let cases = [
        ("code", "abc", "doesn't match"), ("floor", "12", "exceeds the maximum of 9"),
        ("name", "South", "must be unique"), ("number", "many", "Enter an integer"),
      ]
      for (label, text, message) in cases {
        try page.fill(label, text)
        try page.wait("\(Chromium.problem).includes(\"\(message)\")")
        #expect(try page.evaluate("control.getAttribute('aria-invalid')") == "true")
      }
      // All of them are shown at once.
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('.edit .problem')].filter((each) => each.innerText).length"
        )
          == 4)
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("violations")
      try page.fill("floor", "3")
      try page.wait("\(Chromium.problem) === ''")
      #expect(try page.evaluate("control.hasAttribute('aria-invalid')") == false)
      #expect(page.complaints == [])
    }
  }

  @Test("The review shows every violation at its property")
  func theReviewShowsEveryViolation() throws {
    try ServedStore.use(EditRunTests.makeModel(), writing: true, fill: EditRunTests.fill) {
      served in
      let page = try Chromium(showing: served.browser.url)
      try page.edit("Shop/1")
      let cases = [
        ("code", "abc", "doesn't match"), ("floor", "12", "exceeds the maximum of 9"),
        ("name", "South", "must be unique"),
      ]
      for (label, text, _) in cases { try page.fill(label, text) }
      #expect(try page.text(".edit [type=submit]") == "Stage change")
      try page.click(".edit [type=submit]")
      try page.click("#review")
      try page.wait("document.querySelectorAll('dialog .staged-edits .problem').length === 3")
      #expect(
        try page.text("dialog .failure")
          == "The changes violate 3 rules. Correct or remove the changes.")
      let problems =
        try page.evaluate(
          """
          [...document.querySelectorAll('dialog .staged-edits .property')].map((each) =>
            `${each.querySelector('.faint').innerText}: ${each.querySelector('.problem')?.innerText}`)
          """
        ).array?.compactMap(\.string) ?? []
      for (label, _, message) in cases {
        #expect(
          problems.contains { $0.hasPrefix("\(label): ") && $0.contains(message) }, "\(problems)")
      }
      #expect(try page.evaluate("document.querySelector('dialog .primary').disabled") == true)
      #expect(try PageAudit.problems(in: page) == [])
      // What remains can be committed.
      for (label, _, _) in cases.dropLast() {
        try page.click("dialog button[aria-label='Remove \(label) of Shop/1']")
        try page.wait(
          "!document.querySelector(\"dialog button[aria-label='Remove \(label) of Shop/1']\")")
      }
      try page.wait("document.querySelectorAll('dialog .staged-edits .problem').length === 1")
      #expect(try page.text("dialog .failure").contains("must be unique"))
      #expect(page.complaints == [])
    }
  }

  @Test("Objects that are found become members and targets")
  func foundObjectsAreLinked() throws {
    try ServedStore.use(EditRunTests.makeModel(), writing: true, fill: EditRunTests.fill) {
      served in
      let page = try Chromium(showing: served.browser.url)
      // A member of a to-many relationship, then the target of a to-one relationship.
      for (id, label, text) in [("Shop/2", "goods", "Sal"), ("Good/1", "shop", "Sou")] {
        try page.edit(id)
        try page.fill(label, text)
        try page.exists(".edit [role=option]")
        try page.press("ArrowDown")
        try page.press("Enter")
        try page.wait(
          "document.querySelector('.edit .members .added')?.innerText.startsWith('\(text)')")
        try page.click(".edit [type=submit]")
        try page.wait("!document.querySelector('.edit')")
      }
      try page.wait("document.querySelector('#review').innerText === 'Review 2 changes'")
      try page.click("#review")
      try page.wait("document.querySelector('dialog .primary')?.disabled === false")
      let edits = try page.text("dialog .staged-edits")
      #expect(edits.contains("+Salt (Good/2)") && edits.contains("South (Shop/2)"), "\(edits)")
      try page.click("dialog .primary")
      try page.wait("!document.querySelector('#dialog').open")
      let count = try served.store.makeContext().objects("Good").filter("shop.name == 'South'")
        .count()
      #expect(count == 2)
      #expect(page.complaints == [])
    }
  }

  @Test("Staged values are shown and removed one at a time")
  func stagedValuesAreShownAndRemovedSingly() throws {
    try ServedStore.use(EditRunTests.makeModel(), writing: true, fill: EditRunTests.fill) {
      served in
      let page = try Chromium(showing: served.browser.url)
      try page.edit("Shop/1")
      try page.fill("floor", "3")
      try page.fill("city", "Oslo")
      try page.wait("[...document.querySelectorAll('.edit textarea')].length === 1")
      try page.fill("settings", "{\"open\": false}")
      // A relationship by search.
      try page.fill("goods", "Sal")
      try page.exists(".edit [role=option]")
      try page.press("Escape")
      try page.click(".edit .members button[aria-label='Remove Tea']")
      try page.exists(".edit .members .removed")
      try page.picture("edit-members")
      try page.click(".edit [type=submit]")
      try page.wait("document.querySelector('#review').innerText === 'Review 1 change'")
      try page.wait("document.querySelectorAll('.detail .values .staged').length === 3")
      #expect(try page.text(".banner").contains("4 staged changes"))
      try page.wait("document.querySelectorAll('.rows .staged').length === 4")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("staged")

      // A new object, which can be changed until the commit.
      try page.click(".bar > button")
      try page.exists(".edit")
      try page.fill("name", "East")
      try page.press("Enter")
      try page.wait("document.querySelector('.pending button')?.innerText === 'new Shop 1'")
      try page.click(".pending button")
      try page.wait("document.querySelector('.edit h2')?.innerText === 'new Shop 1'")
      #expect(try page.evaluate("document.querySelector('.edit input').value") == "East")

      try page.click("#review")
      try page.exists("dialog .figure.inserted")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("review-staged")
      try page.click("dialog button[aria-label='Remove floor of Shop/1']")
      try page.wait(
        "!document.querySelector(\"dialog button[aria-label='Remove floor of Shop/1']\")")
      try page.click("dialog button[aria-label='Remove the edit of new Shop 1']")
      try page.wait("document.querySelectorAll('dialog .staged-edits > li').length === 1")
      try page.wait("document.querySelector('dialog .primary').disabled === false")
      try page.click("dialog .primary")
      try page.wait("!document.querySelector('#dialog').open")
      let shop = try served.store.makeContext().objects("Shop").filter("name == 'North'").first()
      let values = try ["floor", "settings"].map { try shop?.value(forKey: $0) }
      #expect(values == [.null, ["open": false]])
      #expect(try served.store.makeContext().objects("Shop").count() == 2)
      #expect(try served.store.makeContext().objects("Good").filter("shop == nil").count() == 1)
      #expect(page.complaints == [])
    }
  }
}
