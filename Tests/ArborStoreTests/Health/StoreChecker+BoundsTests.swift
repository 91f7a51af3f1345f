import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Invalid contents with valid checksums.
@Suite struct StoreCheckerBoundsTests {
  private let folder: TemporaryFolder
  private let file: StoreEngine

  init() throws {
    folder = try TemporaryFolder()
    file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: OfficeModel.make()))
  }

  private func problems() throws -> [StoreCheckReport.Problem] {
    defer { file.close() }
    return try file.check().problems
  }

  @Test("A nil value of a mandatory attribute is reported")
  func findsANilThatMayNotBe() throws {
    let draft = Draft(file)
    try draft.insert("Company", ["name": "Foo"])
    let nameless = try draft.insert("Company")
    try draft.commit()
    let problem = try #require(try problems().first)
    #expect(problem.kind == .missingValue && problem.object == nameless)
    #expect(problem.description == "Company/2.name is nil but must have a value.")
  }

  @Test(
    "NaN is reported, and infinite numbers are accepted",
    arguments: [Double.infinity, -.infinity, .nan])
  func findsNaN(number: Double) throws {
    let draft = Draft(file)
    let ada = try draft.insert("Employee", ["employeeID": 1, "salary": 3])
    try draft.commit()
    let field = try #require(
      draft.entity("Employee").attributes.first { $0.name == "salary" }
    ).field
    let allocator = SlabAllocator()
    let snapshot = try file.snapshot()
    let stored = try #require(try snapshot.record(ada, allocator: allocator))
    snapshot.close()
    let buffer = RecordBuffer(copying: stored.bytes, into: allocator)
    buffer.store(field, number)
    var changes = ChangeSet()
    changes.records.append(
      .update(
        ada, from: stored.version, buffer.view,
        changedProperties: ChangeSet.RecordChange.otherProperties))
    _ = try file.commit(changes)
    let found = try problems()
    guard number.isNaN else {
      #expect(found.isEmpty)
      return
    }
    #expect(found.map(\.kind) == [.missingValue])
    #expect(
      found.first?.description == "Employee/1.salary is NaN or a date that is not finite.")
  }

  @Test("Values of half the expected size are reported, and never read as two numbers")
  func findsValuesOfAnotherSize() throws {
    let tasks = try Vandal(file: file).relationship("Project", "tasks")
    try Vandal(file: file).write { transaction, _ in
      _ = try withUnsafeBytes(of: UInt64(1) << 48) { key in
        try [UInt8](repeating: 1, count: 8).withUnsafeBytes {
          try transaction.put(tasks.members, key: key, value: $0)
        }
      }
    }
    let found = try problems()
    #expect(found.map(\.kind) == [.damagedPage])
    #expect(found.first?.description == "r/Project/tasks has values of 8 bytes instead of 16.")
  }
}
