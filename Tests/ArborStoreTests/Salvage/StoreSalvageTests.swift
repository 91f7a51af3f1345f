import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Salvage of stores of which one part is gone.
@Suite struct StoreSalvageTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("Office.arbor") }
  private var target: String { folder.path("Rescued.arbor") }

  init() throws { folder = try TemporaryFolder() }

  /// Fills a store with one of everything, deep enough for branches, with pages that later commits
  /// have freed.
  private func makeStore() throws {
    let file = try StoreFile.open(StoreOpening(.file(path), model: try OfficeModel.make()))
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
  }

  @Test func aSoundStoreIsKeptWhole() throws {
    try makeStore()
    let result = try StoreSalvage.run(from: path, to: target)
    #expect(result.outcome.state == .newest)
    #expect(result.outcome.entities.allSatisfy { $0.lost == 0 && $0.doubtful == 0 })
    #expect(result.outcome.lostLinkCount == 0)
    try TemporaryStore.check(path: target)
    #expect(try Objects(path: target) == Objects(path: path))
  }

  @Test func anythingMayBeDamaged() throws {
    try makeStore()
    let trial = try SalvageTrial(path: path)
    var random = SeededRandom()
    for round in 0..<TestLength.of(60, long: 2000) {
      let damage = PageDamage.allCases[round % PageDamage.allCases.count]
      var (bytes, damaged): ([UInt8], Set<UInt64>) = (trial.bytes, [])
      for _ in 0...(round % 3) {
        damaged.formUnion(damage.strike(&bytes, pageSize: trial.pageSize, &random))
      }
      let (problems, outcome) = try trial.salvage(
        bytes, damaged: damaged, in: folder, model: OfficeModel.make())
      #expect(
        problems == [], "seed \(random.seed), round \(round), \(damage) of \(damaged): \(outcome)")
    }
  }

  /// Any one page may be gone.
  @Test func everyPageMayBeGone() throws {
    try makeStore()
    let trial = try SalvageTrial(path: path)
    #expect(trial.recordCount > 250)
    for page in 0..<trial.pageCount {
      var bytes = trial.bytes
      for place in page * trial.pageSize..<(page + 1) * trial.pageSize { bytes[place] = 0 }
      let (problems, outcome) = try trial.salvage(
        bytes, damaged: [UInt64(page)], in: folder, model: OfficeModel.make())
      #expect(problems == [], "page \(page): \(outcome)")
    }
  }
}

/// The records and links of a store, whatever its history.
struct Objects: Equatable {
  private let databases: [String: [[UInt8]]]

  init(path: String) throws {
    databases = try StoreContents(path: path).databases.filter {
      !["arbor", "history"].contains($0.key)
    }
  }
}
