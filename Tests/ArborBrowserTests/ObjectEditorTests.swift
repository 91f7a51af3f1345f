import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// Edits from the page, which are previewed and then committed as previewed.
@Suite struct ObjectEditorTests {
  private func id(_ served: ServedStore, _ entity: String, _ predicate: String) throws -> String {
    let page = try served.client.get("/api/objects", ["entity": entity, "where": predicate])
    return try #require(page.json["rows"]?[0]?[0]?.string)
  }

  private func count(_ served: ServedStore, _ entity: String, _ predicate: String) throws -> Int {
    try served.store.makeContext().objects(entity)
      .filter(FetchPredicate(format: predicate)).count()
  }

  @Test("Edits are previewed and then committed")
  func showsAndThenCommits() throws {
    try ServedStore.use(writing: true) { served in
      #expect(try served.client.get("/api/schema").json["canWrite"] == true)
      let employee = try id(served, "Employee", "name == 'Employee 3'")
      let office = try id(served, "Office", "city == 'Oslo'")
      let edits: JSONValue = [
        [
          "op": "update", "id": .string(employee),
          "values": ["age": "41", "salary": "12.50", "office": .string(office), "notes": "<b>"],
        ],
        ["op": "insert", "entity": "Project", "ref": "p", "values": ["title": "Tunnel"]],
        [
          "op": "insert", "entity": "Employee", "ref": "e",
          "values": ["name": "New", "projects": ["p"], "office": .string(office)],
        ],
      ]
      let shown = try served.client.post("/api/edit", ["edits": edits])
      #expect(shown.status == 200)
      #expect(shown.json["isCommitted"] == false)
      let changes = try #require(shown.json["changes"]?.array)
      #expect(changes.map { $0["kind"] } == ["insert", "insert", "update"])
      let update = try #require(changes.last)
      #expect(update["object"] == .string(employee))
      let properties = try #require(update["properties"]?.array)
      try #require(properties.count == 4)
      #expect(properties.map { $0["property"] } == ["age", "notes", "office", "salary"])
      #expect(properties[0]["old"] == 23)
      #expect(properties[0]["new"] == 41)
      let joined = changes[0]["properties"]?.array?.last
      #expect(joined == ["property": "projects", "added": [["object": "p"]], "removed": []])
      #expect(properties[2]["new"] == ["object": .string(office)])
      #expect(try count(served, "Employee", "age == 41 AND notes != nil") == 0)
      #expect(served.store.sequence == 1)

      let digest = try #require(shown.json["digest"])
      let done = try served.client.post("/api/edit", ["edits": edits, "digest": digest])
      #expect(done.status == 200)
      #expect(done.json["isCommitted"] == true)
      #expect(done.json["changes"] == shown.json["changes"])
      let changed = "age == 41 AND salary == 12.5 AND notes == '<b>'"
      #expect(try count(served, "Employee", changed) == 1)
      #expect(try count(served, "Employee", "ANY projects.title == 'Tunnel'") == 1)
      #expect(served.store.sequence == 2)
      #expect(try served.store.recentCommits(1).last?.author == "browser")
    }
  }

  @Test("The preview of a deletion includes the objects that are deleted with it")
  func deletesTellWhatGoesAlong() throws {
    try ServedStore.use(employees: 6, writing: true) { served in
      let edits: JSONValue = [
        ["op": "delete", "id": .string(try id(served, "Office", "city == 'Oslo'"))]
      ]
      let shown = try served.client.post("/api/edit", ["edits": edits])
      #expect(shown.json["changes"]?.array?.count { $0["kind"] == "delete" } == 3)
      let digest = try #require(shown.json["digest"])
      // Another employee is added in the meantime, so the preview is outdated and nothing is
      // deleted.
      let context = served.store.makeContext()
      let employee = try context.insert("Employee")
      employee["name"] = "Late"
      employee["office"] = try context.objects("Office").filter("city == 'Oslo'").first()
      try context.commit()
      let refused = try served.client.post("/api/edit", ["edits": edits, "digest": digest])
      #expect(refused.status == 409)
      #expect(refused.json["isCommitted"] == false)
      #expect(refused.json["changes"]?.array?.count { $0["kind"] == "delete" } == 4)
      #expect(try count(served, "Office", "city == 'Oslo'") == 1)
      let now = try #require(refused.json["digest"])
      let done = try served.client.post("/api/edit", ["edits": edits, "digest": now])
      #expect(done.status == 200)
      #expect(try count(served, "Employee", "TRUEPREDICATE") == 4)
    }
  }

  @Test("Commits can be undone")
  func undoesCommits() throws {
    try ServedStore.use(employees: 6, writing: true) { served in
      let nothing = try served.client.post("/api/undo", [:])
      #expect(nothing.status == 400)
      #expect(nothing.message == "There is nothing to undo.")
      let edits: JSONValue = [
        ["op": "delete", "id": .string(try id(served, "Office", "city == 'Oslo'"))]
      ]
      let shown = try served.client.post("/api/edit", ["edits": edits])
      let digest = try #require(shown.json["digest"])
      _ = try served.client.post("/api/edit", ["edits": edits, "digest": digest])
      #expect(try count(served, "Employee", "TRUEPREDICATE") == 4)
      let back = try served.client.post("/api/undo", [:])
      #expect(back.status == 200)
      #expect(back.json["isCommitted"] == false)
      #expect(
        back.json["changes"]?.array?.map { $0["kind"] } == ["insert", "insert", "insert", "update"])
      #expect(try count(served, "Employee", "TRUEPREDICATE") == 4)
      let undone = try served.client.post(
        "/api/undo", ["digest": try #require(back.json["digest"])])
      #expect(undone.status == 200)
      #expect(undone.json["isCommitted"] == true)
      #expect(try count(served, "Employee", "office.city == 'Oslo'") == 2)
      #expect(try served.client.post("/api/undo", [:]).status == 400)
    }
  }

  private func update(_ id: String, _ values: JSONValue) -> JSONValue {
    [["op": "update", "id": .string(id), "values": values]]
  }

  /// Edits without effect, because another program already made them, don't undo the previous
  /// commit.
  @Test("Edits without effect don't undo the previous commit")
  func editsWithoutEffectTakeNothingBack() throws {
    try ServedStore.use(employees: 6, writing: true) { served in
      let employee = try id(served, "Employee", "name == 'Employee 3'")
      let first = update(employee, ["age": "41"])
      let shown = try served.client.post("/api/edit", ["edits": first]).json["digest"]
      _ = try served.client.post("/api/edit", ["edits": first, "digest": try #require(shown)])
      let second = update(employee, ["notes": "x"])
      let digest = try #require(
        try served.client.post("/api/edit", ["edits": second]).json["digest"])
      let context = served.store.makeContext()
      let other = try #require(
        try context.objects("Employee").filter("name == 'Employee 3'").first())
      other["notes"] = "x"
      try context.commit()
      let refused = try served.client.post("/api/edit", ["edits": second, "digest": digest])
      #expect(refused.status == 409)
      #expect(refused.json["changes"] == [])
      #expect(try count(served, "Employee", "age == 41") == 1)
      let third = update(try id(served, "Employee", "name == 'Employee 4'"), ["age": "42"])
      let alone = try #require(try served.client.post("/api/edit", ["edits": third]).json["digest"])
      let done = try served.client.post("/api/edit", ["edits": third, "digest": alone])
      #expect(done.status == 200)
      #expect(done.json["changes"]?.array?.count == 1)
      #expect(try count(served, "Employee", "age == 41") == 1)
      #expect(try count(served, "Employee", "age == 42") == 1)
    }
  }

  @Test("The digest covers whole values, even if the preview shows only their beginning")
  func theDigestIsOfWholeValues() throws {
    try ServedStore.use(employees: 2, writing: true) { served in
      let employee = try id(served, "Employee", "name == 'Employee 0'")
      let long = String(repeating: "x", count: 300)
      let digests = try [
        ["notes": .string(long + "a")], ["notes": .string(long + "b")],
        ["photo": ["base64": "AAAA"]], ["photo": ["base64": "AAAB"]],
      ].map { (values: JSONValue) in
        try #require(
          try served.client.post("/api/edit", ["edits": update(employee, values)])
            .json["digest"]?.string)
      }
      #expect(Set(digests).count == 4)
    }
  }

  @Test("Edits that violate the model are refused")
  func refusesWhatTheModelRefuses() throws {
    try ServedStore.use(writing: true) { served in
      let employee: JSONValue = .string(try id(served, "Employee", "name == 'Employee 3'"))
      let cases: [(JSONValue, Int, String)] = [
        (
          ["op": "update", "id": employee, "values": ["age": "old"]], 400,
          "The value is not valid for Employee.age. Enter an integer, such as 42."
        ),
        (
          ["op": "update", "id": employee, "values": ["age": "99999"]], 400,
          "Expected an integer from -32768 to 32767 for Employee.age, but found a value of another "
            + "type or out of range."
        ),
        (["op": "change"], 400, "An edit must be \"insert\", \"update\" or \"delete\"."),
        (
          ["op": "insert", "entity": "Person"], 400,
          "Entity Person is abstract. Insert an object of a subentity."
        ),
        (
          ["op": "update", "id": "Employee/x", "values": [:]], 400,
          "The object ID is malformed. Expected Entity/number."
        ),
      ]
      for (edit, status, message) in cases {
        let answer = try served.client.post("/api/edit", ["edits": [edit]])
        #expect(answer.status == status)
        #expect(answer.message == message)
      }
      let empty = try served.client.post("/api/edit", ["edits": []])
      #expect(empty.message == "Expected a list of edits.")
      let incomplete = try served.client.post(
        "/api/edit", ["edits": [["op": "insert", "entity": "Office"]]])
      #expect(incomplete.status == 409)
      #expect(incomplete.json["error"]?["code"] == "validation")
      // Two offices in the same city, which only the commit detects.
      let twice: JSONValue = [
        ["op": "insert", "entity": "Office", "ref": "a", "values": ["city": "Oslo"]]
      ]
      let shown = try served.client.post("/api/edit", ["edits": twice])
      let refused = try served.client.post(
        "/api/edit", ["edits": twice, "digest": shown.json["digest"] ?? .null])
      #expect(refused.status == 409)
      #expect(served.store.sequence == 1)
      // Rejected edits are discarded and are not part of the next commit.
      let rename: JSONValue = [["op": "update", "id": employee, "values": ["name": "Mary"]]]
      let good = try served.client.post("/api/edit", ["edits": rename])
      let done = try served.client.post(
        "/api/edit", ["edits": rename, "digest": try #require(good.json["digest"])])
      #expect(done.status == 200)
      #expect(done.json["changes"]?.array?.count == 1)
    }
  }

  @Test("An invalid edit document is refused")
  func theDocumentHasToBeOne() throws {
    try ServedStore.use(writing: true) { served in
      for body in ["", "{", "[]", "{\"edits\": 1}", "{\"edits\":[{}],\"edits\":[]}", "null"] {
        let answer = try served.client.send(served.client.text("POST", "/api/edit", body: body))
        #expect(answer.status == 400, "\(body)")
      }
      let deep = String(repeating: "[", count: 100_000)
      let answer = try served.client.send(served.client.text("POST", "/api/edit", body: deep))
      #expect(answer.status == 400)
    }
  }
}
