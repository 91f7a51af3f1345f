import ArborData
import ArborModel
import ArborObjects
import ArborStore
import Foundation
import TestSupport

/// The stores to damage.
enum SalvageStores {
  static func makeOffice(_ path: String, _ random: inout SeededRandom) throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    let company = try draft.insert("Company", ["name": .string("Arbor")])
    let manager = try draft.insert("Manager", ["employeeID": .integer(0)])
    let tags = try (0..<20).map { try draft.insert("Tag", ["name": .string("tag \($0)")]) }
    let project = try draft.insert(
      "Project", ["title": .string(String(repeating: "p", count: 9000))])
    let badges = try draft.entity("Badge")
    var people: [ObjectNumber] = []
    for number in 1...150 {
      let badge = ObjectNumber(
        entity: badges.number, sequence: try file.takeNumbers(1, for: badges).lowerBound)
      let person = try draft.insert(
        "Employee",
        [
          "employeeID": .integer(Int64(number)), "name": .string("name \(number % 40)"),
          "email": .string("\(number)@arbor"),
        ], to: ["company": company, "manager": manager, "badge": badge])
      try draft.insert("Badge", to: ["employee": person], number: badge)
      try draft.link(person, "tags", tags[number % 20])
      people.append(person)
    }
    for person in people.prefix(40) {
      try draft.link(person, "favourites", project)
      let task = try draft.insert("Task", ["title": .string("task")], to: ["project": project])
      try draft.edit(project, "tasks", .add(task))
    }
    let notes = try (0..<100).map { _ in try draft.insert("Task") }
    try draft.commit()
    for round in 0..<8 {
      for person in people where Int.random(in: 0..<4, using: &random) == 0 {
        try draft.update(person, ["salary": .double(Double(round))])
      }
      // Unique values are exchanged between objects.
      let (one, other) = (people[round], people[149 - round])
      let emails = (try draft.value(one, "email"), try draft.value(other, "email"))
      try draft.commit()
      try draft.update(one, ["email": emails.1 ?? .null])
      try draft.update(other, ["email": emails.0 ?? .null])
      try draft.commit()
    }
    for note in notes.shuffled(using: &random).prefix(80) { try draft.delete(note) }
    try draft.commit()
  }

  static func makeAlbum(_ path: String) throws {
    func model(hasStars: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Photo") {
          AttributeDescription("title", .string, .indexed)
          if hasStars { AttributeDescription("stars", .integer16, .indexed, .default(3)) }
          AttributeDescription("image", .binary, .optional, .externalStorage)
          RelationshipDescription("albums", to: "Album", inverse: "photos", .toMany)
        }
        EntityDescription("Album") {
          AttributeDescription("name", .string, .unique)
          RelationshipDescription("photos", to: "Photo", inverse: "albums", .toMany, .ordered)
        }
      }
    }
    try fill(path, model(hasStars: false), 0..<80)
    try fill(path, model(hasStars: true), 80..<120)
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    try file.setMetadata("city", Array("Oslo".utf8))
  }

  private static func fill(
    _ path: String, _ model: ManagedObjectModel, _ numbers: Range<Int>
  ) throws {
    let store = try PersistentStore(model: model, at: .path(path))
    defer { store.close() }
    let context = store.makeContext()
    let album = try context.insert("Album")
    album["name"] = .string("album \(numbers)")
    var photos: [ManagedObject] = []
    for number in numbers {
      let photo = try context.insert("Photo")
      photo["title"] = .string("photo \(number)")
      if number % 8 == 0 {
        photo["image"] = .binary(Data(repeating: UInt8(number), count: 90_000))
      }
      photos.append(photo)
    }
    album["photos"] = photos
    try context.commit()
  }

  static func makeWide(_ path: String) throws {
    let model = ManagedObjectModel(
      entities: (0..<70).map { number in
        EntityDescription(
          name: "Entity\(number)",
          attributes: [.init(name: "title", type: .string, isOptional: true, isIndexed: true)])
      })
    let file = try StoreEngine.open(StoreOpening(.file(path), model: model))
    defer { file.close() }
    let draft = Draft(file)
    for round in 0..<4 {
      for number in 0..<70 {
        try draft.insert("Entity\(number)", ["title": .string("title \(round)")])
      }
      try draft.commit()
    }
  }

  /// Creates a store of objects of a few hundred bytes each, with an index and links.
  static func makeLarge(_ path: String, _ count: Int) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("number", .integer64, .indexed)
        AttributeDescription("text", .string)
        RelationshipDescription("group", to: "Group", inverse: "items")
      }
      EntityDescription("Group") {
        AttributeDescription("name", .string, .unique)
        RelationshipDescription("items", to: "Item", inverse: "group", .toMany)
      }
    }
    let file = try StoreEngine.open(StoreOpening(.file(path), model: model))
    defer { file.close() }
    let text = String(repeating: "text ", count: 80)
    var made = 0
    while made < count {
      let draft = Draft(file)
      let group = try draft.insert("Group", ["name": .string("group \(made)")])
      for _ in 0..<min(10_000, count - made) {
        try draft.insert(
          "Item", ["number": .integer(Int64(made)), "text": .string(text)], to: ["group": group])
        made += 1
      }
      try draft.commit()
    }
  }

  static func zeroRootPages(_ path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.write(contentsOf: Data(count: 8192))
    try file.close()
  }
}
