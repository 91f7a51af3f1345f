import ArborData
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

/// The stream of commits.
@Suite struct ChangeFeedTests {
  /// Reads at least `count` events of a stream, unless it times out.
  private func events(_ count: Int, from connection: Connection) -> [JSONValue] {
    var text = ""
    var events: [JSONValue] = []
    let deadline = ContinuousClock.now + .seconds(20)
    while events.count < count, .now < deadline {
      let bytes = connection.read(atMost: 1 << 16, until: deadline)
      if bytes.isEmpty { break }
      text += String(decoding: bytes, as: UTF8.self)
      events = text.components(separatedBy: "\n\n").dropLast()
        .filter { $0.contains("data: ") }
        .compactMap { try? JSONValue.parse(String($0.split(separator: "data: ").last ?? "")) }
    }
    return events
  }

  @Test("The feed reports commits with old and new values")
  func tellsCommitsWithOldAndNewValues() throws {
    try ServedStore.use { served in
      let client = served.client
      let recent = try #require(try client.get("/api/history").json["commits"]?.array)
      #expect(recent.count == 1)
      #expect(recent[0]["inserted"] == 34)
      let sequence = try #require(recent[0]["sequence"]?.int64)
      let connection = try client.connect()
      let request = client.text("GET", "/api/changes?after=\(sequence)")
      _ = connection.write(Array(request.utf8), until: .now + .seconds(5))
      let context = served.store.makeContext()
      context.author = "Mary"
      context.name = "import"
      let employee = try #require(
        try context.objects("Employee").filter("name == 'Employee 3'").first())
      employee["age"] = 99
      try context.commit()
      let first = events(1, from: connection)
      context.delete(employee)
      let office = try context.insert("Office")
      office["city"] = "Lima"
      try context.commit()
      let second = events(1, from: connection)
      let update = try #require(first.first)
      #expect(update["author"] == "Mary")
      #expect(update["context"] == "import")
      #expect(update["updated"] == 1)
      let change = update["objects"]?[0]
      #expect(change?["kind"] == "updated")
      #expect(change?["changes"] == [["new": 99, "old": 23, "property": "age"]])
      let both = try #require(second.first)
      #expect(both["inserted"] == 1)
      #expect(both["deleted"] == 1)
      #expect("\(both)".contains("Lima") && "\(both)".contains("\"old\":99"))
      let again = try #require(try client.get("/api/history").json["commits"]?.array)
      #expect(again.suffix(2) == [update, both])
    }
  }

  /// For a commit made while the initial values are read, it is unknown whether they include it.
  @Test("Old values of commits during the initial read are unknown")
  func valuesOfCommitsDuringTheBeginningAreUnknown() async throws {
    let store = try PersistentStore(model: ServedStore.makeModel(), at: .inMemory)
    let context = store.makeContext()
    let office = try context.insert("Office")
    office["city"] = "Riga"
    try context.commit()
    var values = CommitValues(store, BrowsedSchema(store.model))
    var changes = store.changes.makeAsyncIterator()
    office["city"] = "Oslo"
    try context.commit()
    try values.fill()
    let during = try values.json(of: try #require(await changes.next()))
    #expect(during["objects"]?[0]?["changes"] == [["property": "city"]])
    for (city, expected) in [
      ("Bern", ["new": "Bern", "property": "city"] as JSONValue),
      ("Lima", ["new": "Lima", "old": "Bern", "property": "city"]),
    ] {
      office["city"] = PropertyValue.string(city)
      try context.commit()
      let after = try values.json(of: try #require(await changes.next()))
      #expect(after["objects"]?[0]?["changes"] == [expected])
    }
    store.close()
  }

  @Test("Commits after a given sequence number are sent immediately")
  func commitsBehindASequenceComeAtOnce() throws {
    try ServedStore.use { served in
      let client = served.client
      _ = try client.get("/api/history")
      let context = served.store.makeContext()
      for city in ["A", "B", "C"] {
        let office = try context.insert("Office")
        office["city"] = PropertyValue.string(city)
        try context.commit()
      }
      let connection = try client.connect()
      let request = client.text("GET", "/api/changes?after=2")
      _ = connection.write(Array(request.utf8), until: .now + .seconds(5))
      #expect(events(2, from: connection).map { $0["sequence"] } == [3, 4])
    }
  }
}
