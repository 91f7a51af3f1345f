import ArborModel
import ArborStore
import LMDB
import TestSupport

/// The store that the salvage tests damage.
enum SalvagedOffice {
  /// Creates a store with one of everything, large enough for branch pages.
  ///
  /// - Parameter adjust: A closure that is called with the store before it is closed.
  static func make(_ path: String, adjust: (StoreEngine) throws -> Void = { _ in }) throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    let company = try draft.insert("Company", ["name": .string("Arbor")])
    let manager = try draft.insert("Manager", ["employeeID": .integer(0)])
    let tag = try draft.insert("Tag", ["name": .string("all")])
    let project = try draft.insert(
      "Project", ["title": .string(String(repeating: "p", count: 9000))])
    var people: [ObjectNumber] = []
    let badges = try draft.entity("Badge")
    for number in 1...120 {
      let badge = ObjectNumber(
        entity: badges.number, sequence: try file.takeNumbers(1, for: badges).lowerBound)
      let person = try draft.insert(
        "Employee",
        [
          "employeeID": .integer(Int64(number)), "name": .string("name \(number % 40)"),
          "email": .string("\(number)@arbor"),
        ], to: ["company": company, "manager": manager, "badge": badge])
      try draft.insert("Badge", to: ["employee": person], number: badge)
      people.append(person)
      try draft.link(person, "tags", tag)
    }
    for person in people.prefix(30) {
      try draft.link(person, "favourites", project)
      let task = try draft.insert("Task", ["title": .string("task")], to: ["project": project])
      try draft.edit(project, "tasks", .add(task))
    }
    try draft.commit()
    try adjust(file)
  }
}

/// The records and links of a store, without its history.
struct Objects: Equatable {
  private let databases: [String: [[UInt8]]]

  init(path: String) throws {
    databases = try StoreContents(path: path).databases.filter {
      !["arbor", "history"].contains($0.key)
    }
  }

  /// The number of entries in each database.
  var counts: [String: Int] { databases.mapValues(\.count) }
}
