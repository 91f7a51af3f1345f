import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// What a scrub finds, what it leaves in the file, and how it ends.
@Suite struct StoreScrubTests {
  private func fill(_ file: StoreFile, _ count: Int = 60) throws -> [ObjectNumber] {
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

  private func state(_ file: StoreFile) throws -> (isKnown: Bool, isCounting: Bool) {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    guard case .known(let digests) = try file.digests(snapshot) else { return (false, false) }
    return (!digests.isCounting, digests.isCounting)
  }

  private func setRecord(_ record: ScrubRecord?, _ file: StoreFile) throws {
    try file.write { (transaction, _) throws(StoreError) in
      try storing { () throws(LMDBError) in
        let key = Array(StoreFormat.scrubKey.utf8)
        guard let record else {
          try transaction.delete(file.databases.arbor, key: key)
          return
        }
        try transaction.put(file.databases.arbor, key: key, value: record.encoded())
      }
    }
  }

  @Test func aSoundStoreGetsItsTime() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try fill(store.file)
      let made = try #require(try store.file.lastScrub())
      #expect(abs(made.timeIntervalSinceNow) < 60)
      #expect(try !store.file.isScrubDue(3600))
      try setRecord(nil, store.file)
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

  /// Digests that a library without them left behind are counted while others commit, and a scrub
  /// that was ended goes on where it was.
  @Test func unknownDigestsAreCounted() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let people = try fill(store.file)
      let vandal = Vandal(file: store.file)
      let tags = try vandal.database(records: "Tag")
      try vandal.write { transaction, _ in _ = try transaction.reader.entryCount(tags) }
      #expect(try state(store.file) == (false, false))
      #expect(try store.file.isScrubDue(3600))
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
      #expect(try state(store.file) == (false, true))
      try store.check()
      try run(until: .max)
      #expect(pauses > 8)
      #expect(try state(store.file) == (true, false))
      #expect(try !store.file.isScrubDue(3600))
      try store.check()
    }
  }

  /// What a scrub has read it does not read again when it goes on.
  @Test func itGoesOnWhereItEnded() throws {
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
      try setRecord(record, store.file)
      #expect(try pauses() == 0)
      record.begun = Date(timeIntervalSinceNow: -1e6)
      try setRecord(record, store.file)
      #expect(try pauses() > 8)
    }
  }

  /// An index entry, a link and a record whose bits have changed on the medium.
  @Test(arguments: ["i/Employee/age", "r/Company/employees", "e/Employee"])
  func changedBitsAreFound(name: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    var file = try StoreFile.open(StoreOpening(.file(path), model: OfficeModel.make()))
    _ = try fill(file, 9)
    let root = try root(of: name, file)
    file.close()
    var bytes = try Data(contentsOf: URL(filePath: path))
    // Values fill pages from the end. The last of nine numbers becomes a greater one, so that the
    // page stays sound.
    let end = (root + 1) * 4096
    let isRecord = name.hasPrefix("e/")
    let place = isRecord ? end - 30 : try #require(bytes[..<end].lastIndex { $0 == 9 })
    bytes[place] ^= isRecord ? 0x40 : 0x10
    try bytes.write(to: URL(filePath: path))
    file = try StoreFile.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    #expect {
      try file.scrub()
    } throws: { error in
      guard case .corrupted(let entity, _, let what)? = error as? StoreError else { return false }
      return what.contains("former state") ? entity != nil : isRecord
    }
    // The store is suspect from then on.
    #expect(throws: StoreError.self) { try file.purge() }
    #expect(try !file.check().isSound)
  }

  private func root(of name: String, _ file: StoreFile) throws -> Int {
    let snapshot = try file.environment.beginRead()
    defer { _ = snapshot.id }
    let record = try Array(name.utf8).withUnsafeBytes {
      try snapshot.get(.unnamed, key: $0).map { Array($0) }
    }
    return try #require(record)[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// A store that may only be read is scrubbed, and nothing is written.
  @Test func readersScrubToo() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try fill(store.file)
      try setRecord(nil, store.file)
      let copy = store.folder.path("copy.arbor")
      try store.file.copy(to: copy, compacting: false)
      var opening = StoreOpening(.file(copy), model: nil)
      opening.isReadOnly = true
      let file = try StoreFile.open(opening)
      defer { file.close() }
      try file.scrub()
      #expect(try file.lastScrub() == nil)
    }
  }
}
