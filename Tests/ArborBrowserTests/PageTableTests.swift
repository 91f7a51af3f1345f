import ArborData
import ArborJSON
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

@Suite("The table of results in the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageTableTests {
  /// The names of the columns that are shown.
  private static let names =
    "[...document.querySelectorAll('.head .cell .name')].map((each) => each.firstChild.data)"
  private static let rows = "document.querySelectorAll('.rows .row:not(.waiting)').length"

  private func openEmployees(_ served: ServedStore, _ page: Chromium) throws {
    try page.open(served.browser.url)
    try page.exists(".box")
    try page.evaluate("location.hash = '#/objects/Employee'")
    try page.wait("\(Self.rows) > 10")
    // Copies are kept here instead of the system's clipboard.
    try page.evaluate(
      """
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text) => { window.copied = text; } } });
      document.querySelector('.grid').focus()
      """)
  }

  /// Moves to a column's header with the arrow keys.
  private func goToHead(_ page: Chromium, _ name: String) throws {
    try page.press("Home")
    try page.press("ArrowUp")
    for _ in 0..<20 { try page.press("ArrowLeft") }
    for _ in 0..<20 where try !page.text(".head .current").hasPrefix(name) {
      try page.press("ArrowRight")
    }
    #expect(try page.text(".head .current").hasPrefix(name))
  }

  private func choose(_ page: Chromium, _ command: String) throws {
    try page.wait("document.querySelector('dialog.menu[open]')")
    for _ in 0..<80
    where try page.evaluate("document.activeElement.innerText.startsWith('\(command)')") == false {
      try page.press("ArrowDown")
    }
    #expect(
      try page.evaluate("document.activeElement.innerText.startsWith('\(command)')") == true,
      "\(command)")
    try page.press("Enter")
  }

  private func close(_ page: Chromium) throws {
    try page.press("Escape")
    try page.wait(
      "!document.querySelector('dialog.menu[open]') && document.activeElement.className === 'grid'")
  }

  @Test("Columns are resized, moved, hidden and pinned by keys, and remembered")
  func columnsAreArrangedByKeysAndRemembered() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try openEmployees(served, page)
      let before = try page.evaluate(Self.names).array?.compactMap(\.string) ?? []
      #expect(before.prefix(3) == ["@id", "name", "age"])
      try goToHead(page, "age")
      let width = "document.querySelector('.head .current').getBoundingClientRect().width"
      try page.press("ArrowRight", shift: true)
      let narrow = try #require(try page.evaluate(width).int64)
      try page.press("ArrowRight", shift: true)
      #expect(try page.evaluate(width).int64 == narrow + 20)
      try page.press("ArrowLeft", control: true)
      #expect(try page.evaluate("\(Self.names).slice(0, 3).join()") == "@id,age,name")
      try page.press("F10", shift: true)
      try page.wait("document.querySelector('dialog.menu[open] .frequent[aria-busy=false]')")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("column-menu")
      try choose(page, "Pin")
      try page.wait("\(Self.names).slice(0, 2).join() === 'age,@id'")
      try goToHead(page, "salary")
      try page.press("F10", shift: true)
      try choose(page, "Hide")
      try page.wait("!\(Self.names).includes('salary')")
      #expect(try page.evaluate("document.activeElement.className") == "grid")

      // A pinned column stays in sight.
      try page.resize(700, 800)
      try page.evaluate("document.querySelector('.grid').scrollLeft = 400")
      #expect(
        try page.evaluate(
          """
          (() => {
            const left = document.querySelector('.grid').getBoundingClientRect().left;
            return [...document.querySelectorAll('.cell.pinned')].every((each) =>
              Math.abs(each.getBoundingClientRect().left - left) < 3);
          })()
          """) == true)
      try page.picture("pinned")
      try page.resize(1280, 800)

      try page.reload()
      try page.wait("!window.isFormer && \(Self.rows) > 10")
      #expect(try page.evaluate("\(Self.names).slice(0, 3).join()") == "age,@id,name")
      #expect(try page.evaluate("\(Self.names).includes('salary')") == false)
      #expect(
        try page.evaluate("document.querySelector('.head .cell').getBoundingClientRect().width")
          .int64
          == narrow + 20)

      // The button shows hidden columns again, and resets all.
      try page.click(".table-tools button")
      try page.wait("document.querySelector('dialog.menu[open]')")
      #expect(try PageAudit.problems(in: page) == [])
      try choose(page, "Reset columns")
      try page.wait("\(Self.names).join() === '\(before.joined(separator: ","))'")
      #expect(page.complaints == [])
    }
  }

  /// Dragging the edge of a column resizes it, and dragging the column moves it.
  @Test("Columns are resized and moved with the mouse")
  func columnsAreArrangedWithTheMouse() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try openEmployees(served, page)
      let width = "document.querySelectorAll('.head .cell')[1].getBoundingClientRect().width"
      let before = try #require(try page.evaluate(width).int64)
      let grip = "document.querySelectorAll('.grip')[1].getBoundingClientRect()"
      let x = try #require(try page.evaluate("Math.round(\(grip).x + 3)").int64)
      let y = try #require(try page.evaluate("Math.round(\(grip).y + 8)").int64)
      for (kind, shift) in [("mousePressed", 0), ("mouseMoved", 30), ("mouseReleased", 30)] {
        try page.call(
          "Input.dispatchMouseEvent",
          [
            "type": .string(kind), "x": .number(JSONNumber(x + Int64(shift))),
            "y": .number(JSONNumber(y)), "button": "left", "buttons": 1, "clickCount": 1,
          ])
      }
      #expect(try page.evaluate(width).int64 == before + 30)
      try page.evaluate(
        """
        {
          const cells = document.querySelectorAll('.head .cell');
          const dataTransfer = new DataTransfer();
          const send = (cell, kind) => cell.dispatchEvent(
            new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
          send(cells[3], 'dragstart');
          send(cells[1], 'dragover');
          send(cells[1], 'drop');
        }
        """)
      #expect(try page.evaluate("\(Self.names).slice(0, 4).join()") == "@id,salary,name,age")
      #expect(page.complaints == [])
    }
  }

  @Test("Each condition is shown and can be removed, and one that fails leaves the rows")
  func conditionsAreShown() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try openEmployees(served, page)
      let condition = "document.querySelector('.predicate input').value"
      let shown =
        "[...document.querySelectorAll('.conditions .code')].map((each) => each.innerText)"
      func go(_ where: String, _ count: Int) throws {
        try page.evaluate(
          "location.hash = '#/objects/Employee?where=' + encodeURIComponent('\(`where`)')")
        try page.wait("document.querySelector('.summary')?.innerText.startsWith('\(count) object')")
        try page.wait("\(Self.rows) === \(count)")
      }
      try go("age > 20 AND (age < 23 OR name == \"x\") AND NOT (age == 21)", 1)
      try page.wait("\(shown).length === 3")
      #expect(
        try page.evaluate(shown) == [
          "age > 20", "(age < 23 OR name == \"x\")", "NOT (age == 21)",
        ])
      try page.evaluate(
        "[...document.querySelectorAll('.conditions button')].find((each) => each.getAttribute('aria-label') === 'Remove NOT (age == 21)').click()"
      )
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('2 objects')")
      #expect(
        try page.evaluate(condition) == "age > 20 AND (age < 23 OR name == \"x\")")
      #expect(try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])

      // A condition of which another one is a part is a condition of its own.
      try go("age == 22", 1)
      try page.evaluate("document.querySelector('.grid').focus()")
      try goToHead(page, "age")
      try page.press("F10", shift: true)
      try page.wait("document.querySelector('dialog.menu[open] .comparison input')")
      try page.evaluate("document.querySelector('dialog.menu .comparison input').focus()")
      try page.type("2")
      try page.press("Enter")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('0 objects')")
      #expect(try page.evaluate(condition) == "age == 22 AND age == 2")

      try go("age > 45", 4)
      try page.evaluate("location.hash = '#/objects/Employee?where=agee == 3'")
      try page.wait("document.querySelector('.problem')?.innerText.includes('agee')")
      #expect(try page.evaluate("\(Self.rows) === 4") == true)
      #expect(try page.evaluate(shown) == ["age > 45"])
      #expect(try page.evaluate(condition) == "agee == 3")
      #expect(page.complaints == [])
    }
  }

  @Test("Filters and frequent values are written into the condition")
  func menusWriteTheCondition() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try openEmployees(served, page)
      let condition = "document.querySelector('.predicate input').value"
      try goToHead(page, "office")
      try page.press("F10", shift: true)
      try page.wait("document.querySelector('dialog.menu .frequent .item')")
      // Each value has its count.
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('dialog.menu .frequent .item')].map((each) => [...each.children].map((part) => part.innerText).join(': ')).sort()"
        ) == ["Bern (Office/3): 10", "Oslo (Office/2): 10", "Riga (Office/1): 10"])
      try choose(page, "Oslo")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('10 objects')")
      #expect(try page.evaluate("\(condition).startsWith('office == objectID(')") == true)

      try page.wait("\(Self.rows) === 10")
      try page.evaluate("document.querySelector('.grid').focus()")
      try goToHead(page, "name")
      try page.press("ArrowDown", alt: true)
      try page.wait("document.querySelector('dialog.menu[open] .comparison input')")
      try page.evaluate("document.querySelector('dialog.menu .comparison input').focus()")
      try page.type("EMPLOYEE 1")
      try page.press("Enter")
      try page.wait("\(condition).endsWith('AND name CONTAINS[cd] \"EMPLOYEE 1\"')")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('5 objects')")

      // Quotes in a value do not end it.
      try page.evaluate("location.hash = '#/objects/Employee?where=age==20 OR age==21'")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('2 objects')")
      try page.evaluate("document.querySelector('.grid').focus()")
      try goToHead(page, "name")
      try page.press("F10", shift: true)
      try page.wait("document.querySelector('dialog.menu[open] .comparison input')")
      try page.evaluate("document.querySelector('dialog.menu .comparison input').focus()")
      try page.type("\" OR TRUEPREDICATE \\")
      try page.press("Enter")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('0 objects')")
      #expect(
        try page.evaluate(condition)
          == #"(age == 20 OR age == 21) AND name CONTAINS[cd] "\" OR TRUEPREDICATE \\""#)
      #expect(page.complaints == [])
    }
  }

  @Test("Cells and rows are copied by keys")
  func cellsAndRowsAreCopiedByKeys() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try openEmployees(served, page)
      try page.press("ArrowDown")
      try page.press("ArrowRight")
      try page.press("c", control: true)
      try page.wait("window.copied === 'Employee 0'")
      for _ in 0..<2 { try page.press("ArrowDown", shift: true) }
      #expect(try page.evaluate("document.querySelectorAll('[aria-selected=true]').length") == 3)
      try page.press("c", control: true)
      try page.wait("window.copied?.startsWith('@id,name,age')")
      #expect(try page.evaluate("window.copied.split('\\n').length") == 5)
      try page.press("F10", shift: true)
      try page.wait("document.querySelector('dialog.menu[open]')")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("copy-menu")
      try choose(page, "Copy 3 rows as Swift")
      try page.wait("window.copied.startsWith('try context.objects(with: [')")
      try page.press("F10", shift: true)
      try choose(page, "Copy 3 rows as condition")
      try page.wait("window.copied.startsWith('SELF IN {objectID(')")
      try page.press("ArrowDown")
      try page.press("F10", shift: true)
      try choose(page, "Copy name as condition")
      try page.wait("window.copied === 'name == \"Employee 3\"'")
      let forms = [
        ("JSON", #""Employee 3""#), ("CSV", "Employee 3"),
        ("Swift", #"try context.fetch(Employee.self, matching: "name == \"Employee 3\"")"#),
      ]
      for (form, text) in forms {
        try page.evaluate("window.copied = ''")
        try page.press("F10", shift: true)
        try choose(page, "Copy name as \(form)")
        try page.wait("window.copied")
        #expect(try page.evaluate("window.copied").string == text, "\(form)")
      }
      try page.press("a", control: true)
      try page.press("F10", shift: true)
      try choose(page, "Copy 30 rows as JSON")
      try page.wait("window.copied.startsWith('[') && JSON.parse(window.copied).length === 30")
      #expect(page.complaints == [])
    }
  }

  /// The query view has the same table: objects are links, groups are copied as they are shown.
  @Test("The query view has the same table")
  func queriesHaveTheSameTable() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try openEmployees(served, page)
      try page.evaluate(
        "location.hash = '#/query?entity=Employee&where=age < 23&column=name,age * 2 AS twice'")
      try page.wait("\(Self.rows) === 3")
      #expect(try page.evaluate("\(Self.names).join()") == "@id,name,twice")
      #expect(
        try page.evaluate("document.querySelector('.rows a').hash")
          == "#/objects/Employee?id=Employee%2F1")
      try page.evaluate("document.querySelector('.grid').focus()")
      try goToHead(page, "name")
      for order in ["ascending", "descending"] {
        try page.press("Enter")
        try page.wait(
          "document.querySelector('.head .current')?.getAttribute('aria-sort') === '\(order)'")
      }
      #expect(
        try page.evaluate("document.querySelector('[aria-label=\"Sort by\"]').value") == "-name")
      try page.wait("\(Self.rows) === 3")
      try page.press("ArrowDown")
      try page.press("F10", shift: true)
      try choose(page, "Copy row as CSV")
      try page.wait("window.copied === '@id,name,twice\\nEmployee/3,Employee 2,44\\n'")
      #expect(try PageAudit.problems(in: page) == [])

      try page.evaluate(
        """
        location.hash = '#/query?entity=Employee&column=office.city AS city,@count AS people'
          + '&group=office.city&sort=city'
        """)
      try page.wait("\(Self.names).join() === 'city,people' && \(Self.rows) === 3")
      try page.evaluate("document.querySelector('.grid').focus()")
      try page.press("Home")
      try page.press("ArrowDown", shift: true)
      try page.press("c", control: true)
      try page.wait("window.copied === 'city,people\\nBern,10\\nOslo,10\\n'")
      #expect(page.complaints == [])
    }
  }
}
