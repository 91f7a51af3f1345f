import ArborData
import ArborJSON
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

/// Exports of all rows: their forms, their snapshot, and how they end.
@Suite struct ExportTests {
  /// A document that was streamed in chunks.
  private struct Document {
    var text = ""
    var isComplete = false

    /// Removes the lengths of chunks.
    init(_ body: [UInt8]) {
      var bytes: [UInt8] = []
      var rest = body[...]
      while let end = rest.firstIndex(of: 13), end > rest.startIndex,
        let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16)
      {
        isComplete = size == 0
        bytes += rest.dropFirst(end + 2 - rest.startIndex).prefix(size)
        rest = rest.dropFirst(end + 2 - rest.startIndex + size + 2)
      }
      text = String(decoding: bytes, as: UTF8.self)
    }
  }

  private func export(
    _ served: ServedStore, _ parameters: KeyValuePairs<String, String>
  ) throws -> Document {
    let answer = try served.client.get("/api/export", parameters)
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self).prefix(300))")
    return Document(answer.body)
  }

  @Test func allRowsAreInOrder() throws {
    try ServedStore.use(employees: 1234) { served in
      let csv = try export(
        served,
        [
          "entity": "Employee", "where": "age > 60", "sort": "-age", "column": "name",
          "column": "age", "column": "projects", "format": "csv",
        ])
      let lines = csv.text.split(separator: "\n")
      #expect(csv.isComplete && lines.count == 1 + 24 * 9)
      #expect(lines[0] == "@id,name,age,projects")
      let ages = lines.dropFirst().compactMap { Int($0.split(separator: ",")[2]) }
      #expect(ages == ages.sorted(by: >) && ages.count == lines.count - 1)

      let json = try export(served, ["entity": "Employee", "format": "json"])
      let rows = try JSONValue.parse(json.text).array ?? []
      #expect(json.isComplete && rows.count == 1234)
      #expect(rows[0]["@id"] == "Employee/1" && rows[0]["office"] == "Office/1")
      #expect(rows[0]["photo"]?.string == ServedStore.photo.base64EncodedString())
      let ndjson = try export(served, ["entity": "Employee", "format": "ndjson"])
      #expect(
        try ndjson.text.split(separator: "\n").map { try JSONValue.parse(Data($0.utf8)) } == rows)
      let none = try export(
        served, ["entity": "Project", "where": "FALSEPREDICATE", "format": "json"])
      #expect(none.text == "[]\n" && none.isComplete)
    }
  }

  @Test func queriesAreExportedWithoutTheirLimit() throws {
    try ServedStore.use(employees: 300) { served in
      let computed = try export(
        served,
        [
          "of": "query", "entity": "Employee", "column": "name", "column": "0 - age AS debt",
          "sort": "debt", "limit": "5", "format": "csv",
        ])
      let lines = computed.text.split(separator: "\n")
      #expect(lines.count == 301 && lines[0] == "@id,name,debt")
      #expect(lines[1].hasSuffix(",Employee 49,-69"))
      let groups = try export(
        served,
        [
          "of": "query", "entity": "Employee", "column": "office.city AS city",
          "column": "@count AS people", "group": "office.city", "sort": "city", "format": "csv",
        ])
      #expect(groups.text == "city,people\nBern,100\nOslo,100\nRiga,100\n")
      let all = try export(served, ["of": "query", "entity": "Office", "format": "csv"])
      #expect(all.text == "@id,city\nOffice/1,Riga\nOffice/2,Oslo\nOffice/3,Bern\n")
    }
  }

  @Test func mistakesAreReportedFirst() throws {
    try ServedStore.use { served in
      let cases: [(KeyValuePairs<String, String>, String)] = [
        (
          ["entity": "Employee", "format": "xml"],
          "Choose the format \"csv\", \"json\" or \"ndjson\"."
        ),
        (["entity": "Employe", "format": "csv"], "The model has no entity Employe."),
        (["entity": "Employee", "where": "agee > 1", "format": "csv"], "agee"),
        (["entity": "Employee", "sort": "agee", "format": "csv"], "agee"),
        (["of": "query", "entity": "Employee", "column": "agee", "format": "csv"], "agee"),
      ]
      for (parameters, message) in cases {
        let answer = try served.client.get("/api/export", parameters)
        #expect(answer.status == 400)
        #expect(answer.message?.contains(message) == true, "\(answer.message ?? "")")
      }
      let target = "/api/export?entity=Employee&format=csv"
      #expect(try served.client.get(target, headers: ["Authorization": nil]).status == 401)
      #expect(try served.client.post(target, [:]).status == 405)
      #expect(try served.client.get("/api/exported?id=99").status == 400)
    }
  }

  /// A large export, whose beginning the client has read.
  private func begin(
    _ served: ServedStore, _ target: String
  ) throws -> (connection: Connection, head: [UInt8], number: String) {
    let connection = try served.client.connect()
    let text = served.client.text("GET", target)
    _ = connection.write(Array(text.utf8), until: .now + .seconds(5))
    var head: [UInt8] = []
    while head.count < 1 << 16 {
      let more = connection.read(atMost: 1 << 14, until: .now + .seconds(20))
      guard !more.isEmpty else { break }
      head += more
    }
    let number = try #require(RawClient.Answer(head).headers["x-export"])
    return (connection, head, number)
  }

  private func use(_ body: (ServedStore) throws -> Void) throws {
    try ServedStore.use(
      ServedStore.makeModel(),
      fill: { context in
        for number in 0..<6000 {
          let employee = try context.insert("Employee")
          employee["name"] = PropertyValue.string("Employee \(number)")
          employee["age"] = PropertyValue.integer(Int64(number % 90))
          employee["notes"] = PropertyValue.string(String(repeating: "note ", count: 400))
        }
      }, body: body)
  }

  private func state(
    _ served: ServedStore, _ number: String, until state: String
  ) throws -> JSONValue {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      let answer = try served.client.get("/api/exported?id=\(number)").json
      if answer["state"] == .string(state) || ContinuousClock.now > end { return answer }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  /// Commits during an export don't change it.
  @Test(arguments: ["", "&sort=-age"]) func rowsAreOfOneSnapshot(_ order: String) throws {
    try use { served in
      let target = "/api/export?entity=Employee&format=ndjson\(order)"
      let (connection, head, number) = try begin(served, target)
      let context = served.store.makeContext()
      for employee in try context.objects("Employee").fetch() { context.delete(employee) }
      try context.commit()
      let rest = served.client.readAll(connection)
      let document = Document(RawClient.Answer(head + rest).body)
      #expect(document.isComplete && document.text.split(separator: "\n").count == 6000)
      let end = try state(served, number, until: "done")
      #expect(end["rows"] == 6000)
    }
  }

  @Test func aClientThatLeavesEndsIt() throws {
    try use { served in
      // Closes the connection with unread data, which the server notices at once.
      let number = try begin(served, "/api/export?entity=Employee&format=json").number
      let end = try state(served, number, until: "failed")
      #expect(end["error"]?["message"] == "The client closed the connection.")
      let rows = try #require(end["rows"]?.int64)
      #expect(rows > 0 && rows < 6000)
    }
  }

  /// A damaged record ends the document without its end.
  @Test(arguments: ["json", "csv"]) func damageLeavesACutDocument(_ format: String) throws {
    try use { served in
      let url = try #require(served.store.url)
      let text = Data("Employee 5000".utf8)
      let places = try Data(contentsOf: url).ranges(of: text)
      let file = try FileHandle(forUpdating: url)
      func write(_ letter: String) throws {
        for place in places {
          try file.seek(toOffset: UInt64(place.lowerBound))
          try file.write(contentsOf: Data(letter.utf8))
        }
      }
      try write("X")
      let answer = try served.client.get("/api/export?entity=Employee&format=\(format)")
      try write("E")
      let document = Document(answer.body)
      #expect(answer.status == 200 && !document.isComplete)
      #expect(!document.text.hasSuffix("]\n"))
      let number = try #require(answer.headers["x-export"])
      let end = try state(served, number, until: "failed")
      #expect(end["error"]?["code"] == "corrupted", "\(end)")
      // Rows are passed on in batches.
      #expect((4900...5000).contains(try #require(end["rows"]?.int64)))
    }
  }
}
