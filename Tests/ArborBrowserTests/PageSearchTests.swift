import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// The search dialog, which is used with the keyboard alone.
@Suite("The search dialog of the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageSearchTests {
  private static let chosen = """
    document.getElementById(document.querySelector('#search-text')
      .getAttribute('aria-activedescendant'))?.innerText ?? ''
    """

  @Test("The search can be used with the keyboard alone")
  func everythingIsFoundWithKeys() throws {
    try ServedStore.use(StoreSearchTests.makeModel(), fill: StoreSearchTests.fill) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.press("k", control: true)
      try page.wait("document.activeElement.id === 'search-text'")
      try page.type("fox")
      try page.wait("document.querySelectorAll('#search [role=option]').length === 2")
      #expect(
        try page.evaluate("document.querySelector('#search-text').getAttribute('aria-expanded')")
          == "true")
      #expect(try page.text("#search mark") == "fox")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("search")
      try page.press("ArrowDown")
      let first = try page.evaluate(Self.chosen)
      try page.press("ArrowDown")
      #expect(try page.evaluate(Self.chosen) != first)
      try page.press("ArrowDown")
      #expect(try page.evaluate(Self.chosen) == first)
      try page.press("ArrowUp")
      let name = try #require(try page.evaluate(Self.chosen).string?.split(separator: " ").first)
      try page.press("Enter")
      try page.wait("!document.querySelector('#search').open")
      try page.wait("document.querySelector('.detail h2')?.innerText === '\(name)'")

      // Enter right after typing opens the first result.
      try page.press("k", control: true)
      try page.wait("document.activeElement.id === 'search-text'")
      #expect(try page.evaluate("document.querySelector('#search-text').value") == "")
      try page.type("autho")
      try page.press("Enter")
      try page.wait("location.hash === '#/objects/Author'")
      try page.press("k", control: true)
      try page.wait("document.querySelector('#search').open")
      try page.press("Escape")
      try page.wait("!document.querySelector('#search').open")
      #expect(page.complaints == [])
    }
  }

  @Test("The button opens the dialog on a narrow window, and results are links without markup")
  func theButtonAndLinksWork() throws {
    try ServedStore.use(StoreSearchTests.makeModel(), fill: StoreSearchTests.fill) { served in
      let page = try Chromium(width: 390, height: 780, isDark: true)
      try page.open(served.browser.url)
      try page.exists(".box")
      try page.click("#find")
      try page.type("B-1")
      try page.exists("#search [role=option]")
      #expect(
        try page.evaluate("document.querySelector('#search [role=option]').getAttribute('href')")
          == "#/objects/Article?id=Article%2F3")
      #expect(try page.text("#search [role=option] strong") == "<b>Stones</b>")
      try page.evaluate("window.shifts = 0")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("search-390-dark")
      try page.click("#search [role=option]")
      try page.wait("document.querySelector('.detail h2')?.innerText === '<b>Stones</b>'")
      #expect(page.complaints == [])
    }
  }
}
