import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

/// The requests of the page, and the responses to invalid ones.
@Suite struct BrowserInterfaceTests {
  @Test("The schema is described")
  func describesTheSchema() throws {
    try ServedStore.use { served in
      let schema = try served.client.get("/api/schema").json
      #expect(schema["name"] == "Company.arbor")
      #expect(schema["canWrite"] == false)
      let entities = try #require(schema["entities"]?.array)
      #expect(entities.map { $0["name"] } == ["Person", "Employee", "Office", "Project"])
      #expect(entities.map { $0["count"] } == [30, 30, 3, 1])
      #expect(entities.map { $0["ownCount"] } == [0, 30, 3, 1])
      #expect((entities[1]["bytes"]?.int64 ?? 0) >= 4096)
      let employee = entities[1]
      #expect(employee["parent"] == "Person")
      #expect(employee["title"] == "name")
      let attributes = try #require(employee["attributes"]?.array)
      #expect(
        attributes.map { $0["name"] } == [
          "name", "age", "salary", "hired", "badge", "isActive", "photo", "notes",
        ])
      #expect(attributes[0]["isOwn"] == false)
      #expect(attributes[1]["type"] == "integer16")
      #expect(attributes[1]["default"] == 18)
      let office = try #require(employee["relationships"]?.array?.first)
      #expect(office["destination"] == "Office")
      #expect(office["inverse"] == "employees")
      #expect(office["isToMany"] == false)
    }
  }

  /// Page tokens lead through all rows without duplicates or gaps, and offsets return the same
  /// rows.
  @Test(
    "Pages of objects contain every object once",
    arguments: [["", ""], ["-age", "name"], ["age", ""]])
  func pagesObjects(sort: [String]) throws {
    try ServedStore.use(employees: 53) { served in
      var names: [String] = []
      var token = ""
      repeat {
        let page = try served.client.get(
          "/api/objects",
          [
            "entity": "Employee", "limit": "10", "sort": sort[0], "sort": sort[1], "token": token,
          ]
        ).json
        let rows = try #require(page["rows"]?.array)
        let offset = try served.client.get(
          "/api/objects",
          [
            "entity": "Employee", "limit": "10", "sort": sort[0], "sort": sort[1],
            "offset": "\(names.count)",
          ]
        ).json
        #expect(offset["rows"]?.array == rows)
        names += rows.compactMap { $0[0]?.string }
        token = page["next"]?.string ?? ""
      } while !token.isEmpty && names.count < 100
      #expect(names.count == 53)
      #expect(Set(names).count == 53)
      let count = try served.client.get("/api/count?entity=Employee")
      #expect(count.json["count"] == 53)
    }
  }

  @Test("Conditions are connected and taken apart by the parser")
  func conditionsAreParsed() throws {
    try ServedStore.use { served in
      for (`where`, and, joined) in [
        ("total == 12", "total == 1", "total == 12 AND total == 1"),
        ("subtotal == 1", "total == 1", "subtotal == 1 AND total == 1"),
        ("NOT (total == 5)", "total == 5", "NOT (total == 5) AND total == 5"),
        ("a == 1 OR b == 2", "b == 2", "(a == 1 OR b == 2) AND b == 2"),
        ("a==1 and (b==2 and c==3)", "b  ==  2", "a == 1 AND b == 2 AND c == 3"),
        ("", "a == 1 OR b == 2", "(a == 1 OR b == 2)"), ("a == 1", "", "a == 1"), ("", "", ""),
        ("name == \" AND \"", "a == 1", "name == \" AND \" AND a == 1"),
      ] {
        let answer = try served.client.get("/api/conditions", ["where": `where`, "and": and])
        #expect(answer.json["where"]?.string == joined)
      }
      let three = "a == 1 AND (b == 2 OR c == 3) AND d == 4"
      let left = try served.client.get("/api/conditions", ["where": three, "without": "1"])
      #expect(left.json["conditions"] == ["a == 1", "d == 4"])
      let failed = try served.client.get("/api/conditions", ["where": three, "and": "a =="])
      #expect(failed.status == 400)
    }
  }

  @Test("Rows contain values and links")
  func rowsHaveValuesAndLinks() throws {
    try ServedStore.use { served in
      let page = try served.client.get(
        "/api/objects", ["entity": "Employee", "where": "name == 'Employee 0'"]
      ).json
      let row = try #require(page["rows"]?[0]?.array)
      #expect(row[0].string?.hasPrefix("Employee/") == true)
      #expect(row[1] == "Employee 0")
      #expect(row[2] == 20)
      #expect(row[3] == .null)
      #expect(row[6] == true)
      #expect(row[7] == ["binary": 76, "kind": "png"])
      #expect(row[9]["label"] == "Riga")
      #expect(row[10] == ["members": 1])
    }
  }

  @Test("An object is returned with its relationships in both directions")
  func showsOneObjectWithItsLinksBothWays() throws {
    try ServedStore.use { served in
      let rows = try served.client.get("/api/objects?entity=Office&sort=city").json["rows"]?.array
      let oslo = try #require(rows?[1][0]?.string)
      let office = try served.client.get("/api/object", ["id": oslo]).json
      #expect(office["label"] == "Oslo")
      #expect(office["attributes"]?["city"] == "Oslo")
      let employees = try #require(office["relationships"]?["employees"])
      #expect(employees["count"] == 10)
      let first = try #require(employees["members"]?[0]?["object"]?.string)
      let employee = try served.client.get("/api/object", ["id": first]).json
      #expect(employee["relationships"]?["office"] == ["object": .string(oslo), "label": "Oslo"])
      let more = try served.client.get(
        "/api/members", ["id": oslo, "relationship": "employees", "offset": "8", "limit": "5"]
      ).json
      #expect(more["members"]?.array?.count == 2)
    }
  }

  /// If there are many members, only the displayed ones are read, with the same result.
  @Test("Parts of many members can be read separately")
  func showsPartsOfManyMembers() throws {
    try ServedStore.use(employees: 0) { served in
      let context = served.store.makeContext()
      let office = try context.objects("Office").order(by: "city").first()
      let project = try context.objects("Project").first()
      let employees = try (0..<5001).map { number in
        let employee = try context.insert("Employee")
        employee["name"] = PropertyValue.string("Employee \(number)")
        employee["office"] = office
        return employee
      }
      try project?.objects(forKey: "members").replaceAll(with: employees)
      try context.commit()
      for (object, relationship) in [(office, "employees"), (project, "members")] {
        let id = try #require(object.map { ValueJSON.name($0.objectID) })
        let part = try served.client.get(
          "/api/members",
          ["id": id, "relationship": relationship, "offset": "4990", "limit": "50"]
        ).json
        #expect(part["count"] == 5001)
        let labels = part["members"]?.array?.map { $0["label"] }
        #expect(labels == (4990...5000).map { .string("Employee \($0)") })
      }
    }
  }

  @Test("Binary values can be downloaded")
  func givesBinariesToBeSaved() throws {
    try ServedStore.use { served in
      let page = try served.client.get(
        "/api/objects", ["entity": "Employee", "where": "name == 'Employee 0'"]
      ).json
      let id = try #require(page["rows"]?[0]?[0]?.string)
      let answer = try served.client.get("/api/binary", ["id": id, "attribute": "photo"])
      #expect(answer.body == Array(ServedStore.photo))
      #expect(answer.headers["content-type"] == "application/octet-stream")
      #expect(answer.headers["content-disposition"] == "attachment; filename=\"value.bin\"")
      let other = try served.client.get("/api/binary", ["id": id, "attribute": "name"])
      #expect(other.status == 400)
      #expect(other.message == "Employee.name is not a binary attribute.")
    }
  }

  @Test("Binary values above the limit are not read")
  func readsNoBinaryAboveTheLimit() throws {
    var limits = HTTPLimits()
    limits.binary = ServedStore.photo.count - 1
    try ServedStore.use(limits: limits) { served in
      let page = try served.client.get(
        "/api/objects", ["entity": "Employee", "where": "name == 'Employee 0'"]
      ).json
      let id = try #require(page["rows"]?[0]?[0]?.string)
      let count = ServedStore.photo.count
      let object = try served.client.get("/api/object", ["id": id]).json
      #expect(object["attributes"]?["photo"] == ["binary": JSONValue(count)])
      let answer = try served.client.get("/api/binary", ["id": id, "attribute": "photo"])
      #expect(answer.status == 400)
      #expect(
        answer.message
          == "The binary value has \(count) bytes, but the page shows at most \(count - 1).")
    }
  }

  /// Every parameter that is parsed as an expression is subject to the limits for untrusted text.
  @Test(
    "Regular expressions and functions are refused in every parameter",
    arguments: ["column", "group", "having", "sort", "where"])
  func runsNoRegularExpressionsAndNoFunctions(parameter: String) throws {
    try ServedStore.use(employees: 2) { served in
      let expressions = [
        ("TERNARY(name MATCHES '(a+)+$', 1, 0)", "MATCHES"),
        ("FUNCTION(name, 'uppercase:')", "FUNCTION"),
      ]
      for (expression, word) in expressions {
        let isPredicate = parameter == "having" || parameter == "where"
        let text = isPredicate ? "\(expression) == 1" : expression
        let grouped = parameter == "having" ? "name" : ""
        let answer = try served.client.get(
          "/api/query", ["entity": "Employee", "group": grouped, parameter: text])
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["code"] == "invalidPredicate")
        #expect(answer.message?.contains("\(word) is not allowed") == true, "\(answer.json)")
      }
    }
  }

  @Test("The error says where a predicate is wrong")
  func saysWhereAPredicateIsWrong() throws {
    try ServedStore.use { served in
      let cases: [(String, String, Int64)] = [
        (
          "agee > 40", #"Employee has no property "agee". Did you mean "age"?"#, 1
        ),
        (
          "age >",
          #"Expected a value or a key path after ">", but found the end of the text."#, 6
        ),
      ]
      for (text, message, column) in cases {
        let answer = try served.client.get("/api/objects", ["entity": "Employee", "where": text])
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["code"] == "invalidPredicate")
        #expect(answer.json["error"]?["column"]?.int64 == column)
        #expect(answer.message == message)
      }
      let regular = try served.client.get(
        "/api/objects", ["entity": "Employee", "where": "name MATCHES '(a+)+b'"])
      #expect(regular.status == 400)
    }
  }

  @Test("Requests for missing things are refused")
  func refusesWhatIsNotThere() throws {
    try ServedStore.use { served in
      let cases: [(String, Int, String)] = [
        (
          "/api/objects?entity=Employe", 400,
          "The model has no entity Employe. Did you mean Employee?"
        ),
        ("/api/objects", 400, "The model has no entity ."),
        (
          "/api/object?id=Office", 400, "The object ID is malformed. Expected Entity/number."
        ),
        ("/api/other", 404, "Not found."),
        ("/../etc/passwd", 404, "Not found."),
        ("/%2e%2e/etc/passwd", 404, "Not found."),
        (
          "/api/objects?entity=Office&token=x", 400,
          "The string is not a page token. Pass a page's next token unchanged, or pass nil for the "
            + "first page."
        ),
      ]
      for (target, status, message) in cases {
        let answer = try served.client.get(target)
        #expect(answer.status == status, "\(target)")
        #expect(answer.message == message, "\(target)")
      }
      let gone = try served.client.get("/api/object?id=Office/999")
      #expect(gone.status == 404)
      let edit = try served.client.post("/api/edit", ["edits": []])
      #expect(edit.status == 403)
      #expect(
        edit.message == "The store is read-only. Serve it with --write to change it.")
    }
  }

  @Test("Every read of the store has a time limit")
  func endsWhatTakesTooLong() throws {
    var limits = HTTPLimits()
    limits.workTime = .zero
    try ServedStore.use(limits: limits) { served in
      for path in ["count", "objects", "query"] {
        let answer = try served.client.get(
          "/api/\(path)", ["entity": "Employee", "where": "notes CONTAINS 'x'"])
        #expect(answer.status == 503, "\(path)")
        #expect(answer.json["error"]?["code"] == "deadlineExceeded", "\(path)")
      }
    }
  }

  @Test("Queries are run and have plans")
  func runsQueriesWithTheirPlans() throws {
    try ServedStore.use { served in
      let grouped = try served.client.get(
        "/api/query",
        [
          "entity": "Employee", "where": "age < 45", "column": "office.city AS city",
          "column": "@count AS people", "column": "average(age) AS age", "group": "office.city",
          "sort": "city",
        ]
      ).json
      #expect(grouped["columns"] == ["city", "people", "age"])
      #expect(grouped["rows"]?.array?.map { $0[0] } == ["Bern", "Oslo", "Riga"])
      #expect(grouped["rows"]?[0]?[1] == 8)
      #expect(grouped["hasMore"] == false)
      let limited = try served.client.get(
        "/api/query", ["entity": "Employee", "where": "age == 22", "limit": "10"]
      ).json
      #expect(limited["columns"]?.array?.first == "name")
      #expect(limited["rows"]?.array?.count == 1)
      let root = try #require(limited["plan"]?["root"])
      #expect("\(root)".contains("Employee.age"))
      #expect(root["actual"] == 1)
      let more = try served.client.get("/api/query", ["entity": "Employee", "limit": "10"]).json
      #expect(more["rows"]?.array?.count == 10)
      #expect(more["hasMore"] == true)
      let having = try served.client.get(
        "/api/query",
        ["entity": "Employee", "column": "@count", "group": "office", "having": "@count > 100"]
      ).json
      #expect(having["rows"]?.array?.isEmpty == true)
      let wrong = try served.client.get("/api/query", ["entity": "Employee", "column": "nam"])
      #expect(wrong.status == 400)
    }
  }

  @Test("The error names the part of a query that is wrong")
  func namesThePartOfAQueryThatIsWrong() throws {
    try ServedStore.use { served in
      let good = [
        "where": "age < 45", "group": "office.city", "column": "office.city AS city",
        "having": "@count > 1", "sort": "city",
      ]
      let wrong = [
        "where": "agee > 40", "group": "office.town", "column": "nam", "having": "@count >",
        "sort": "ciy",
      ]
      for (field, text) in wrong {
        var query = good
        query[field] = text
        func part(_ name: String) -> String { query[name] ?? "" }
        let answer = try served.client.get(
          "/api/query",
          [
            "entity": "Employee", "where": part("where"), "group": part("group"),
            "column": part("column"), "having": part("having"), "sort": part("sort"),
          ])
        #expect(answer.status == 400, "\(field)")
        #expect(answer.json["field"] == .string(field), "\(answer.message)")
        let alone = try served.client.get("/api/query", ["entity": "Employee", field: text])
        #expect(alone.json["field"] == .string(field), "\(alone.message)")
      }
    }
  }

  @Test("A check can be cancelled")
  func aCheckCanBeCancelled() throws {
    try ServedStore.use { served in
      // Cancelling without a running check is not an error.
      let idle = try served.client.post("/api/check", ["cancel": true]).json
      #expect(idle == ["state": "none", "isCancelled": false])
      let revocation = Revocation()
      let error = #expect(throws: ArborError.self) {
        _ = try served.store.check(revocation: revocation) { _ in revocation.revoke() }
      }
      #expect(error?.code == .cancelled)
      // A check that is cancelled at once has hardly begun.
      let checkUp = served.browser.checkUp
      var wasCancelled = false
      for _ in 0..<100 where !wasCancelled {
        _ = checkUp.start()
        _ = checkUp.cancel()
        checkUp.waitForEnd()
        wasCancelled = checkUp.state["isCancelled"] == true
      }
      #expect(wasCancelled)
      _ = try served.client.post("/api/check", [:])
      var state = try served.client.post("/api/check", ["cancel": true]).json
      while state["state"] == "running" { state = try served.client.get("/api/check").json }
      // It may have completed before it was cancelled.
      #expect(state["state"] == "done" || state["isCancelled"] == true)
    }
  }

  /// An index with more leaf pages than are examined.
  @Test("The health of a store says which sizes are estimated")
  func tellsWhichSizesAreEstimated() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("text", .string, .indexed) }
    }
    let rest = String(repeating: "x", count: 450)
    func fill(_ context: ManagedObjectContext) throws {
      for number in 0..<36_000 {
        try context.insert("Note")["text"] = PropertyValue.string("\(100_000 + number) \(rest)")
      }
    }
    try ServedStore.use(model, fill: fill) { served in
      let health = try served.client.get("/api/health").json
      let databases = try #require(health["databases"]?.array)
      #expect(
        databases.filter { $0["isEstimated"] == true }.map { $0["title"] }
          == ["index Note.text"])
      let kinds = try #require(health["kinds"]?.array)
      #expect(
        kinds.filter { $0["isEstimated"] == true }.map { $0["name"] } == ["indexes", "other"])
    }
  }

  /// Properties with the names of reserved words of the predicate language.
  @Test("Names that are reserved words are quoted")
  func namesThatAreReservedWordsAreQuoted() throws {
    try ServedStore.use(Self.makeBoxes(), fill: Self.fillBoxes) { served in
      let all = try served.client.get("/api/query", ["entity": "Box", "sort": "size"]).json
      let names = all["columns"]?.array?.compactMap(\.string) ?? []
      let size = try #require(names.firstIndex(of: "size"))
      #expect(all["rows"]?.array?.map { $0[size] } == [3, 7])
      let some = try served.client.get(
        "/api/query",
        ["entity": "Box", "where": "#size > 3", "column": "size", "column": "#in.size AS outer"]
      ).json
      #expect(some["columns"] == ["size", "outer"], "\(some)")
      #expect(some["rows"] == [[7, .null]])
      let groups = try served.client.get(
        "/api/query",
        [
          "entity": "Box", "column": "size", "column": "@count AS number", "group": "size",
          "sort": "-size",
        ]
      ).json
      #expect(groups["rows"] == [[7, 1], [3, 1]], "\(groups)")
      for property in ["size", "in"] {
        let answer = try served.client.get(
          "/api/values", ["entity": "Box", "property": property])
        for value in try #require(answer.json["values"]?.array, "\(answer.json)") {
          let condition = try #require(value["predicate"]?.string)
          let count = try served.client.get(
            "/api/count", ["entity": "Box", "where": condition])
          #expect(count.json["count"] == value["count"], "\(condition)")
        }
      }
    }
  }

  static func makeBoxes() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Box") {
        AttributeDescription("size", .integer32)
        RelationshipDescription("in", to: "Box", inverse: "all", .optional)
        RelationshipDescription("all", to: "Box", inverse: "in", .toMany, .optional)
      }
    }
  }

  static func fillBoxes(_ context: ManagedObjectContext) throws {
    let outer = try context.insert("Box")
    outer["size"] = 7
    let inner = try context.insert("Box")
    inner["size"] = 3
    inner["in"] = outer
  }

  @Test("The effect of a proposed index is estimated")
  func estimatesTheEffectOfAnIndex() throws {
    try ServedStore.use { served in
      let context = served.store.makeContext()
      let employee = try context.objects("Employee").filter("name == 'Employee 3'").first()
      employee?["notes"] = "x"
      try context.commit()
      func effect(_ index: String) throws -> RawClient.Answer {
        try served.client.get(
          "/api/effect", ["entity": "Employee", "where": "notes == 'x'", "index": index])
      }
      let useful = try effect("notes").json
      #expect(useful["summary"] == "Employee (notes)", "\(useful)")
      #expect(useful["total"] == 30 && useful["size"]?["entries"] == 30)
      #expect((useful["size"]?["bytes"]?.int64 ?? 0) > 0)
      #expect(useful["effect"]?["rows"] == 1 && useful["effect"]?["givesOrder"] == false)
      #expect(useful["effect"]?["conditions"] == "notes == \"x\"")
      let useless = try effect("salary").json
      #expect(useless["summary"] == "Employee (salary)" && useless["effect"]?.isNull == true)
      let unknown = try effect("nots")
      #expect(unknown.status == 400)
      #expect(unknown.message?.contains("Did you mean notes?") == true, "\(unknown.json)")
      let folded = try effect("salary[cd]")
      #expect(folded.message == "salary is not a string. Remove [cd].")
    }
  }

  @Test("The health of a store and the state of its check are reported")
  func tellsHealthAndChecks() throws {
    try ServedStore.use { served in
      let health = try served.client.get("/api/health").json
      let kinds = try #require(health["kinds"]?.array)
      #expect(kinds.map { $0["name"] }.contains("records"))
      let used = kinds.reduce(0) { $0 + ($1["bytes"]?.int64 ?? 0) }
      #expect(used > 0 && used <= health["file"]?.int64 ?? 0)
      let databases = try #require(health["databases"]?.array)
      let index = try #require(databases.first { $0["title"] == "index Person.name" })
      #expect(index["entries"] == 30)
      #expect(index["kind"] == "index")
      #expect(index["uses"]?.int64 != nil)
      #expect(try served.client.get("/api/check").json["state"] == "none")
      var state = try served.client.post("/api/check", [:]).json
      while state["state"] == "running" { state = try served.client.get("/api/check").json }
      #expect(state["state"] == "done")
      #expect(state["records"] == 34)
      #expect(state["problems"] == [])
    }
  }
}
