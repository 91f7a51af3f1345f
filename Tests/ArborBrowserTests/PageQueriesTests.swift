import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

/// The queries that the page opens and keeps: those of the model, the saved and the last ones.
@Suite("Saved and requested queries", .serialized) struct PageQueriesTests {
  private let home: TemporaryFolder

  init() throws { home = try TemporaryFolder() }

  private func use(keeping: Bool = true, _ body: (ServedStore) throws -> Void) throws {
    var model = try ServedStore.makeModel()
    model.fetchRequestTemplates = [
      FetchRequestTemplate("active", entity: "Employee", predicate: "isActive == TRUE", limit: 3),
      FetchRequestTemplate(
        "between", entity: "Employee", predicate: "age BETWEEN {$low, $high} AND office == $place"),
      FetchRequestTemplate("people", entity: "Person", includesSubentities: false),
    ]
    try ServedStore.use(
      model, queries: keeping ? home.url.path : nil, fill: { try ServedStore.fill($0, 30) },
      body: body)
  }

  @Test("Queries of the page are those of the command line")
  func queriesAreKeptInTheFilesOfTheCommandLine() throws {
    try use { served in
      let query: JSONValue = [
        "entity": "Employee", "where": "age > 40", "column": "office.city, @count",
        "group": "office.city", "having": "@count > 1", "sort": "office.city", "limit": "7",
        "distinct": "true",
      ]
      let saved = try served.client.post("/api/queries", ["save": "old ones", "query": query])
      #expect(saved.status == 200)
      #expect(saved.json["saved"]?[0]?["name"] == "old ones")
      #expect(saved.json["saved"]?[0]?["query"] == query)
      // The command line reads the same files.
      let shelf = QueryShelf(store: served.store.id, variables: ["HOME": home.url.path])
      #expect(
        try shelf.queries()["old ones"]?.arguments
          == "Employee 'age > 40' --sort office.city --limit 7 --columns 'office.city, @count' "
          + "--group office.city --having '@count > 1' --distinct")
      try shelf.remember(SavedQuery(entity: "Office"))
      _ = try served.client.post("/api/queries", ["remember": ["entity": "Project"]])
      let list = try served.client.get("/api/queries").json
      #expect(list["recent"]?.array?.map { $0["query"]?["entity"] } == ["Project", "Office"])
      #expect(list["problems"] == [])
      let removed = try served.client.post("/api/queries", ["remove": "old ones"])
      #expect(removed.json["saved"] == [])
      let forgotten = try served.client.post("/api/queries", ["forget": true])
      #expect(forgotten.json["recent"] == [])
    }
  }

  @Test("A request of the model becomes a query with the values of its variables")
  func requestsAreFilledIn() throws {
    try use { served in
      let list = try served.client.get("/api/queries").json
      #expect(list["requests"]?.array?.map { $0["name"] } == ["active", "between", "people"])
      #expect(list["requests"]?[0]?["query"]?["limit"] == "3")
      #expect(list["requests"]?[2]?["query"]?["where"] == "entity.name == \"Person\"")
      let variables = list["requests"]?[1]?["variables"]?.array
      #expect(variables?.map { $0["name"] } == ["high", "low", "place"])
      #expect(variables?.map { $0["type"] } == ["an integer", "an integer", "an object"])
      let filled = try served.client.get(
        "/api/request",
        ["name": "between", "set": "low=20", "set": "high=25", "set": "place=Office/1"])
      let query = try #require(filled.json["query"])
      let rows = try served.client.get(
        "/api/query", ["entity": "Employee", "where": query["where"]?.string ?? ""])
      #expect(rows.json["rows"]?.array?.count == 2, "\(filled.json) \(rows.json)")
      let wrong = try served.client.get(
        "/api/request",
        ["name": "between", "set": "low=20", "set": "high=x", "set": "place=Office/1"])
      #expect(wrong.status == 400)
      #expect(wrong.json["field"] == "high")
      #expect(wrong.message?.contains("“x” is not a valid value for $high") == true)
    }
  }

  /// The condition of a filled request is text, which must have exactly the value that was typed.
  @Test("Values of every type find the object that has them")
  func valuesOfEveryTypeAreExact() throws {
    let uuid = "8F14E45F-CEEA-467F-9575-6C1F8D1B6C5A"
    let (name, salary) = ("a\"b\\c'$d %@\u{202E}", "1234567890123456789.25")
    let texts: KeyValuePairs = [
      "name": name, "hired": "2001-09-09T01:46:40.250Z", "badge": uuid, "salary": salary,
      "photo": "0xCAFE00",
    ]
    var model = try ServedStore.makeModel()
    model.fetchRequestTemplates = texts.map { attribute, _ in
      FetchRequestTemplate(
        attribute, entity: "Employee", predicate: "\(attribute) == $value AND age IN $ages")
    }
    try ServedStore.use(
      model,
      fill: { context in
        for number in 0..<2 {
          let employee = try context.insert("Employee")
          employee["name"] = PropertyValue.string(number == 0 ? name : "other")
          guard number == 0 else { continue }
          employee["hired"] = Date(timeIntervalSince1970: 1_000_000_000.25)
          employee["badge"] = UUID(uuidString: uuid)
          employee["salary"] = Decimal(string: salary)
          employee["photo"] = Data([0xCA, 0xFE, 0x00])
        }
      },
      body: { served in
        for (attribute, text) in texts {
          let filled = try served.client.get(
            "/api/request", ["name": attribute, "set": "value=\(text)", "set": "ages=18,19"])
          let condition = filled.json["query"]?["where"]?.string ?? ""
          let found = try served.client.get(
            "/api/query", ["entity": "Employee", "where": condition])
          #expect(
            found.json["rows"]?.array?.count == 1, "\(attribute) \(condition) \(filled.json)")
        }
      })
  }

  @Test("Queries that cannot be kept are refused")
  func refusesWhatCannotBeKept() throws {
    try use(keeping: false) { served in
      #expect(try served.client.get("/api/schema").json["keepsQueries"] == false)
      let refused = try served.client.post(
        "/api/queries", ["save": "a", "query": ["entity": "Office"]])
      #expect(refused.status == 400)
    }
    try use { served in
      let client = served.client
      for document: JSONValue in [
        ["save": " ", "query": ["entity": "Office"]],
        ["save": "a", "query": ["entity": "Nothing"]],
        ["save": "a"], ["remove": "a"], [:],
      ] {
        #expect(try client.post("/api/queries", document).status == 400, "\(document)")
      }
      let other = try client.get("/api/queries", headers: ["Authorization": "Bearer 0"])
      #expect(other.status == 401)
      // A damaged file is named, and not overwritten.
      let shelf = QueryShelf(store: served.store.id, variables: ["HOME": home.url.path])
      try shelf.save(SavedQuery(entity: "Office"), as: "a")
      let name = "\(served.store.id.uuidString.lowercased()).json"
      let file = home.url.appending(path: ".config/lmdb-inspect/queries/\(name)")
      try Data("[".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      let list = try client.get("/api/queries").json
      #expect(
        list["problems"]?[0]?.string?.contains("its contents are not valid") == true, "\(list)")
      let failed = try client.post("/api/queries", ["save": "b", "query": ["entity": "Office"]])
      #expect(
        failed.status == 500 && failed.message?.contains("its contents are not valid") == true)
    }
  }

  private func choose(_ text: String, in page: Chromium) throws {
    try page.click(".shelf button")
    try page.exists("dialog.menu[open] .queries")
    try page.wait(
      "[...document.querySelectorAll('.queries .item')].some((each) => each.innerText.startsWith('\(text)'))"
    )
    try page.evaluate(
      "[...document.querySelectorAll('.queries .item')].find((each) => each.innerText.startsWith('\(text)')).click()"
    )
  }

  @Test("Queries are saved, opened and removed", .enabled(if: Chromium.executable != nil))
  func queriesAreSavedAndOpened() throws {
    try use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/query'")
      try page.exists(".question")
      try page.press("/")
      try page.type("age < 22")
      try page.press("Enter", control: true)
      try page.wait("document.querySelector('.result .summary')?.innerText.startsWith('2 rows')")
      // By keys: the second button above the form saves.
      try page.evaluate("document.querySelectorAll('.shelf button')[1].focus()")
      try page.press("Enter")
      try page.wait("document.activeElement.id === 'query-name'")
      try page.type("young")
      #expect(try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      try page.picture("save-query")
      try page.press("Enter")
      try page.wait("document.querySelector('.notice')?.innerText.includes('young')")
      try page.evaluate("location.hash = '#/query?entity=Office'")
      try page.wait("document.querySelector('.result .summary')?.innerText.startsWith('3 rows')")
      try choose("young", in: page)
      try page.wait("document.querySelector('.result .summary')?.innerText.startsWith('2 rows')")
      #expect(
        try page.evaluate("document.querySelector('[aria-label=Entity]').value") == "Employee")
      // The query typed above is the only recent one: addresses that are opened are not kept.
      try page.evaluate("document.querySelector('.shelf button').focus()")
      try page.press("Enter")
      try page.exists("dialog.menu[open] .queries")
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('.queries h3')].map((each) => each.innerText)")
          == ["Saved queries", "Fetch requests of the model", "Recent queries"])
      #expect(
        try page.text(".queries section:last-child") == "Recent queries\nEmployee · age < 22")
      #expect(try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      try page.picture("queries")
      try page.click("[aria-label='Remove young']")
      try page.wait("document.querySelectorAll('.queries h3').length === 2")
      #expect(page.complaints == [])
    }
  }

  @Test(
    "A request of the model has a field for each variable",
    .enabled(if: Chromium.executable != nil))
  func requestsHaveFields() throws {
    try use(keeping: false) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/query'")
      try page.exists(".question")
      #expect(try page.evaluate("document.querySelectorAll('.shelf button').length") == 1)
      try choose("active", in: page)
      try page.wait("document.querySelector('.result .summary')?.innerText.includes('3 rows')")
      #expect(try page.evaluate("document.querySelector('[aria-label=Limit]').value") == "3")
      try choose("between", in: page)
      try page.wait("document.querySelectorAll('.queries form label').length === 3")
      #expect(try page.text(".queries form label") == "$high an integer")
      #expect(try PageAudit.problems(in: page).filter { !$0.hasPrefix("moved") } == [])
      try page.type("many")
      try page.press("Enter")
      try page.wait(
        "document.querySelector('.queries .problem')?.innerText.includes('“many” is not a valid value for $high')"
      )
      try page.picture("variables")
      #expect(try page.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true")
      try page.evaluate("document.activeElement.select()")
      try page.type("25")
      try page.press("Tab")
      try page.type("20")
      try page.press("Tab")
      try page.type("Office/1")
      try page.press("Enter")
      try page.wait("document.querySelector('.result .summary')?.innerText.startsWith('2 rows')")
      #expect(
        try page.evaluate("document.querySelector('[aria-label=Where]').value.includes('20, 25')")
          == true)
      #expect(page.complaints == [])
    }
  }
}
