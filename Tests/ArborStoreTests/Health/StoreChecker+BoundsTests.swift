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

  @Test(
    "Stored JSON that isn't canonical or doesn't fit its structure is reported, for every object")
  func findsMisfits() throws {
    let shape: JSONShape = [
      "city": .string, "floor": .optional(.scalar(.integer(bits: 8, isSigned: true))),
      "marks": .optional(.list(["day": .date])), "mood": .optional(.cases(["calm", "wild"])),
    ]
    let model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing",
        attributes: [
          AttributeDescription("place", .json, .json(shape), .optional),
          AttributeDescription("tags", .json, .json(.list(.string)), .optional),
        ],
        fetchIndexes: [
          FetchIndexDescription("city", on: "place.city"),
          FetchIndexDescription("floor", on: "place.floor"),
          FetchIndexDescription("tags", on: "tags"),
        ])
    ])
    let file = try StoreEngine.open(StoreOpening(.file(folder.path("b.arbor")), model: model))
    defer { file.close() }
    let draft = Draft(file)
    // What another version of the program may have written is no damage.
    for good: PropertyValue in [
      ["city": "a"], ["city": "a", "floor": 1_000, "more": [1]], ["city": "a", "mood": "new"],
    ] {
      try draft.insert("Thing", ["place": good])
    }
    let values: [(bytes: String, problem: String)] = [
      (#"{"city":7}"#, "city: expected a string, but found the number 7"),
      (#"{"floor":1}"#, "city: expected a string, but it is missing"),
      (
        #"{"city":"a","floor":"b"}"#,
        "floor: expected a whole number of 8 bits, but found the string"
      ),
      (
        #"{"city":"a","floor":1.5}"#,
        "floor: expected a whole number of 8 bits, but found the number"
      ),
      (#"{"city":"a","marks":[{"day":1},{"day":null}]}"#, "marks[1].day: expected seconds"),
      (#"{"city":"a","mood":1}"#, "mood: expected one of calm, wild, but found the number 1"),
      ("[]", "expected an object, but found a list"), ("7", "expected an object"),
      (#"{"city": "a"}"#, "is not JSON in canonical form"), ("{", "is not JSON in canonical form"),
      (#"{"city":"a","city":"b"}"#, "is not JSON in canonical form"),
      (String(repeating: "[", count: 10_000), "is not JSON in canonical form"),
      ("\u{0}", "is not JSON in canonical form"), ("", "is not JSON in canonical form"),
      ("null", "is not JSON in canonical form"),
    ]
    let numbers = try values.map { _ in try draft.insert("Thing", ["place": ["city": "a"]]) }
    try draft.commit()
    #expect(try file.check().isSound)
    for (number, value) in zip(numbers, values) {
      try Vandal(file: file).setBytes(number, "place", to: Array(value.bytes.utf8))
    }
    let problems = try file.check().problems.filter { $0.kind == .missingValue }
    #expect(problems.map(\.object) == numbers)
    for (problem, value) in zip(problems, values) {
      #expect(problem.description.contains(value.problem), "\(problem): \(value)")
      #expect(problem.description.contains(".place"))
    }
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
