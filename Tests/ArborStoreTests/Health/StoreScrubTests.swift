import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// The findings of a scrub, the record it stores, and how it ends.
@Suite struct StoreScrubTests {
  private func fill(_ file: StoreEngine, _ count: Int = 60) throws -> [ObjectNumber] {
    let draft = Draft(file)
    let company = try draft.insert("Company", ["name": .string("Foo")])
    let people = try (0..<count).map { number in
      try draft.insert(
        "Employee",
        ["employeeID": .integer(Int64(number)), "name": .string("name \(number)"), "age": 30],
        to: ["company": company])
    }
    try draft.commit()
    return people
  }

  @Test("A scrub of a sound store records the time and reports its progress")
  func aSoundStoreGetsItsTime() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try fill(store.file)
      let made = try #require(try store.file.lastScrub())
      #expect(abs(made.timeIntervalSinceNow) < 60)
      #expect(try !store.file.isScrubDue(3600))
      try store.file.setScrubRecord(nil)
      #expect(try store.file.isScrubDue(3600))
      let steps = Steps()
      try store.file.scrub { steps.note($0) }
      #expect(try #require(try store.file.lastScrub()) >= made)
      #expect(try !store.file.isScrubDue(3600))
      #expect(try store.file.isScrubDue(0))
      #expect(steps.isWhole)
    }
  }

  private final class Steps: Sendable {
    private let seen = LockedSteps()
    func note(_ step: StoreScrubProgress) { seen.append(step) }
    var isWhole: Bool {
      let steps = seen.all
      return steps.map(\.done) == Array(0...(steps.first?.total ?? -1))
    }
  }

  @Test("A scrub that ends early and continues during commits finds nothing in a sound store")
  func commitsGoOn() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let people = try fill(store.file)
      try store.file.setScrubRecord(nil)
      var pauses = 0
      func run(until most: Int) throws {
        pauses = 0
        let scrub = StoreScrub(store.file, .atOnce, stint: 0) { _ in
          pauses += 1
          if pauses.isMultiple(of: 7) {
            let draft = Draft(store.file)
            _ = try? draft.insert("Tag", ["name": .string("tag \(pauses)")])
            try? draft.update(people[pauses % people.count], ["age": .integer(Int64(pauses % 90))])
            _ = try? draft.commit()
          }
          return pauses > most
        }
        try scrub.run(anew: false)
      }
      #expect(throws: StoreError.self) { try run(until: 12) }
      try store.check()
      try run(until: .max)
      #expect(pauses > 8)
      #expect(try !store.file.isScrubDue(3600))
      try store.check()
    }
  }

  @Test("A scrub continues without reading again what it has read, unless it began long ago")
  func itGoesOnWhereItEnded() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try fill(store.file)
      var record = ScrubRecord(completed: Date(timeIntervalSinceNow: -1e6))
      record.begun = .now
      record.hasReadPages = true
      record.databases = Set(
        try store.file.digestedDatabases().map { EntryDigest.seed(of: $0.database.name) })
      func pauses() throws -> Int {
        var count = 0
        try StoreScrub(store.file, .atOnce, stint: 0) { _ in
          count += 1
          return false
        }.run(anew: false)
        return count
      }
      try store.file.setScrubRecord(record)
      #expect(try pauses() == 0)
      record.begun = Date(timeIntervalSinceNow: -1e6)
      try store.file.setScrubRecord(record)
      #expect(try pauses() > 8)
    }
  }

  @Test(
    "Bits that changed on disk are found in an index entry, a link and a record",
    arguments: ["i/Employee/age", "r/Company/employees", "e/Employee"])
  func changedBitsAreFound(name: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    var file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    _ = try fill(file, 9)
    let root = try root(of: name, file)
    file.close()
    var bytes = try Data(contentsOf: URL(filePath: path))
    // Values fill pages from the end. The last of nine numbers is increased, so that the page stays
    // sound.
    let end = (root + 1) * 4096
    let isRecord = name.hasPrefix("e/")
    let offset = isRecord ? end - 30 : try #require(bytes[..<end].lastIndex { $0 == 9 })
    bytes[offset] ^= isRecord ? 0x40 : 0x10
    try bytes.write(to: URL(filePath: path))
    file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    #expect {
      try file.scrub()
    } throws: { error in
      guard case .corrupted(let entity, _, let what)? = error as? StoreError else { return false }
      return what.contains("the last commits wrote") ? entity != nil : isRecord
    }
    // The store is suspect from now on.
    #expect(throws: StoreError.self) { try file.purge() }
    #expect(try !file.check().isSound)
  }

  private func root(of name: String, _ file: StoreEngine) throws -> Int {
    let snapshot = try file.environment.beginRead()
    defer { _ = snapshot.id }
    let record = try Array(name.utf8).withUnsafeBytes {
      try snapshot.get(.unnamed, key: $0).map { Array($0) }
    }
    return try #require(record)[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  @Test("A read-only store can be scrubbed, and nothing is written")
  func readersScrubToo() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try fill(store.file)
      try store.file.setScrubRecord(nil)
      let copy = store.folder.path("copy.arbor")
      try store.file.copy(to: copy, compacting: false)
      var opening = StoreOpening(.file(copy), model: nil)
      opening.isReadOnly = true
      let file = try StoreEngine.open(opening)
      defer { file.close() }
      try file.scrub()
      #expect(try file.lastScrub() == nil)
    }
  }

  @Test("An interrupted scrub keeps its progress")
  func itKeepsWhereItEnded() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try fill(store.file)
      let completed = try store.file.completedScrub()
      let steps = LockedSteps()
      #expect(throws: StoreError.self) {
        try StoreScrub(store.file, .atOnce, stint: 0, { steps.append($0) }) { _ in
          (steps.all.last?.done ?? 0) >= 5
        }.run(anew: true)
      }
      let record = try #require(try store.file.storedScrubRecord())
      #expect(record.completed == completed && record.begun != nil && record.hasReadPages)
      #expect(record.databases.count == 4)
      try StoreScrub(store.file, .atOnce) { _ in false }.run(anew: false)
      let ended = try #require(try store.file.storedScrubRecord())
      #expect(ended == ScrubRecord(completed: ended.completed) && ended.completed != completed)
    }
  }

  /// A branch page from before the last commit is found. It and the pages below it are sound in
  /// themselves, so that using them doesn't reveal that they are outdated. The digests do, and so
  /// does reading all pages, because the outdated branch refers to pages that are listed as free.
  @Test("A branch page from before the last commit is found by the digests")
  func branchesOfAFormerStateAreFound() throws {
    let folder = try TemporaryFolder()
    var opening = StoreOpening(.file(folder.path("a.arbor")), model: try OfficeModel.make())
    opening.scrubInterval = nil
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    let people = try fill(file, 400)
    var former: Data?
    for round in 0..<8 {
      let person = people[round * 37]
      let before = try self.bytes(of: person, in: file)
      let draft = Draft(file)
      try draft.update(person, ["age": .integer(Int64(60 + round))])
      try draft.commit()
      // The record claims that all pages were read, so that only the digests are left.
      var record = ScrubRecord()
      (record.begun, record.hasReadPages) = (.now, true)
      try file.setScrubRecord(record)
      let root = try root(of: "e/Employee", file)
      var bytes = try Data(contentsOf: URL(filePath: folder.path("a.arbor")))
      let page = root * 4096..<(root + 1) * 4096
      let present = bytes[page]
      #expect(present[page.lowerBound + 10] == 1, "a branch")
      if let former {
        bytes.replaceSubrange(page, with: former)
        // A page contains its own number.
        bytes.replaceSubrange(page.prefix(8), with: present.prefix(8))
        #expect(
          try scrubbed(bytes, in: folder, anew: false)
            == "The records of Employee differ from what the last commits wrote: a page of the "
            + "file is damaged or outdated.")
        #expect(try scrubbed(bytes, in: folder, anew: true).contains("it is used twice"))
        let copy = try open(bytes, in: folder)
        #expect(try self.bytes(of: person, in: copy) == before)
        copy.close()
      }
      former = present
    }
    try TemporaryStore.check(path: folder.path("a.arbor"))
  }

  private func bytes(of number: ObjectNumber, in file: StoreEngine) throws -> [UInt8]? {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let allocator = SlabAllocator()
    return try withExtendedLifetime(allocator) {
      try snapshot.record(number, allocator: allocator).map { Array($0.bytes) }
    }
  }

  private func open(_ bytes: Data, in folder: TemporaryFolder) throws -> StoreEngine {
    let path = folder.path("copy.arbor")
    try? FileManager.default.removeItem(atPath: path + "-lock")
    try bytes.write(to: URL(filePath: path))
    var opening = StoreOpening(.file(path), model: nil)
    opening.looksForDamage = false
    return try StoreEngine.open(opening)
  }

  /// Returns the finding of a scrub of a damaged copy.
  private func scrubbed(_ bytes: Data, in folder: TemporaryFolder, anew: Bool) throws -> String {
    let file = try open(bytes, in: folder)
    defer { file.close() }
    do throws(StoreError) {
      try StoreScrub(file, .atOnce) { _ in false }.run(anew: anew)
    } catch {
      guard case .corrupted(_, _, let what) = error else { throw error }
      return what
    }
    Issue.record("nothing was found")
    return ""
  }
}
