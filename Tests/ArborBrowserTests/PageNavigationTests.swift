import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// Links, the web browser's history, and commits that the page doesn't show yet.
@Suite("Navigation in the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageNavigationTests {
  private static let rows = "document.querySelectorAll('.rows .row:not(.waiting)').length"

  private func address(_ served: ServedStore, _ hash: String) throws -> URL {
    var parts = try #require(
      URLComponents(url: served.browser.url, resolvingAgainstBaseURL: false))
    parts.fragment = hash
    return try #require(parts.url)
  }

  @Test("Links open in new tabs, which get the token from the first one")
  func linksOpenInNewTabs() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      let link = try address(served, "/objects/Employee?id=Employee/4")
      try page.open(link)
      try page.wait(
        "document.querySelector('.failure')?.innerText.includes('This address has no token')",
        seconds: 60)
      try page.inNewTab(served.browser.url) { try page.exists(".box") }
      try page.open(served.browser.url)
      try page.exists(".box")
      try page.inNewTab(link) {
        try page.wait("document.querySelector('.detail h2')?.innerText === 'Employee 3'")
        #expect(try page.evaluate("location.href.includes('token')") == false)
        // The token is kept by the tab alone.
        #expect(try page.evaluate("document.cookie + JSON.stringify(localStorage)") == "{}")
      }
      #expect(page.complaints == [])
    }
  }

  @Test("Tokens of other runs are not accepted")
  func aTokenOfAnotherRunIsNotTaken() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try page.open(try address(served, "/schema"))
      try page.wait("document.querySelector('.failure')", seconds: 60)
      try page.evaluate(
        """
        const tabs = new BroadcastChannel('token');
        tabs.onmessage = () => tabs.postMessage({ token: '00000000000000000000000000000000' });
        0
        """)
      try page.inNewTab(try address(served, "/schema")) {
        try page.wait("document.querySelector('.failure')", seconds: 60)
        #expect(try page.evaluate("sessionStorage.getItem('token')") == .null)
      }
    }
  }

  @Test("Malformed addresses are harmless")
  func malformedAddressesAreHarmless() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      let addresses = [
        ("#/objects/%", ".failure"), ("#/%E0%A4%A", ".box"), ("#/constructor", ".box"),
        ("#/objects/Employee?id=%&where=%E0", ".problem:not(:empty)"),
        ("#/objects/Employee?id=Employee/x", ".detail .failure"), ("#/__proto__/x", ".box"),
        ("#/query?entity=%&limit=x", ".result .grid"), ("#", ".box"), ("#/objects?x", ".grid"),
      ]
      for (address, mark) in addresses {
        try page.evaluate("location.hash = '#/history'")
        try page.exists(".commit")
        try page.evaluate("location.hash = '\(address)'")
        try page.exists(mark)
      }
      try page.evaluate("location.hash = '#/objects/Employe'")
      try page.wait(
        "document.querySelector('.failure')?.innerText === 'The model has no entity Employe. Did you mean Employee?'"
      )
      #expect(page.complaints == [])
    }
  }

  /// The object is in the middle of a long table.
  @Test("An object that is followed is marked and visible")
  func aFollowedObjectIsMarked() throws {
    try ServedStore.use(employees: 600) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee?sort=-name&id=Employee/300'")
      try page.wait("document.querySelector('.rows .row.named a')?.innerText === 'Employee/300'")
      #expect(
        try page.evaluate(
          """
          (() => {
            const row = document.querySelector('.row.named').getBoundingClientRect();
            const grid = document.querySelector('.grid').getBoundingClientRect();
            return row.top > grid.top && row.bottom < grid.bottom;
          })()
          """) == true)
      #expect(try page.evaluate("document.querySelector('.row.named').ariaCurrent") == "true")
      try page.picture("followed")
      #expect(page.complaints == [])
    }
  }

  @Test("Back returns to the condition and the row")
  func backReturnsToTheRow() throws {
    try ServedStore.use(employees: 600) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee?where=age > 20'")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('588 objects')")
      try page.evaluate("document.querySelector('.grid').focus()")
      for _ in 0..<12 { try page.press("PageDown") }
      try page.wait("document.querySelector('.rows .row.selected:not(.waiting)')")
      let row = try page.text(".rows .row.selected")
      let top = try page.evaluate("document.querySelector('.grid').scrollTop")
      try page.evaluate("document.querySelector('.rows .selected .cell a[href*=Office]').click()")
      try page.wait("document.querySelector('.detail .code')?.innerText.startsWith('Office/')")
      try page.evaluate("history.back()")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('588 objects')")
      try page.wait("document.querySelector('.rows .row.selected:not(.waiting)')")
      #expect(try page.text(".rows .row.selected") == row)
      #expect(try page.evaluate("document.querySelector('.grid').scrollTop") == top)

      // The same from the query view to an object and back, and to the previous query.
      try page.evaluate("location.hash = '#/query?entity=Employee&where=age < 30&limit=1000'")
      try page.wait("\(Self.rows) > 10")
      try page.evaluate("document.querySelector('.grid').focus()")
      for _ in 0..<3 { try page.press("PageDown") }
      let index = try page.evaluate("document.querySelector('.rows .selected').dataset.index")
      try page.evaluate("document.querySelector('.rows .selected a').click()")
      try page.exists(".detail h2")
      try page.evaluate("history.back()")
      try page.wait(
        "document.querySelector('.rows .selected')?.dataset.index === '\(index.string ?? "")'")
      #expect(
        try page.evaluate("document.querySelector('[aria-label=Where]').value") == "age < 30")
      try page.evaluate("document.querySelector('[aria-label=Where]').select()")
      try page.evaluate("document.querySelector('[aria-label=Where]').focus()")
      try page.type("age < 22")
      try page.press("Enter", control: true)
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('24 rows')")
      try page.evaluate("history.back()")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('120 rows')")
      #expect(page.complaints == [])
    }
  }

  /// The commits are shown on request.
  @Test("Newer commits are offered")
  func newerCommitsAreOffered() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee'")
      try page.wait("\(Self.rows) > 10")
      for number in 0..<3 {
        let context = served.store.makeContext()
        try context.insert("Employee")["name"] = PropertyValue.string("New \(number)")
        try context.commit()
      }
      try page.wait("document.querySelector('#news').innerText === '3 newer commits – refresh'")
      #expect(try page.text(".summary").hasPrefix("30 objects"))
      let count = "document.querySelector('.side a[aria-current=page] .count').textContent"
      let choice = "document.querySelector('.side select').selectedOptions[0].textContent"
      #expect(try page.evaluate(count) == "30")
      #expect(try page.evaluate(choice) == "Employee (30)")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("news")
      // The page polls once while a slow server answers.
      try page.evaluate(
        """
        offers = [];
        new MutationObserver(() => offers.push(document.querySelector("#news").innerText))
          .observe(document.querySelector("#news"), { childList: true });
        polls = 0;
        send = window.fetch;
        window.fetch = async (url, options) => {
          const former = polls;
          while (url.endsWith("/schema") && polls === former) {
            await new Promise((then) => setTimeout(then, 50));
          }
          const answer = await send(url, options);
          if (url.endsWith("/news")) polls += 1;
          return answer;
        };
        """)
      try page.click("#news button")
      try page.wait("document.querySelector('.summary').innerText.startsWith('33 objects')")
      #expect(try page.evaluate("offers.every((offer) => offer === '')") == true)
      #expect(try page.text("#news") == "")
      #expect(try page.evaluate(count) == "33")
      #expect(try page.evaluate(choice) == "Employee (33)")
      #expect(page.complaints == [])
    }
  }

  /// The boxes keep their places, and the chosen one stays chosen.
  @Test("The schema shows the counts of newer commits")
  func theSchemaShowsNewerCounts() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try page.open(served.browser.url)
      let box = "document.querySelector('.box[aria-label^=Project]')"
      try page.wait(box)
      let total = "[...document.querySelectorAll('.bar .faint')].at(-1).textContent"
      #expect(try page.evaluate(total) == "4 entities · 34 objects")
      try page.evaluate("\(box).focus()")
      try page.press("Enter")
      try page.wait("document.querySelector('.detail .button')?.innerText === 'Show 1 object'")
      let place = try page.evaluate("\(box).getAttribute('transform')")
      let context = served.store.makeContext()
      try context.insert("Project")["title"] = "Tunnel"
      try context.commit()
      try page.click("#news button")
      try page.wait("\(box).getAttribute('aria-label') === 'Project, 2 objects'")
      #expect(
        try page.evaluate("\(box).querySelector('.size').textContent.startsWith('2 objects · ')")
          == true)
      #expect(try page.evaluate(total) == "4 entities · 35 objects")
      #expect(try page.text(".detail .button") == "Show 2 objects")
      #expect(try page.evaluate("\(box).getAttribute('transform')") == place)
      #expect(try page.evaluate("\(box).classList.contains('chosen')") == true)
      #expect(page.complaints == [])
    }
  }

  @Test("The page says that the store's file was removed")
  func aRemovedFileIsNoticed() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      let url = try #require(served.store.url)
      let other = url.appendingPathExtension("moved")
      try FileManager.default.moveItem(at: url, to: other)
      defer { try? FileManager.default.moveItem(at: other, to: url) }
      try page.wait(
        "document.querySelector('#news .notice.error')?.innerText.startsWith(\"The store's file was removed or replaced.\")"
      )
      #expect(try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      #expect(page.complaints == [])
    }
  }

  @Test("Times are shown in the chosen zone everywhere")
  func timesAreInTheChosenZone() throws {
    try ServedStore.use { served in
      let context = served.store.makeContext()
      let employee = try context.objects("Employee").filter("name == 'Employee 0'").first()
      employee?["hired"] = PropertyValue.date(Date(timeIntervalSince1970: 1_700_000_000))
      try context.commit()
      let page = try Chromium(showing: served.browser.url)
      let date =
        "[...document.querySelectorAll('.values dd')].find((each) => each.innerText.startsWith('2023'))?.innerText"
      try page.evaluate("location.hash = '#/objects/Employee?id=Employee/1'")
      try page.wait("\(date) === '2023-11-14 22:13:20 UTC'")
      try page.evaluate(
        """
        { const zone = document.getElementById('zone');
          zone.value = 'Asia/Tokyo'; zone.dispatchEvent(new Event('change')); }
        """)
      try page.wait("\(date) === '2023-11-15 07:13:20 UTC+9'")
      try page.wait("document.querySelector('.rows').innerText.includes('2023-11-15 07:13:20')")
      try page.evaluate("location.hash = '#/history'")
      try page.wait("document.querySelector('.commit time')?.innerText.endsWith('UTC+9')")
      try page.reload()
      try page.wait("!window.isFormer && document.querySelector('.commit time')")
      #expect(try page.text(".commit time").hasSuffix("UTC+9"))
      #expect(page.complaints == [])
    }
  }
}
