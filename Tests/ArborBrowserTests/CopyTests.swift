import ArborData
import ArborJSON
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

@Suite("Copied rows, the values of columns, and the positions of objects") struct CopyTests {
  private func copy(
    _ served: ServedStore, _ ids: [String], _ columns: [String], _ format: String,
    isCell: Bool = false
  ) throws -> String {
    let answer = try served.client.post(
      "/api/copy",
      [
        "entity": "Employee", "ids": .array(ids.map(JSONValue.string)),
        "columns": .array(columns.map(JSONValue.string)), "format": .string(format),
        "isCell": .bool(isCell),
      ])
    return try #require(answer.json["text"]?.string, "\(answer.json)")
  }

  @Test("Copied rows keep their order and their columns")
  func rowsAreInTheirOrderWithTheirColumns() throws {
    try ServedStore.use { served in
      let ids = ["Employee/3", "Employee/1"]
      let columns = ["age", "name", "office", "projects", "salary"]
      #expect(
        try copy(served, ids, columns, "csv")
          == "@id,age,name,office,projects,salary\nEmployee/3,22,Employee 2,Office/3,0,\n"
          + "Employee/1,20,Employee 0,Office/1,1,\n")
      let rows = try JSONValue.parse(try copy(served, ids, columns, "json"))
      #expect(
        rows[0] == [
          "@id": "Employee/3", "age": 22, "name": "Employee 2", "office": "Office/3",
          "projects": 0, "salary": .null,
        ])
      let one = try JSONValue.parse(try copy(served, ["Employee/1"], ["photo"], "json"))
      #expect(one["photo"]?.string == ServedStore.photo.base64EncodedString())
      let computed = try copy(served, ids, ["age * 2 AS twice"], "csv")
      #expect(computed == "@id,twice\nEmployee/3,44\nEmployee/1,40\n")
    }
  }

  @Test("Texts are complete, however long, and CSV can be read back")
  func textsAreWhole() throws {
    try ServedStore.use { served in
      let text = String(repeating: "long ", count: 1000) + "\"quoted\", and\r\nmore"
      let context = served.store.makeContext()
      let employee = try context.objects("Employee").filter("name == 'Employee 0'").first()
      employee?["notes"] = PropertyValue.string(text)
      try context.commit()
      let json = try copy(served, ["Employee/1"], ["notes"], "json", isCell: true)
      #expect(try JSONValue.parse(json).string == text)
      #expect(try copy(served, ["Employee/1"], ["notes"], "text", isCell: true) == text)
      let csv = try copy(served, ["Employee/1"], ["notes"], "csv", isCell: true)
      #expect(csv == "\"" + text.replacing("\"", with: "\"\"") + "\"")
      #expect(try copy(served, ["Employee/1"], ["salary"], "csv", isCell: true) == "")
    }
  }

  /// What is copied as a condition finds the same objects when it is entered.
  @Test("A copied condition finds the same objects")
  func conditionsFindTheirObjects() throws {
    try ServedStore.use { served in
      let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)
      let context = served.store.makeContext()
      let employee = try context.objects("Employee").filter("name == 'Employee 3'").first()
      employee?["hired"] = PropertyValue.date(date)
      employee?["badge"] = PropertyValue.uuid(UUID())
      employee?["salary"] = PropertyValue.decimal(Decimal(string: "12.50") ?? 0)
      employee?["notes"] = "a \"quote\" \\ 50 % and %@"
      try context.commit()
      let id = "Employee/4"
      func found(_ condition: String) throws -> Int {
        let answer = try served.client.get(
          "/api/count", ["entity": "Employee", "where": condition]
        ).json
        return Int(try #require(answer["count"]?.int64, "\(condition): \(answer)"))
      }
      for column in ["hired", "badge", "salary", "notes"] {
        let condition = try copy(served, [id], [column], "predicate", isCell: true)
        #expect(try found(condition) == 1, "\(column)")
      }
      let office = try copy(served, [id], ["office"], "predicate", isCell: true)
      #expect(try found(office) == 10)
      #expect(try found(copy(served, [id], ["photo"], "predicate", isCell: true)) == 27)
      #expect(try copy(served, [id], ["age"], "predicate", isCell: true) == "age == 23")
      #expect(
        try copy(served, [id], ["projects"], "predicate", isCell: true) == "projects.@count == 0")
      #expect(try found(copy(served, [id], ["age * 2 AS x"], "predicate", isCell: true)) == 1)
      #expect(try found(copy(served, [id], [], "predicate")) == 1)
      #expect(try found(copy(served, [id, "Employee/9"], [], "predicate")) == 2)
    }
  }

  @Test("Copied Swift code names the class and the objects")
  func swiftNamesTheClassAndTheObject() throws {
    try ServedStore.use { served in
      let fetch = try copy(served, ["Employee/4"], ["name"], "swift", isCell: true)
      #expect(
        fetch == #"try context.fetch(Employee.self, matching: "name == \"Employee 3\"")"#)
      let one = try copy(served, ["Employee/4"], ["name"], "swift")
      #expect(one == #"try store.objectID("Employee", number: 4)"#)
      let two = try copy(served, ["Employee/4", "Employee/2"], [], "swift")
      #expect(
        two == """
          try context.objects(with: [
            store.objectID("Employee", number: 4),
            store.objectID("Employee", number: 2),
          ])
          """)
    }
  }

  @Test("Invalid requests for copies are refused")
  func refusesWhatCannotBeCopied() throws {
    try ServedStore.use(employees: 2) { served in
      let cases: [(JSONValue, String)] = [
        (
          ["entity": "Employee", "ids": []],
          "Select between 1 and 1000 objects to copy, or use Export."
        ),
        (
          ["entity": "Employee", "ids": ["x"]],
          "The object ID is malformed. Expected Entity/number."
        ),
        (
          ["entity": "Employee", "ids": ["Employee/77"], "columns": ["age"], "isCell": true],
          "The object was deleted. Refresh the table."
        ),
      ]
      for (document, message) in cases {
        let answer = try served.client.post("/api/copy", document)
        #expect(answer.message == message)
      }
      let aggregate = try served.client.post(
        "/api/copy", ["entity": "Employee", "ids": ["Employee/1"], "columns": ["sum(age)"]])
      #expect(aggregate.status == 400)
      let expression = try served.client.post(
        "/api/copy",
        [
          "entity": "Employee", "ids": ["Employee/1"],
          "columns": ["TERNARY(name MATCHES '(a+)+$', 1, 0)"],
        ])
      #expect(expression.message?.contains("MATCHES is not allowed") == true)
    }
  }

  @Test("The most frequent values are counted")
  func countsTheMostFrequentValues() throws {
    try ServedStore.use { served in
      let offices = try served.client.get(
        "/api/values", ["entity": "Employee", "property": "office", "where": "age < 25"]
      ).json
      #expect(offices["values"]?.array?.map { $0["value"]?["label"] } == ["Riga", "Oslo", "Bern"])
      #expect(offices["values"]?.array?.map { $0["count"] } == [2, 2, 1])
      #expect(offices["hasMore"] == false)
      for value in try #require(offices["values"]?.array) {
        let condition = "age < 25 AND \(value["predicate"]?.string ?? "")"
        let answer = try served.client.get(
          "/api/count", ["entity": "Employee", "where": condition])
        #expect(answer.json["count"] == value["count"])
      }
      let photos = try served.client.get(
        "/api/values", ["entity": "Employee", "property": "notes"]
      ).json
      #expect(photos["values"] == [["value": .null, "count": 30, "predicate": "notes == NIL"]])
      let wrong = try served.client.get("/api/values?entity=Employee&property=projects")
      #expect(
        wrong.message == "Employee has no attribute or to-one relationship projects. Correct "
          + "the name.")
    }
  }

  @Test("Long lists of values are truncated, and counting has a time limit")
  func manyValuesAreCutAndTakeLimitedTime() throws {
    try ServedStore.use(employees: 60) { served in
      let names = try served.client.get("/api/values?entity=Employee&property=name").json
      #expect(names["values"]?.array?.count == 50)
      #expect(names["hasMore"] == true)
    }
    var limits = HTTPLimits()
    limits.workTime = .zero
    try ServedStore.use(limits: limits) { served in
      let answer = try served.client.get("/api/values?entity=Employee&property=notes")
      #expect(answer.json["error"]?["code"] == "deadlineExceeded")
    }
  }

  @Test("The positions of objects are found")
  func findsThePositionsOfObjects() throws {
    try ServedStore.use { served in
      func position(_ id: String, _ sort: String, _ condition: String) throws -> JSONValue? {
        try served.client.get(
          "/api/position", ["entity": "Employee", "id": id, "sort": sort, "where": condition]
        ).json["position"]
      }
      #expect(try position("Employee/1", "", "") == 0)
      #expect(try position("Employee/1", "-age", "") == 29)
      #expect(try position("Employee/5", "age", "age > 21") == 2)
      let none = try position("Employee/1", "age", "age > 21")
      #expect(none?.isNull == true)
    }
  }

  @Test("A combining mark after a quotation mark doesn't hide it")
  func fieldsAreQuotedByScalars() {
    #expect(RowText.csv(.string("a\"\u{301}b")) == "\"a\"\"\u{301}b\"")
    #expect(RowText.csv(.string("")) == "\"\"")
    #expect(RowText.csv(.null) == "")
    #expect(RowText.csv(.string("plain")) == "plain")
  }
}
