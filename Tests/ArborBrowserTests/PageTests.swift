import ArborData
import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing
import ArborBrowser

@Suite("The page in a web browser", .serialized, .enabled(if: Chromium.executable != nil))
struct PageTests {
  @Test("Every view shows the store and responds to keys")
  func everyViewShowsTheStoreAndAnswersKeys() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      // The token has been removed from the visible address.
      #expect(try page.evaluate("location.href.includes('token')") == false)
      #expect(try page.text("#store-name") == "Company.arbor")
      #expect(try page.evaluate("document.querySelectorAll('.box').length") == 4)
      #expect(try page.evaluate("document.querySelectorAll('.edge').length") == 3)
      try page.press("/")
      try page.type("city")
      try page.wait("document.querySelectorAll('.box.dim').length === 3")
      try page.press("Enter")
      try page.wait("document.querySelector('.detail h2')?.innerText === 'Office'")
      try page.picture("schema")
      try page.press("Escape")

      try page.press("2")
      try page.wait("document.querySelectorAll('.rows .row:not(.waiting)').length > 10")
      #expect(try page.text(".summary").hasPrefix("30 objects"))
      try page.evaluate("document.querySelector('.grid').focus()")
      try page.press("ArrowDown")
      try page.press("ArrowDown")
      try page.press("Enter")
      try page.wait("document.querySelector('.detail h2')?.innerText === 'Employee 1'")
      try page.picture("objects")
      try page.press("Escape")
      try page.wait("document.querySelector('.detail').hidden")
      try page.press("End")
      try page.wait("document.querySelector('.rows .selected')?.dataset.index === '29'")

      try page.press("3")
      try page.exists(".question")
      try page.press("/")
      try page.type("age < 45")
      try page.press("Tab")
      try page.type("office.city AS city, @count, average(age)")
      try page.press("Tab")
      try page.type("office.city")
      try page.press("Enter", control: true)
      try page.wait("document.querySelectorAll('.result .rows .row:not(.waiting)').length === 3")
      #expect(try page.text(".tree").contains("age < 45"))
      #expect(try page.text(".tree").contains("rows"))
      try page.picture("query")

      try page.press("Escape")
      try page.evaluate("document.activeElement.blur()")
      try page.press("4")
      try page.wait("document.querySelectorAll('.commit').length === 1")
      try commit(served)
      try page.wait("document.querySelectorAll('.commit').length === 2")
      try page.evaluate("document.querySelector('.commit summary').focus()")
      try page.press("Enter")
      try page.wait("document.querySelector('.changes .new')?.innerText === '77'")
      #expect(try page.text(".changes .old") == "23")
      #expect(try page.text(".commit .who") == "Mary")
      try page.picture("history")

      try page.press("5")
      try page.exists(".space-map svg")
      try page.exists(".check button")
      try page.evaluate("document.querySelector('.check button').focus()")
      try page.press("Enter")
      try page.wait("document.querySelector('.verdict')?.innerText === 'No problems'")
      try page.picture("health")
      #expect(page.complaints == [])
    }
  }

  @Test("Every view can be used by keys alone")
  func theTabKeyLeavesEveryView() throws {
    try ServedStore.use(writing: true) { served in
      let page = try Chromium(showing: served.browser.url)
      let views = [
        ("schema", ".box"), ("objects/Employee", ".rows .row:not(.waiting)"),
        ("objects/Employee?id=Employee/1", ".detail .relationship"),
        ("query?entity=Employee&where=age%20%3C%2045", ".plan"), ("history", ".commit"),
        ("health", ".space-map svg"),
      ]
      for (address, mark) in views {
        try page.evaluate("location.hash = '#/\(address)'")
        try page.exists(mark)
        try page.wait("document.getElementById('main').getAttribute('aria-busy') === 'false'")
        try PageKeys.expectTabReachesAll(page, address)
      }
      #expect(page.complaints == [])
    }
  }

  @Test("Columns are sorted, and links followed, by keys")
  func theTableAnswersKeys() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee'")
      try page.wait("document.querySelectorAll('.rows .row:not(.waiting)').length > 10")
      try page.evaluate("document.querySelector('.grid').focus()")
      try page.press("ArrowUp")
      let age = try #require(
        try page.evaluate(
          "[...document.querySelectorAll('.head .cell')].findIndex((each) => each.innerText.startsWith('age'))"
        ).int64)
      for _ in 0..<age { try page.press("ArrowRight") }
      #expect(try page.text(".head .current").hasPrefix("age"))
      for order in ["ascending", "descending"] {
        try page.press("Enter")
        try page.wait(
          "document.querySelector('.head .current')?.getAttribute('aria-sort') === '\(order)'")
        #expect(try page.evaluate("document.activeElement.className") == "grid")
      }
      try page.wait("document.querySelectorAll('.rows .row:not(.waiting)').length > 10")
      // Moves down into the rows, to the link of a relationship, and follows it.
      try page.press("ArrowDown")
      for _ in 0..<30 { try page.press("ArrowRight") }
      let office = "document.querySelector('.rows .selected .current a')"
      for _ in 0..<30 where try page.evaluate("\(office) !== null") == false {
        try page.press("ArrowLeft")
      }
      #expect(
        try page.evaluate(
          "document.getElementById(document.querySelector('.grid').getAttribute('aria-activedescendant')) === document.querySelector('.rows .current')"
        ) == true)
      try page.press("Enter")
      try page.wait(
        "document.querySelector('.detail header .code')?.innerText.startsWith('Office/')")
      #expect(page.complaints == [])
    }
  }

  private func commit(_ served: ServedStore) throws {
    let context = served.store.makeContext()
    context.author = "Mary"
    let employee = try context.objects("Employee").filter("name == 'Employee 3'").first()
    employee?["age"] = 77
    try context.commit()
  }

  /// The most recently chosen view remains visible when responses for others arrive, and an address
  /// with a token starts a new session.
  @Test("The most recently chosen view remains visible")
  func theViewChosenLastIsShown() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(
        """
        {
          const send = window.fetch;
          window.fetch = async (...parts) => {
            const answer = await send(...parts);
            if (/api.(health|history)/.test(parts[0])) {
              await new Promise((resume) => { window.resume = resume; });
            }
            return answer;
          };
        }
        """)
      for view in ["health", "history"] {
        try page.evaluate("delete window.resume; location.hash = '#/\(view)'")
        try page.wait("window.resume")
        try page.evaluate("location.hash = '#/objects/Employee'")
        try page.wait("document.querySelector('.summary')?.innerText.startsWith('30 objects')")
        // The response for the former view arrives now.
        try page.evaluate(
          "window.isLater = false; resume(); setTimeout(() => { window.isLater = true; }, 50)")
        try page.wait("window.isLater")
        #expect(
          try page.evaluate("document.querySelector('.summary')?.innerText.slice(0, 10)")
            == "30 objects")
        #expect(try page.evaluate("document.querySelector('#main').className") == "view objects")
      }
      let token = try #require(served.browser.url.fragment)
      try page.evaluate("window.isFormer = true; location.hash = '#\(token)'")
      try page.wait("!window.isFormer && document.querySelector('.box')")
      #expect(try page.evaluate("location.hash") == "#/schema")
      #expect(page.complaints == [])
    }
  }

  @Test("The predicate field offers completions and displays errors")
  func conditionsCompleteAndSayWhatIsWrong() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee'")
      try page.exists(".rows .row:not(.waiting)")
      try page.press("/")
      try page.type("off")
      try page.exists("[role=option]")
      try page.press("ArrowDown")
      try page.press("Tab")
      try page.type(".ci")
      try page.wait("document.querySelector('[role=option]')?.innerText.includes('city')")
      try page.press("ArrowDown")
      try page.picture("completion")
      try page.press("Enter")
      try page.type(" == 'Oslo'")
      try page.press("Enter")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('10 objects')")
      // Literals of the attribute's type.
      try page.evaluate("document.querySelector('.field input').select()")
      try page.type("isActive == ")
      try page.wait("document.querySelector('[role=option]')?.innerText.startsWith('TRUE')")
      try page.evaluate("document.querySelector('.field input').select()")
      try page.type("badge == u")
      try page.wait("document.querySelector('[role=option]')?.innerText.startsWith('uuid')")
      try page.press("ArrowDown")
      try page.press("Enter")
      try page.type("F")
      #expect(
        try page.evaluate("document.querySelector('.field input').value") == "badge == uuid(\"F\")")
      // The marker is below the first letter of the unknown name.
      try page.evaluate("document.querySelector('.field input').select()")
      try page.type("age > 20 AND nme == 'x'")
      try page.press("Enter")
      try page.wait("document.querySelector('.problem')?.innerText.includes('Did you mean')")
      #expect(
        try page.evaluate("document.querySelector('.mark').style.getPropertyValue('--column')")
          == "13")
      try page.picture("mistake")
      // Links lead to objects and back.
      try page.evaluate("location.hash = '#/objects/Employee?sort=-age'")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('30 objects')")
      try page.exists(".rows .row:not(.waiting) a[href*=Office]")
      try page.click(".rows .row:not(.waiting) a[href*=Office]")
      try page.wait(
        "document.querySelector('.detail header .code')?.innerText.startsWith('Office/')")
      try page.click(".detail .links a")
      try page.wait(
        "document.querySelector('.detail header .code')?.innerText.startsWith('Employee/')")
      try page.evaluate("location.hash = '#/objects/Employee?id=Employee/1'")
      try page.exists(".detail .binary img")
      #expect(page.complaints == [])
    }
  }

  /// The day is that of the zone: between these two, it always differs.
  @Test("Dates are completed in the chosen time zone")
  func datesAreCompletedInTheChosenZone() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Employee'")
      try page.exists(".rows .row:not(.waiting)")
      try page.press("/")
      var days: [String] = []
      for zone in ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        try page.evaluate(
          """
          { const zone = document.getElementById('zone');
            zone.value = '\(zone)'; zone.dispatchEvent(new Event('change')); }
          """)
        try page.evaluate("document.querySelector('.field input').select()")
        try page.type("hired < d")
        try page.wait("document.querySelector('[role=option]')?.innerText.startsWith('date(')")
        try page.press("ArrowDown")
        try page.press("Enter")
        let text = try page.evaluate("document.querySelector('.field input').value").string ?? ""
        let match = try #require(
          text.wholeMatch(of: #/hired < date\("(\d{4}-\d\d-\d\d)"(, "\S+")?\)/#), "\(text)")
        let written = match.2.map { String($0) } ?? ""
        #expect(written == (zone == "UTC" ? "" : ", \"\(zone)\""))
        days.append(String(match.1))
      }
      #expect(days[1] > days[2], "\(days)")
      // The completed condition can be entered.
      try page.press("Enter")
      try page.wait("document.querySelector('.summary')?.innerText.includes(' of 30')")
      #expect(try page.text(".predicate .problem") == "")
      #expect(page.complaints == [])
    }
  }

  @Test("An error in a part of a query is displayed at that part")
  func queriesSayWhichPartIsWrong() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      let parts = [("having", "@count%20%3E", "Having"), ("sort", "ciy", "Sort by")]
      for (name, text, label) in parts {
        let query =
          "entity=Employee&where=age%20%3C%2045&column=@count&group=office&\(name)=\(text)"
        try page.evaluate("location.hash = '#/query?\(query)'")
        try page.wait(
          """
          [...document.querySelectorAll('[aria-invalid=true]')]
            .map((each) => each.getAttribute('aria-label')).join() === '\(label)'
          """)
      }
      try page.evaluate("location.hash = '#/health'")
      try page.click(".check .primary")
      try page.wait("document.querySelector('.check [role=status]')")
      #expect(page.complaints == [])
    }
  }

  @Test("The health view has a legend, labels, and a text for no readers")
  func theHealthViewHasALegend() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/health'")
      try page.exists(".treemap .area")
      let kinds = [
        "records", "indexes", "relationships", "large binaries", "history", "other", "free",
      ]
      for picture in [".treemap", ".space-map"] {
        let names =
          "[...document.querySelectorAll('\(picture) .legend .key + span')].map((each) => each.textContent)"
        #expect(
          try page.evaluate(names).array?.compactMap(\.string) == kinds, "\(picture)")
      }
      // Areas have their name and size, and the color of a kind in the legend.
      let areas =
        try page.evaluate(
          """
          [...document.querySelectorAll('.area')].map((each) => {
            const key = document.querySelector(`.treemap .key.${each.classList[1]}`);
            const isSame = key !== null
              && getComputedStyle(key).backgroundColor === getComputedStyle(each).backgroundColor;
            return `${each.title} ${isSame}`;
          })
          """
        ).array?.compactMap(\.string) ?? []
      #expect(areas.count > 5 && areas.allSatisfy { $0.hasSuffix(" true") }, "\(areas)")
      #expect(
        areas.contains { $0.contains(/^records of Employee: [\d.]+ KiB true$/) }, "\(areas)")
      #expect(
        try page.evaluate("document.querySelector('[aria-label=Readers] .empty').textContent")
          == "No active readers")
      #expect(page.complaints == [])
    }
  }

  /// A property with the name of a reserved word of the predicate language.
  @Test("The query view quotes names that are reserved words")
  func namesThatAreReservedWordsAreQuoted() throws {
    try ServedStore.use(
      BrowserInterfaceTests.makeBoxes(), fill: BrowserInterfaceTests.fillBoxes
    ) { served in
      let page = try Chromium(showing: served.browser.url)
      let rows = "document.querySelectorAll('.result .rows .row:not(.waiting)').length"
      try page.evaluate("location.hash = '#/query?entity=Box&sort=size'")
      try page.wait("\(rows) === 2")
      try page.evaluate("document.querySelector('[aria-label=Where]').focus()")
      try page.type("siz")
      try page.wait("document.querySelector('[role=option]')?.innerText.startsWith('#size')")
      try page.press("ArrowDown")
      try page.press("Tab")
      try page.type(" > 3")
      try page.press("Enter", control: true)
      try page.wait("\(rows) === 1")
      #expect(
        try page.evaluate("document.querySelector('[aria-label=Where]').value") == "#size > 3")
      #expect(try page.text(".result .rows").contains("7"))
      #expect(page.complaints == [])
    }
  }

  /// In wide, dark and narrow windows, every view has named controls, readable text, no overflow,
  /// and no layout shifts.
  @Test("Every view is accessible in wide, dark and narrow windows")
  func everybodyCanUseIt() throws {
    try ServedStore.use(writing: true) { served in
      let page = try Chromium(showing: served.browser.url)
      let query = "column=office.city%20AS%20city,@count&group=office.city"
      let views = [
        ("schema", "schema", ".box"), ("objects", "objects/Employee", ".rows .row:not(.waiting)"),
        ("object", "objects/Employee?id=Employee/1", ".detail .relationship"),
        ("query", "query?entity=Employee&where=age%20%3C%2045&\(query)", ".plan"),
        ("history", "history", ".commit"), ("health", "health", ".space-map svg"),
      ]
      let windows = [
        (1280, 800, false), (1280, 800, true), (390, 780, false), (390, 780, true),
      ]
      for (width, height, isDark) in windows {
        try page.resize(width, height, isDark: isDark)
        for (name, address, mark) in views {
          try page.evaluate(
            "window.shifts = 0; window.moved.clear(); location.hash = '#/\(address)'")
          try page.exists(mark)
          try page.wait("document.getElementById('main').getAttribute('aria-busy') === 'false'")
          var problems = try PageAudit.problems(in: page)
          if name == "history" {
            try page.click(".commit summary")
            // Expanding an element moves the following ones.
            problems += try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved by itself") }
          }
          #expect(problems == [], "\(name) \(width) \(isDark)")
          try page.picture("\(name)-\(width)\(isDark ? "-dark" : "")")
        }
      }
      #expect(page.complaints == [])
    }
  }

  @Test("While a view waits for the server, the former view keeps its layout")
  func aSlowServerMovesNothing() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.resize(390, 780, isDark: false)
      try page.evaluate(
        """
        const now = window.fetch;
        window.fetch = async (...request) => {
          await new Promise((resume) => setTimeout(resume, 300));
          return now(...request);
        };
        """)
      for (address, mark) in [("history", ".commit"), ("health", ".space-map svg")] {
        try page.evaluate("location.hash = '#/query?entity=Employee&where=age%20%3C%2045'")
        try page.exists(".plan")
        let places = try page.evaluate(
          """
          (async () => {
            const place = () => JSON.stringify(
              [...document.querySelectorAll("#main *")].map((each) => each.getBoundingClientRect()));
            const before = place();
            location.hash = "#/\(address)";
            await new Promise((resume) => setTimeout(resume, 100));
            return [before, place()];
          })()
          """)
        #expect(places[0] == places[1], "\(address)")
        try page.exists(mark)
      }
      #expect(page.complaints == [])
    }
  }
}
