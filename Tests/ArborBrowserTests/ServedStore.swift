import ArborData
import Foundation
import TestSupport
import Testing

@testable import ArborBrowser

/// A store of a small company that is served by a browser, and checked at the end of the test.
struct ServedStore {
  let store: PersistentStore
  let browser: StoreBrowser
  let client: RawClient

  /// An image of four pixels.
  static let photo =
    Data(
      base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR42mOQrfL///8/Ax"
        + "ADWQA2FAfHqNbW1wAAAABJRU5ErkJggg=="
    ) ?? Data()

  static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Person", isAbstract: true) {
        AttributeDescription("name", .string, .indexed)
      }
      EntityDescription("Employee", parent: "Person") {
        AttributeDescription("age", .integer16, .indexed, .default(18))
        AttributeDescription("salary", .decimal, .optional)
        AttributeDescription("hired", .date, .optional)
        AttributeDescription("badge", .uuid, .optional)
        AttributeDescription("isActive", .boolean, .default(true))
        AttributeDescription("photo", .binary, .optional, .externalStorage)
        AttributeDescription("notes", .string, .optional)
        RelationshipDescription("office", to: "Office", inverse: "employees", .optional)
        RelationshipDescription("projects", to: "Project", inverse: "members", .toMany, .optional)
      }
      EntityDescription("Office") {
        AttributeDescription("city", .string, .unique)
        RelationshipDescription(
          "employees", to: "Employee", inverse: "office", .toMany, .optional, deleteRule: .cascade)
      }
      EntityDescription("Project") {
        AttributeDescription("title", .string)
        RelationshipDescription("members", to: "Employee", inverse: "projects", .toMany, .optional)
      }
    }
  }

  /// Creates a store, serves it, calls `body`, stops the server and checks the store.
  ///
  /// - Parameters:
  ///   - employees: The number of employees. Each has an office, and every tenth a photo.
  ///   - limits: The limits of the server.
  static func use<R>(
    employees: Int = 30, writing: Bool = false, limits: HTTPLimits = .init(),
    _ body: (ServedStore) throws -> R
  ) throws -> R {
    try use(makeModel(), writing: writing, limits: limits) {
      try fill($0, employees)
    } body: {
      try body($0)
    }
  }

  /// Creates a store of any model, serves it, calls `body`, stops the server and checks the store.
  ///
  /// - Parameters:
  ///   - home: The folder in which the user's queries are kept, or `nil` if they aren't.
  ///   - against: A model to compare that of the store with.
  ///   - fill: Inserts objects, which are then committed.
  static func use<R>(
    _ model: ManagedObjectModel, writing: Bool = false, limits: HTTPLimits = .init(),
    queries home: String? = nil, against: ManagedObjectModel? = nil,
    fill: (ManagedObjectContext) throws -> Void, body: (ServedStore) throws -> R
  ) throws -> R {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Company.arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    try fill(context)
    try context.commit()
    var options = StoreBrowser.Options()
    options.allowsWriting = writing
    options.shelf = home.map { QueryShelf(store: store.id, variables: ["HOME": $0]) }
    options.compared = against.map { ComparedModel(name: "Next.model.json", model: $0) }
    let result: R
    do {
      let browser = try StoreBrowser(store, options: options, limits: limits)
      defer {
        browser.stop()
        browser.waitUntilStopped()
      }
      result = try body(
        ServedStore(store: store, browser: browser, client: RawClient(browser)))
    }
    store.close()
    try TemporaryStore.check(path: url.path)
    return result
  }

  static func fill(_ context: ManagedObjectContext, _ count: Int) throws {
    let offices = try ["Riga", "Oslo", "Bern"].map { city in
      let office = try context.insert("Office")
      office["city"] = PropertyValue.string(city)
      return office
    }
    for number in 0..<count {
      let employee = try context.insert("Employee")
      employee["name"] = PropertyValue.string("Employee \(number)")
      employee["age"] = PropertyValue.integer(Int64(20 + number % 50))
      employee["office"] = offices[number % offices.count]
      if number.isMultiple(of: 10) { employee["photo"] = PropertyValue.binary(photo) }
    }
    let project = try context.insert("Project")
    project["title"] = "Bridge"
    project["members"] = Array(try context.objects("Employee").order(by: "name").limit(2).fetch())
  }
}
