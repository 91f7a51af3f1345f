import ArborModel
import ArborStore
import Foundation
import LMDB
import TestLength
import TestSupport
import Testing

/// Salvaging stores of which a part is lost.
@Suite struct StoreSalvageTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("Office.arbor") }
  private var target: String { folder.path("Rescued.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func makeStore() throws { try SalvagedOffice.make(path) }

  @Test("Salvaging a sound store recovers everything")
  func aSoundStoreIsKeptWhole() throws {
    try makeStore()
    let result = try StoreSalvage.run(from: path, to: target)
    #expect(result.outcome.state == .newest)
    #expect(result.outcome.entities.allSatisfy { $0.lost == 0 && $0.doubtful == 0 })
    #expect(result.outcome.lostLinkCount == 0)
    try TemporaryStore.check(path: target)
    #expect(try Objects(path: target) == Objects(path: path))
  }

  @Test("Salvaging a randomly damaged store recovers what it reports")
  func anythingMayBeDamaged() throws {
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

  /// Any single page may be lost. If it contains no record, everything else is recovered, including
  /// links and indexes, because each link is stored on more than one page.
  @Test("Losing any single page without records loses nothing else")
  func everyPageMayBeGone() throws {
    try makeStore()
    let trial = try SalvageTrial(path: path)
    let whole = try Objects(path: path).counts
    #expect(trial.recordCount > 250)
    for page in 0..<trial.pageCount {
      var bytes = trial.bytes
      for offset in page * trial.pageSize..<(page + 1) * trial.pageSize { bytes[offset] = 0 }
      let (problems, outcome) = try trial.salvage(
        bytes, damaged: [UInt64(page)], in: folder, model: OfficeModel.make())
      #expect(problems == [], "page \(page): \(outcome)")
      guard trial.numbers(on: [UInt64(page)]).isEmpty else { continue }
      #expect(outcome.lostLinkCount == 0, "page \(page): \(outcome)")
      #expect(try Objects(path: folder.path("salvaged")).counts == whole, "page \(page)")
    }
  }

  @Test("One intact root page is sufficient, whichever it is", arguments: [0, 1], [false, true])
  func rootPages(page: Int, hasOddCommit: Bool) throws {
    try SalvagedOffice.make(path) { if hasOddCommit { try $0.setMetadata("odd", [1]) } }
    let whole = try Objects(path: path)
    let trial = try SalvageTrial(path: path)
    let start = page * trial.pageSize
    let damages: [(inout [UInt8]) -> Void] = [
      { $0[start + 20] ^= 2 }, { $0[start + 21] ^= 128 }, { $0[start + 16] ^= 1 },
      { $0[start + 41] ^= 0x30 },
      { $0.replaceSubrange(start..<start + 16, with: "SQLite format 3\0".utf8) },
      { $0.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0, count: 4096)) },
    ]
    for (number, damage) in damages.enumerated() {
      var bytes = trial.bytes
      damage(&bytes)
      let damaged = folder.path("damaged-\(number)")
      try Data(bytes).write(to: URL(filePath: damaged))
      for model in [nil, try OfficeModel.make()] {
        do throws(StoreError) {
          try StoreEngine.open(StoreOpening(.file(damaged), model: model)).close()
          Issue.record("damage \(number) was not noticed")
        } catch {
          #expect(error.isCorruption, "damage \(number): \(error)")
        }
      }
      #expect(try Data(contentsOf: URL(filePath: damaged)) == Data(bytes))
      let rescued = folder.path("rescued-\(number)")
      let outcome = try StoreSalvage.run(from: damaged, to: rescued).outcome
      #expect(outcome.lostLinkCount == 0 && outcome.doubtful.isEmpty, "damage \(number)")
      #expect(try Objects(path: rescued) == whole, "damage \(number)")
      try TemporaryStore.check(path: rescued)
    }
  }

  @Test("Purged objects are recovered from no page, except as doubtful ones")
  func whatWasPurgedIsNotKept() throws {
    try makeStore()
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    try file.purge()
    file.close()
    let trial = try SalvageTrial(path: path)
    #expect(trial.recordCount == 0)
    for page in 0..<trial.pageCount {
      var bytes = trial.bytes
      for offset in page * trial.pageSize..<(page + 1) * trial.pageSize { bytes[offset] = 0 }
      let (problems, outcome) = try trial.salvage(
        bytes, damaged: [UInt64(page)], in: folder, model: OfficeModel.make())
      #expect(problems == [], "page \(page): \(outcome)")
    }
  }

  private static func notes(isIndexed: Bool = false) -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note",
        attributes: [.init(name: "text", type: .string, isOptional: true, isIndexed: isIndexed)])
    ])
  }

  /// Salvages the store with a damaged page header, which makes a deleted record valid again: the
  /// last one on the page of the given object.
  private func salvageWithDeletedRecord(besides number: ObjectNumber) throws -> SalvageOutcome {
    let trial = try SalvageTrial(path: path)
    let page = try #require(
      (0..<UInt64(trial.pageCount)).first { trial.numbers(on: [$0]).contains(number) })
    var bytes = trial.bytes
    // Increments the number of nodes: the last, deleted record is still on the page.
    bytes[Int(page) * trial.pageSize + 12] += 2
    let (problems, outcome) = try trial.salvage(bytes, damaged: [page], in: folder)
    #expect(problems == [], "\(outcome)")
    return outcome
  }

  @Test("Records on a page with a damaged header are reported as doubtful")
  func deletedRecordsOnDamagedPagesAreDoubtful() throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: Self.notes()))
    var notes: [ObjectNumber] = []
    for number in 0..<9 {
      let draft = Draft(file)
      notes.append(try draft.insert("Note", ["text": .string("note \(number)")]))
      try draft.commit()
    }
    let deleted = try #require(notes.last)
    let draft = Draft(file)
    try draft.delete(deleted)
    try draft.commit()
    file.close()
    let outcome = try salvageWithDeletedRecord(besides: notes[0])
    #expect(outcome.doubtful == [deleted] && outcome.state == .newest)
    #expect(outcome.entities.map(\.kept) == [8])
  }

  @Test("Without the newest root page and header, the recovered state isn't certain")
  func aStateWithoutItsHeaderIsNotCertain() throws {
    try StoreEngine.open(StoreOpening(.file(path), model: Self.notes())).close()
    var before: [UInt8] = []
    for number in 0..<3 {
      before = Array(try Data(contentsOf: URL(filePath: path)))
      let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      let draft = Draft(file)
      try draft.insert("Note", ["text": .string("\(number)")])
      try draft.commit()
      file.close()
    }
    let trial = try SalvageTrial(path: path)
    let size = trial.pageSize
    var bytes = trial.bytes
    func transaction(_ page: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page * size + 144, as: UInt64.self) }
    }
    var damaged: Set<UInt64> = [transaction(0) > transaction(1) ? 0 : 1]
    for page in 2..<trial.pageCount {
      let range = page * size..<(page + 1) * size
      let isNew = range.upperBound > before.count || before[range] != bytes[range]
      if isNew, Data(bytes[range]).range(of: Data(StoreFormat.headerKey.utf8)) != nil {
        damaged.insert(UInt64(page))
      }
    }
    #expect(damaged.count > 1)
    for page in damaged {
      for offset in Int(page) * size..<(Int(page) + 1) * size { bytes[offset] = 0 }
    }
    let (problems, outcome) = try trial.salvage(
      bytes, damaged: damaged, in: folder, model: Self.notes())
    #expect(problems == [], "\(outcome)")
    #expect(!outcome.isHeaderCertain && outcome.state == .previous, "\(outcome)")
  }

  @Test(
    "Files with other page sizes can be salvaged, with and without root pages",
    arguments: [8192, 16384, 32768], [true, false])
  func pagesOfAnotherSize(
    size: Int, hasRoots: Bool
  ) throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    let draft = Draft(file)
    let tag = try draft.insert("Tag", ["name": .string("all")])
    let project = try draft.insert(
      "Project", ["title": .string(String(repeating: "p", count: 20_000))])
    for number in 0..<20 {
      let person = try draft.insert("Employee", ["employeeID": .integer(Int64(number))])
      try draft.link(person, "tags", tag)
      try draft.link(person, "favourites", project)
    }
    try draft.commit()
    var paged = try PagedFile(copying: file, pageSize: size).bytes
    file.close()
    if !hasRoots { for offset in 0..<2 * size { paged[offset] = 0 } }
    try Data(paged).write(to: URL(filePath: folder.path("paged")))
    let outcome = try StoreSalvage.run(from: folder.path("paged"), to: target).outcome
    #expect(outcome.state == (hasRoots ? .newest : .withoutRoot))
    #expect(outcome.lostLinkCount == 0)
    try TemporaryStore.check(path: target)
    #expect(try Objects(path: target) == Objects(path: path))
  }

  @Test(
    "An unfinished index is built in the new store, at once or in batches", arguments: [0, 100_000])
  func unfinishedIndexesAreFilled(_ most: Int) throws {
    var opening = StoreOpening(.file(path), model: Self.notes())
    let file = try StoreEngine.open(opening)
    let draft = Draft(file)
    for number in 0..<50 { try draft.insert("Note", ["text": .string("\(number)")]) }
    try draft.commit()
    file.close()
    opening.model = Self.notes(isIndexed: true)
    opening.maximumObjectsIndexedAtOnce = 10
    opening.indexBuilds = .left
    try StoreEngine.open(opening).close()
    _ = try StoreSalvage.run(from: path, to: target, maximumObjectsIndexedAtOnce: most)
    opening.location = .file(target)
    let salvaged = try StoreEngine.open(opening)
    defer { salvaged.close() }
    #expect(try salvaged.indexBuilds().isEmpty)
    #expect(try salvaged.check().indexEntryCount == 50)
  }

  @Test(
    "Of objects with the same unique value, one is kept, and links to the other are reported",
    arguments: [0, 100_000])
  func duplicatesAreLeftOut(maximumObjectsIndexedAtOnce: Int) throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    let draft = Draft(file)
    let one = try draft.insert("Company", ["name": "Arbor"])
    let two = try draft.insert("Company", ["name": "Bush"])
    let people = try (0..<2).map {
      try draft.insert("Employee", ["employeeID": .integer(Int64($0))], to: ["company": two])
    }
    try draft.insert("Employee", ["employeeID": 9], to: ["company": one])
    try draft.commit()
    try Vandal(file: file).replace(two, withValuesOf: one)
    file.close()
    let outcome = try StoreSalvage.run(
      from: path, to: target, maximumObjectsIndexedAtOnce: maximumObjectsIndexedAtOnce
    ).outcome
    #expect(outcome.leftOut == [two] && outcome.leftOutCount == 1)
    #expect(outcome.lostLinkCount == 2)
    #expect(Set(outcome.lostLinks.map(\.owner)) == Set(people))
    #expect(outcome.lostLinks.allSatisfy { $0.relationship == "company" && $0.target == two })
    try TemporaryStore.check(path: target)
  }

  @Test("A link that one complete side doesn't contain is removed from the other and reported")
  func linksOfOneSideAreRemoved() throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    let draft = Draft(file)
    let tag = try draft.insert("Tag", ["name": "new"])
    let project = try draft.insert("Project", ["title": "Big"])
    let people = try (0..<2).map {
      try draft.insert("Employee", ["employeeID": .integer(Int64($0))])
    }
    for person in people {
      try draft.link(person, "tags", tag)
      try draft.link(person, "favourites", project)
    }
    try draft.commit()
    let vandal = Vandal(file: file)
    for (owner, entity, name) in [(tag, "Tag", "employees"), (project, "Project", "fans")] {
      let members = try vandal.relationship(entity, name).members
      try vandal.write { transaction, _ in
        _ = try transaction.delete(members, key: owner.rawValue, number: people[0].rawValue)
      }
    }
    file.close()
    let outcome = try StoreSalvage.run(from: path, to: target).outcome
    #expect(outcome.lostLinks.map(\.owner) == [people[0], people[0]])
    #expect(
      Set(outcome.lostLinks.map { "\($0.relationship) \($0.target)" })
        == ["tags \(tag)", "favourites \(project)"])
    try TemporaryStore.check(path: target)
  }

  @Test("Of objects with the same unique value, a doubtful one is left out")
  func doubtfulDuplicatesAreLeftOut() throws {
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note", attributes: [.init(name: "text", type: .string)],
        uniquenessConstraints: [["text"]])
    ])
    let file = try StoreEngine.open(StoreOpening(.file(path), model: model))
    let draft = Draft(file)
    let notes = try (0..<9).map { try draft.insert("Note", ["text": .string("note \($0)")]) }
    try draft.commit()
    // Both in one commit, because copying a page would drop the deleted record.
    try draft.delete(notes[8])
    try draft.update(notes[0], ["text": "note 8"])
    try draft.commit()
    file.close()
    let outcome = try salvageWithDeletedRecord(besides: notes[0])
    #expect(outcome.leftOut == [notes[8]], "\(outcome)")
    #expect(outcome.entities.map(\.kept) == [8])
  }

  @Test("A failed salvage leaves no files and keeps existing ones")
  func nothingIsLeftOfWhatFails() throws {
    #expect(throws: StoreError.self) { try StoreSalvage.run(from: path, to: target) }
    try Data("no store".utf8).write(to: URL(filePath: path))
    #expect(throws: StoreError.self) { try StoreSalvage.run(from: path, to: target) }
    try FileManager.default.removeItem(atPath: path)
    try makeStore()
    let open = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    #expect(throws: StoreError.self) { try StoreSalvage.run(from: path, to: target) }
    open.close()
    try Data().write(to: URL(filePath: target))
    #expect(throws: StoreError.self) { try StoreSalvage.run(from: path, to: target) }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(Set(names) == ["Office.arbor", "Office.arbor-lock", "Rescued.arbor"])
  }
}
