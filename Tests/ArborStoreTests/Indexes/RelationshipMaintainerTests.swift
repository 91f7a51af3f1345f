import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct RelationshipMaintainerTests {
  /// Adding a member twice or removing a missing one has no effect, so edits of two contexts
  /// commute.
  @Test("Adding a member twice or removing a missing one has no effect")
  func editsCommute() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let ada = try draft.insert("Employee", ["employeeID": 1])
      let tags = try (0..<3).map { try draft.insert("Tag", ["name": .string("\($0)")]) }
      try draft.link(ada, "tags", tags[0])
      try draft.link(ada, "tags", tags[0])
      try draft.unlink(ada, "tags", tags[1])
      try draft.commit()
      try draft.link(ada, "tags", tags[0])
      try draft.link(ada, "tags", tags[1])
      try draft.unlink(ada, "tags", tags[1])
      try draft.unlink(ada, "tags", tags[2])
      try draft.link(ada, "tags", tags[2])
      try draft.commit()
      #expect(try draft.members(ada, "tags") == [tags[0], tags[2]])
      #expect(try draft.members(tags[2], "employees") == [ada])
    }
  }

  @Test("Derived members follow the to-one fields, in bulk and individually")
  func derivedMembersFollowTheFields() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let companies = try (0..<4).map {
        try draft.insert("Company", ["name": .string("\($0)")])
      }
      let people = try (0..<400).map { index in
        try draft.insert(
          index % 3 == 0 ? "Manager" : "Employee", ["employeeID": .integer(Int64(index))],
          to: ["company": companies[index % 4]])
      }
      try draft.commit()
      for (index, company) in companies.enumerated() {
        let expected = people.enumerated().filter { $0.offset % 4 == index }.map(\.element)
        #expect(try draft.members(company, "employees") == expected.sorted())
      }
      for (index, person) in people.enumerated() where index % 4 == 1 {
        try draft.update(person, to: ["company": index % 8 == 1 ? nil : companies[0]])
      }
      try draft.commit()
      #expect(try draft.members(companies[1], "employees") == [])
      #expect(try draft.members(companies[0], "employees").count == 150)
    }
  }

  @Test("Ascending owners fill pages, with half as many pages as if they were split in the middle")
  func ascendingOwnersFillPages() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      for index in 0..<3000 {
        let company = try draft.insert("Company", ["name": .string("\(index)")])
        try draft.insert(
          "Employee", ["employeeID": .integer(Int64(index))], to: ["company": company])
      }
      try draft.commit()
      let vandal = Vandal(file: store.file)
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let members = try vandal.relationship("Company", "employees").members
      let pages = try snapshot.reader.statistics(members).leafPages
      // Per entry: a key of 8 bytes, a value of 8, a node header of 8, and an offset of 2.
      #expect(pages <= 3000 * 26 / 4080 + 2)
    }
  }
}
