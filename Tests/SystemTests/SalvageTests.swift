import ArborData
import ArborModel
import ArborObjects
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Salvage of damaged copies of stores of several kinds: what lies on pages that were not damaged
/// is kept as it was, nothing else passes for it, and the new store is sound.
@Suite struct SalvageTests {
  /// What a store holds.
  enum Kind: CaseIterable {
    /// Every kind of relationship, with the pages that many commits have freed.
    case office
    /// Large binaries, records in an older layout, metadata, an index that is half filled.
    case album
    /// More databases than the names of fit on one page.
    case wide
  }

  static let cases = TestLength.of(42, long: 10_000)

  @Test(arguments: Kind.allCases) func keepsWhatIsNotDamaged(_ kind: Kind) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("sound")
    var random = SeededRandom()
    switch kind {
    case .office: try SalvageStores.makeOffice(path, &random)
    case .album: try SalvageStores.makeAlbum(path)
    case .wide: try SalvageStores.makeWide(path)
    }
    let trial = try SalvageTrial(path: path)
    #expect(trial.recordCount > 100)
    print("salvage of \(kind): seed \(random.seed), \(Self.cases) cases")
    let schema = try StoreSalvage.run(from: path, to: folder.path("whole")).schema
    for round in 0..<Self.cases {
      let damage = PageDamage.allCases[round % PageDamage.allCases.count]
      var (bytes, damaged): ([UInt8], Set<UInt64>) = (trial.bytes, [])
      for _ in 0...(round % 4) {
        damaged.formUnion(damage.strike(&bytes, pageSize: trial.pageSize, &random))
      }
      let what = "seed \(random.seed), case \(round), \(damage) of \(damaged.sorted())"
      do {
        let (problems, outcome) = try trial.salvage(
          bytes, damaged: damaged, in: folder, model: schema.model)
        #expect(problems == [], "\(what): \(outcome)")
      } catch {
        // What tells one from another is gone with the catalogue of a store that was migrated.
        guard kind == .album, "\(error)".contains("catalogue") else { throw error }
      }
    }
  }
}

/// The stores that are damaged.
enum SalvageStores {
  static func makeOffice(_ path: String, _ random: inout SeededRandom) throws {
    let file = try StoreFile.open(StoreOpening(.file(path), model: try OfficeModel.make()))
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
      try draft.commit()
    }
    for note in notes.shuffled(using: &random).prefix(80) { try draft.delete(note) }
    try draft.commit()
  }

  static func makeAlbum(_ path: String) throws {
    let first = try ManagedObjectModel {
      Entity("Photo") {
        Attribute("title", .string, .indexed)
        Attribute("image", .binary, .optional, .externalStorage)
        Relationship("albums", to: "Album", inverse: "photos", .toMany)
      }
      Entity("Album") {
        Attribute("name", .string, .unique)
        Relationship("photos", to: "Photo", inverse: "albums", .toMany, .ordered)
      }
    }
    try fill(path, first, 0..<80)
    let second = try ManagedObjectModel {
      Entity("Photo") {
        Attribute("title", .string, .indexed)
        Attribute("stars", .integer16, .indexed, .default(3))
        Attribute("image", .binary, .optional, .externalStorage)
        Relationship("albums", to: "Album", inverse: "photos", .toMany)
      }
      Entity("Album") {
        Attribute("name", .string, .unique)
        Relationship("photos", to: "Photo", inverse: "albums", .toMany, .ordered)
      }
    }
    try fill(path, second, 80..<120)
    let file = try StoreFile.open(StoreOpening(.file(path), model: nil))
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
    let file = try StoreFile.open(StoreOpening(.file(path), model: model))
    defer { file.close() }
    let draft = Draft(file)
    for round in 0..<4 {
      for number in 0..<70 {
        try draft.insert("Entity\(number)", ["title": .string("title \(round)")])
      }
      try draft.commit()
    }
  }
}
