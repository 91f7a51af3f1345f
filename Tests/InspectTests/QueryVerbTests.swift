import ArborData
import Foundation
import TestSupport
import Testing

/// Queries and their rows.
@Suite struct QueryVerbTests {
  private let office: OfficeStore
  private var inspection: Inspection { Inspection(office.url) }

  init() throws { office = try OfficeStore() }

  private func rows(_ arguments: String...) throws -> [[String: Any]] {
    let outcome = try Inspection.program.run(
      ["query", office.url.path] + arguments + ["--json"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
  }

  @Test("Objects and entries are counted")
  func countsObjectsAndEntries() throws {
    #expect(try inspection.run("count", "Employee").output == "3\n")
    #expect(try inspection.run("count", "Person", "name != 'Ada'").output == "2\n")
    #expect(try inspection.run("count", "e/Office").output == "1\n")
    #expect(
      try inspection.json("count") as? [String: Int] == ["Employee": 3, "Office": 1, "Project": 1])
    let foreign = try ForeignFile()
    defer { foreign.remove() }
    let other = Inspection(foreign.folder, data: foreign.data)
    #expect(try other.json("count") as? [String: Int] == ["numbers": 2, "sets": 3, "words": 3])
    #expect(try other.run("count", "sets").output == "3\n")
    #expect(try other.run("count", "sets", "age > 1").status == 2)
  }

  @Test("Rows have the requested columns, order and groups")
  func rowsAreWhatWasAskedFor() throws {
    let sorted = try rows(
      "Employee", "age > 30", "--sort", "-age", "--limit", "2", "--columns",
      "name,age,office.city AS city, uppercase(name) AS loud")
    #expect(sorted.map { $0["name"] as? String } == ["Grace", "Edsger"])
    #expect(sorted.map { $0["age"] as? Int } == [45, 41])
    #expect(sorted.map { $0["city"] as? String } == ["Riga", "Riga"])
    #expect(sorted.map { $0["loud"] as? String } == ["GRACE", "EDSGER"])
    let groups = try rows(
      "Employee", "--group", "office.city", "--columns",
      "office.city AS city,@count AS people,max(age) AS oldest")
    #expect(groups.count == 1 && groups[0]["people"] as? Int == 3)
    #expect(groups[0]["oldest"] as? Int == 45 && groups[0]["city"] as? String == "Riga")
    #expect(try rows("Employee", "--group", "isActive")[0]["count"] as? Int == 3)
  }

  @Test("Without columns, each row is an object")
  func withoutColumnsARowIsTheObject() throws {
    let ada = try #require(try rows("Employee", "name == 'Ada'").first)
    let id = try #require(ada["@id"] as? String)
    #expect(ada["badge"] as? String == OfficeStore.badge.uuidString)
    #expect((ada["office"] as? String)?.hasPrefix("Office/") == true)
    #expect(ada["projects"] == nil)
    // The ID can be passed to `show`.
    #expect(try inspection.run("show", id).output.hasPrefix("\(id), version "))
    let text = try inspection.run("query", "Employee", "age > 40", "--columns", "name,age")
    #expect(text.output == "name      age\n\"Grace\"   45\n\"Edsger\"  41\n2 rows\n")
    let none = try inspection.run("query", "Employee", "age > 400")
    #expect(none.output == "0 rows\n" && none.status == 0)
    #expect(try rows("Employee", "age > 400").isEmpty)
  }

  /// More objects than are read at a time, in an order with and one without an index.
  @Test("Rows that are read in batches keep their order")
  func rowsKeepTheirOrderOverBatches() throws {
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<2345 { try context.insert("Project")["title"] = "project \(number % 977)" }
    try context.commit()
    let request = FetchRequest<ManagedObject>(entity: "Project", sortKeys: ["-title"])
    let expected = try context.fetch(request).map { "Project/\($0.objectID.number)" }
    store.close()
    let found = try rows("Project", "--sort", "-title", "--columns", "SELF AS id")
    #expect(found.map { $0["id"] as? String } == expected)
    let text = try inspection.run("query", "Project", "--sort=-title", "--columns", "title")
    #expect(text.output.split(separator: "\n").count == 1 + expected.count + 1)
  }

  @Test("`explain` shows the plan and suggests an index")
  func explainsHow() throws {
    let plan = try #require(
      try inspection.json("explain", "Employee", "age > 40") as? [String: Any])
    let root = try #require(plan["plan"] as? [String: Any])
    #expect(root["kind"] as? String == "index" && root["name"] as? String == "Employee.age")
    #expect(plan["suggestedIndex"] is NSNull)
    let analyzed = try inspection.run("explain", "Employee", "rate > 0.1", "--analyze").output
    #expect(
      try
        #/filter rate > 0.1 · 3 rows · [\d.]+ ms\n└ scan Employee · 3 rows · estimated 3 · 3 records read · [\d.]+ ms\n/#
        .wholeMatch(in: analyzed) != nil, "\(analyzed)")
    let indexed = try inspection.run("explain", "Employee", "age > 40", "--analyze").output
    #expect(indexed.contains("· 2 keys read · 2 records read ·"), "\(indexed)")
    let trial = try inspection.run(
      "explain", "Employee", "rate > 0.1 AND name == 'Ada'", "--what-if", "name, rate"
    ).output
    #expect(trial.contains("\nEmployee (name, rate): up to 3 entries, about "), "\(trial)")
    #expect(
      trial.hasSuffix("the query would find 1 of 3 objects by name == \"Ada\" AND rate > 0.1\n"))
    let useless = try inspection.json("explain", "Employee", "age > 40", "--what-if", "rate")
    let effect = (useless as? [String: Any])?["whatIf"] as? [String: Any]
    #expect(effect?["effect"] is NSNull && effect?["summary"] as? String == "Employee (rate)")
    let unknown = try inspection.run("explain", "Employee", "age > 40", "--what-if", "nme")
    #expect(unknown.status == 1 && unknown.errors.contains("Did you mean"), "\(unknown)")
    let text = try inspection.run("explain", "Employee", "rate > 0.1", "--sort", "name").output
    #expect(text.contains("sort name") && text.contains("rate > 0.1"))
    #expect(text.contains("\nan index would help: Employee ("), "\(text)")
    let noted = try inspection.run("explain", "Employee", "name LIKE '%a%'").output
    let note = "In a LIKE pattern, % is an ordinary character. Write * for any run of characters."
    #expect(noted.contains("\nnote: \(note)\n"), "\(noted)")
  }

  @Test("An index that wouldn't be selective is not suggested")
  func indexesThatWouldNotHelpAreNotAdvised() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("isOpen", .boolean)
        AttributeDescription("isRare", .boolean)
        AttributeDescription("number", .integer32)
        AttributeDescription("group", .integer32)
        FetchIndexDescription("open", on: "number", where: "isOpen == TRUE")
      }
    }
    let url = office.folder.url.appending(path: "Items.arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    for number in 0..<500 {
      let item = try context.insert("Item")
      item["number"] = number
      item["group"] = number % 10
      item["isOpen"] = number % 100 == 0
      item["isRare"] = number % 100 == 1
    }
    try context.commit()
    try store.check()
    store.close()
    func advice(_ arguments: String...) throws -> String {
      let outcome = try Inspection.program.run(["explain", url.path, "Item"] + arguments)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let line = outcome.output.split(separator: "\n").last { $0.hasPrefix("an index") }
      return line.map(String.init) ?? ""
    }
    #expect(try advice("isOpen == TRUE") == "")
    #expect(try advice("isOpen == TRUE", "--analyze") == "")
    // However selective it is, and without a partial index.
    #expect(try advice("isRare == TRUE") == "")
    #expect(try advice("isRare == TRUE", "--analyze") == "")
    #expect(try advice("group > 1", "--analyze") == "")
    #expect(try advice("group == 1", "--analyze") == "an index would help: Item (group)")
    #expect(try advice("group == 1 AND isOpen == FALSE") == "an index would help: Item (group)")
    #expect(try advice("isOpen == TRUE AND number > 7") == "")
    #expect(try advice("number == 7") == "an index would help: Item (number)")
  }

  @Test(
    "A misspelled entity suggests a similar one",
    arguments: [
      (
        ["query", "Emploiee"],
        "The model has no entity Emploiee. Did you mean Employee?"
      ),
      (
        ["count", "Employe", "age > 1"],
        "The model has no entity Employe. Did you mean Employee?"
      ),
      (["count", "Offices"], "The model has no entity Offices. Did you mean Office?"),
      (
        ["count", "e/Ofice"],
        "There is no table “e/Ofice” in PATH. Did you mean “e/Office”? “tables” lists them all."
      ),
    ])
  func namesThatAreMeantAreOffered(_ arguments: [String], _ message: String) throws {
    let outcome = try Inspection.program.run(
      [arguments[0], office.url.path] + arguments.dropFirst())
    #expect(outcome.status == 1)
    #expect(
      outcome.errors == "lmdb-inspect: "
        + message.replacing("PATH", with: office.url.path) + "\n")
  }

  @Test("A misspelled property suggests a similar one")
  func propertiesThatAreMeantAreOffered() throws {
    for arguments in [
      ["query", office.url.path, "Employee", "agee > 1"],
      ["query", office.url.path, "Employee", "--sort", "agee"],
      ["query", office.url.path, "Employee", "--columns", "agee"],
      ["explain", office.url.path, "Employee", "agee > 1"],
    ] {
      let outcome = try Inspection.program.run(arguments)
      #expect(outcome.status == 1, "\(arguments) \(outcome)")
      #expect(outcome.errors.contains(/[dD]id you mean "?age"?\?/), "\(outcome.errors)")
    }
    #expect(
      try Inspection.program.run(["query", office.url.path, "Employee", "--limit", "0"])
        .status == 64)
  }

  @Test("Lists of columns are split only at top-level commas")
  func listsAreCutAtTheirOwnCommasOnly() throws {
    let found = try rows(
      "Employee", "name == 'Ada'", "--columns",
      "name, 'a,b' AS text ,(age + 1) AS next", "--columns", "age")
    #expect(found.first?["text"] as? String == "a,b" && found.first?["next"] as? Int == 37)
    #expect(found.first?["age"] as? Int == 36)
  }

  /// Properties with the names of reserved words of the predicate language.
  @Test("Names that are reserved words are quoted")
  func namesThatAreReservedWordsAreQuoted() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Box") {
        AttributeDescription("size", .integer32)
        AttributeDescription("first", .string, .default(""))
        AttributeDescription("größe", .double, .default(1.5))
        RelationshipDescription("in", to: "Box", inverse: "all", .optional)
        RelationshipDescription("all", to: "Box", inverse: "in", .toMany)
      }
    }
    let url = office.folder.url.appending(path: "Boxes.arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    let outer = try context.insert("Box")
    outer["size"] = 7
    let inner = try context.insert("Box")
    inner["size"] = 3
    inner["in"] = outer
    try context.commit()
    try store.check()
    store.close()
    let boxes = Inspection(url)
    let all = try #require(try boxes.json("query", "Box", "--sort", "size") as? [[String: Any]])
    #expect(all.map { $0["size"] as? Int } == [3, 7] && all[0]["in"] as? String == "Box/1")
    #expect(Set(all[0].keys) == ["@id", "size", "first", "größe", "in"])
    let rows = try boxes.json(
      "query", "Box", "#size > 3", "--columns", "size, #in.size AS outer, größe, #first")
    let row = try #require((rows as? [[String: Any]])?.first)
    #expect(row["size"] as? Int == 7 && row["outer"] is NSNull && row["first"] as? String == "")
    let groups = try boxes.json(
      "query", "Box", "--group", "size", "--columns", "size,@count AS number", "--sort", "-size")
    #expect((groups as? [[String: Any]])?.map { $0["size"] as? Int } == [7, 3])
    #expect(try boxes.run("query", "Box", "--group", "in.size").status == 0)
    #expect(try boxes.run("explain", "Box", "#size > 3", "--sort", "-size").status == 0)
  }

  @Test(
    "An entity may have attributes named like the identity",
    arguments: ["--json", "--csv", "--ndjson"])
  func attributesNamedID(_ form: String) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Ticket") {
        AttributeDescription("id", .string)
        AttributeDescription("object", .string)
      }
    }
    let url = office.folder.url.appending(path: "Tickets.arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    let ticket = try context.insert("Ticket")
    ticket["id"] = "A-7"
    ticket["object"] = "door"
    try context.commit()
    try store.check()
    store.close()
    let tickets = Inspection(url)
    let expected = [
      "--json": "[\n  { \"@id\": \"Ticket/1\", \"id\": \"A-7\", \"object\": \"door\" }\n]\n",
      "--ndjson": "{\"@id\":\"Ticket/1\",\"id\":\"A-7\",\"object\":\"door\"}\n",
      "--csv": "@id,id,object\nTicket/1,A-7,door\n",
    ]
    let queried = try tickets.run("query", "Ticket", form)
    #expect(queried.status == 0, "\(queried.errors)")
    let packed = { (text: String) in text.filter { !$0.isWhitespace } }
    #expect(packed(queried.output) == packed(expected[form] ?? ""))
    if form == "--csv" {
      #expect(
        packed(try tickets.run("dump", "Ticket", form).output) == packed(expected[form] ?? ""))
    }
  }
}
