import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// The labels of objects in the page.
@Suite("Labels of objects") struct LabelTests {
  @Test("A label is the primary attribute, a unique one, one with a usual name, or any text")
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
      EntityDescription("City", userInfo: ["PrimaryAttribute": "name"]) {
        AttributeDescription("code", .string, .unique)
        AttributeDescription("name", .string)
      }
      EntityDescription("Person") {
        AttributeDescription("nickname", .string, .default("nick"))
        AttributeDescription("number", .integer64, .unique)
        AttributeDescription("email", .string, .unique)
        AttributeDescription("name", .string)
      }
      EntityDescription("Order") {
        AttributeDescription("name", .string)
        AttributeDescription("number", .integer64, .unique)
      }
      EntityDescription("Device") {
        AttributeDescription("id", .uuid, .unique)
        AttributeDescription("hash", .binary, .unique)
        AttributeDescription("maker", .string)
        AttributeDescription("name", .string)
      }
      EntityDescription("Session") { AttributeDescription("id", .uuid, .unique) }
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
    person["number"] = 1
    let city = try context.insert("City")
    city["code"] = "RIX"
    city["name"] = "Riga"
    let order = try context.insert("Order")
    order["name"] = "Bread"
    order["number"] = 7
    let id = UUID()
    let device = try context.insert("Device")
    device["id"] = id
    device["hash"] = Data([1])
    device["maker"] = "Acme"
    device["name"] = "Lamp"
    try context.insert("Session")["id"] = id
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
        ("Book", "978-3"), ("Ticket", "42"), ("Country", "LV"), ("City", "Riga"),
        ("Person", "ada@example.com"), ("Order", "7"), ("Device", "Lamp"),
        ("Session", id.uuidString), ("Remark", "hello"), ("Point", nil),
      ]
      for (entity, label) in labels {
        let answer = try client.get("/api/object", ["id": "\(entity)/1"])
        let shown = answer.json["label"]?.string
        #expect(answer.status == 200 && shown == label, "\(entity)")
      }
    }
    store.close()
    try TemporaryStore.check(path: url.path)
  }
}
