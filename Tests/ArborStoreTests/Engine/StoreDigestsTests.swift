import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// Damage that checksums don't detect: outdated pages, and changed entries of indexes and
/// relationships.
@Suite struct StoreDigestsTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("office.arbor") }
  private static let pageSize = 4096

  init() throws { folder = try TemporaryFolder() }

  /// The contents of a small store's file, in which each database fits on one page.
  private struct Pages {
    var bytes: Data
    var roots: [String: Int] = [:]

    init(_ path: String, _ file: StoreEngine) throws {
      bytes = try Data(contentsOf: URL(filePath: path))
      let snapshot = try file.environment.beginRead()
      for name in try file.environment.databaseNames() {
        let record = try Array(name.utf8).withUnsafeBytes {
          try snapshot.get(.unnamed, key: $0).map { Array($0) }
        }
        guard let record, record.count == 48, record[6] == 1 else { continue }
        let root = record[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
        roots[name] = root
      }
      _ = snapshot.id
    }

    func page(_ name: String) -> Data? {
      roots[name].map { bytes[$0 * pageSize..<($0 + 1) * pageSize] }
    }

    /// Replaces the current page of a database with its former one.
    mutating func putBack(_ name: String, of former: Pages) throws {
      let root = try #require(roots[name])
      var page = try #require(former.page(name))
      withUnsafeBytes(of: UInt64(root).littleEndian) {
        page.replaceSubrange(page.startIndex..<page.startIndex + 8, with: $0)
      }
      bytes.replaceSubrange(root * pageSize..<(root + 1) * pageSize, with: page)
    }
  }

  /// Returns a store's pages before and after a commit that changes a record, an index and two
  /// relationships without changing the number of their entries.
  private func pages() throws -> (former: Pages, present: Pages) {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    let companies = try ["Foo", "Bar"].map { try draft.insert("Company", ["name": .string($0)]) }
    let tags = try ["new", "old"].map { try draft.insert("Tag", ["name": .string($0)]) }
    let people = try (0..<8).map { number in
      try draft.insert(
        "Employee", ["employeeID": .integer(number), "age": 30], to: ["company": companies[0]])
    }
    for person in people { try draft.link(person, "tags", tags[0]) }
    try draft.commit()
    try draft.update(people[0], ["age": 40], to: ["company": companies[1]])
    try draft.commit()
    let former = try Pages(path, file)
    try draft.update(people[0], ["age": 41], to: ["company": companies[0]])
    try draft.update(people[1], ["age": 42], to: ["company": companies[1]])
    try draft.unlink(people[0], "tags", tags[0])
    try draft.link(people[0], "tags", tags[1])
    try draft.commit()
    return (former, try Pages(path, file))
  }

  private func problems() throws -> [StoreCheckReport.Problem] {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    return try file.check().problems
  }

  private func write(_ pages: Pages) throws { try pages.bytes.write(to: URL(filePath: path)) }

  @Test("Any outdated page of a database is detected")
  func aFormerPageInsteadOfAnyOtherIsFound() throws {
    let (former, present) = try pages()
    #expect(try problems().isEmpty)
    let changed = present.roots.keys.filter { present.page($0) != former.page($0) }
    #expect(changed.contains("e/Employee") && changed.contains("i/Employee/age"))
    #expect(changed.contains("r/Company/employees") && changed.contains("r/Employee/tags"))
    for name in changed {
      var damaged = present
      guard former.roots[name] != nil, name != "arbor" else { continue }
      try damaged.putBack(name, of: former)
      guard damaged.bytes != present.bytes else { continue }
      try write(damaged)
      #expect(
        try problems().contains { $0.kind == .digest || $0.kind == .damagedPage }, "\(name)")
      var opening = StoreOpening(.file(path), model: nil)
      opening.checksEveryPage = true
      #expect(throws: StoreError.self, "\(name)") { try StoreEngine.open(opening).close() }
    }
  }

  @Test("Outdated pages that are consistent with each other are found by the digests alone")
  func aFormerStateUnderANewerHeaderIsFoundByItsDigestsAlone() throws {
    var (former, present) = try pages()
    let names = present.roots.keys.filter {
      former.roots[$0] != nil && $0 != "arbor" && present.page($0) != former.page($0)
    }
    for name in names { try present.putBack(name, of: former) }
    try write(present)
    let found = try problems()
    #expect(Set(found.map(\.kind)) == [.digest])
    #expect(
      found.contains {
        $0.entity == "Employee"
          && $0.description
            == "The records of Employee differ from what the last commits wrote: a page of the "
            + "file is damaged or outdated."
      })
    #expect(
      found.contains { $0.description.hasPrefix("The entries of the index Employee.age differ") })
    #expect(found.contains { $0.description.hasPrefix("The links of Company.employees differ") })
    #expect(found.contains { $0.description.hasPrefix("The links of Employee.tags differ") })
  }

  @Test("A damaged record of digests is reported by the check")
  func damagedDigestsAreFound() throws {
    var (_, present) = try pages()
    let key = Data(StoreFormat.digestsKey.utf8)
    var start = present.bytes.startIndex
    while let found = present.bytes[start...].range(of: key) {
      present.bytes[found.upperBound + 18] ^= 1
      start = found.upperBound
    }
    try write(present)
    #expect(try problems().map(\.description) == ["The entry \"header-digests\" is damaged."])
  }

  // MARK: Valid and invalid

  private func isKnown(_ file: StoreEngine) throws -> Bool {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    do throws(StoreError) { _ = try file.digests(snapshot) } catch {
      guard case .corrupted = error else { throw error }
      return false
    }
    return true
  }

  @Test("A transaction that doesn't maintain the digests is found, and later commits keep it so")
  func transactionsWithoutDigestsAreFound() throws {
    let folder = try TemporaryFolder()
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: OfficeModel.make()))
    defer { file.close() }
    #expect(try isKnown(file))
    try Vandal(file: file).writeHeaderAlone()
    #expect(try !isKnown(file))
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "new"])
    try draft.commit()
    #expect(try !isKnown(file))
    #expect(
      try file.check().problems.map(\.description)
        == ["The entry \"header-digests\" is damaged."])
    #expect(throws: StoreError.self) { try file.scrub() }
  }

  @Test("Digests stay known after copying, compacting, purging and salvaging")
  func copiesCompactionsAndSalvagesKeepThem() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      for number in 0..<40 { try draft.insert("Tag", ["name": .string("tag \(number)")]) }
      try draft.commit()
      for compacting in [false, true] {
        let path = store.folder.path("copy\(compacting).arbor")
        try store.file.copy(to: path, compacting: compacting)
        let copy = try StoreEngine.open(StoreOpening(.file(path), model: nil))
        defer { copy.close() }
        #expect(try isKnown(copy))
        #expect(try copy.check().isSound)
      }
      try store.file.compact()
      #expect(try isKnown(store.file))
      try store.check()
      var purge = ChangeSet()
      purge.purges = true
      _ = try store.file.commit(purge)
      #expect(try isKnown(store.file))
      let rescued = store.folder.path("rescued.arbor")
      _ = try StoreSalvage.run(from: store.folder.path("copytrue.arbor"), to: rescued)
      let copy = try StoreEngine.open(StoreOpening(.file(rescued), model: nil))
      #expect(try isKnown(copy))
      #expect(try copy.check().isSound)
      copy.close()
    }
  }
}
