import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// The labels of objects in the page.
@Suite struct LabelTests {
  @Test("A label is the model's note, a usual name, a unique attribute, or any text")
  func labels() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Labels.arbor")
    let model = try ManagedObjectModel {
      EntityDescription("Book") {
        AttributeDescription("summary", .string, .default("long"))
        AttributeDescription("isbn", .string, .unique)
      }
      EntityDescription("Ticket") {
        AttributeDescription("note", .string, .default("a note"))
        AttributeDescription("number", .integer64, .unique)
      }
      EntityDescription("Country", userInfo: ["PrimaryAttribute": "alpha"]) {
        AttributeDescription("name", .string)
        AttributeDescription("alpha", .string)
      }
      EntityDescription("Person") {
        AttributeDescription("nickname", .string, .default("nick"))
        AttributeDescription("email", .string, .unique)
        AttributeDescription("name", .string)
      }
      EntityDescription("Remark") { AttributeDescription("text", .string) }
      EntityDescription("Point") { AttributeDescription("x", .double) }
    }
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    try context.insert("Book")["isbn"] = "978-3"
    try context.insert("Ticket")["number"] = 42
    let country = try context.insert("Country")
    country["name"] = "Latvia"
    country["alpha"] = "LV"
    let person = try context.insert("Person")
    person["name"] = "Ada"
    person["email"] = "ada@example.com"
    try context.insert("Remark")["text"] = "hello"
    try context.insert("Point")["x"] = 1.5
    try context.commit()
    do {
      let browser = try StoreBrowser(store)
      defer {
        browser.stop()
        browser.waitUntilStopped()
      }
      let client = try RawClient(browser)
      let labels: [(String, String?)] = [
        ("Book", "978-3"), ("Ticket", "42"), ("Country", "LV"), ("Person", "Ada"),
        ("Remark", "hello"), ("Point", nil),
      ]
      for (entity, label) in labels {
        let answer = try client.get("/api/object", ["id": "\(entity)/1"])
        #expect(answer.status == 200 && answer.json["label"]?.string == label, "\(entity)")
      }
    }
    store.close()
    try TemporaryStore.check(path: url.path)
  }
}
