import ArborModel
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct TraversalTests {
  /// Calls `body` with companies in the order of their numbers. `sizes` contains the number of
  /// employees of each.
  private func use(
    _ sizes: [Int], _ body: (PersistentStore, ManagedObjectContext, [Company]) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let companies = sizes.indices.map { index in
        let company = context.insert(Company.self)
        company.name = "\(index)"
        return company
      }
      var count: Int64 = 0
      // Scattered, as the members of growing relationships are.
      for round in 0..<(sizes.max() ?? 0) {
        for (company, size) in zip(companies, sizes) where round < size {
          let employee = context.insert(Employee.self)
          employee.employeeID = count
          employee.company = company
          count += 1
        }
      }
      try context.commit()
      let reader = store.makeContext()
      try body(store, reader, reader.fetch(FetchRequest<Company>()))
    }
  }

  private func employees(_ context: ManagedObjectContext) -> Int {
    context.registeredObjects.count { $0 is Employee }
  }

  @Test("Reading members in order prefetches those of the next objects")
  func membersOfTheNextOnesAreReadAlong() throws {
    try use(Array(repeating: 3, count: 12)) { store, context, companies in
      // Each step reads as many further objects as have been read before, including this one.
      for (index, known) in [(0, 1), (1, 3), (3, 7), (7, 12)] {
        #expect(companies[index].employees.count == 3)
        #expect(employees(context) == 3 * known)
      }
      // The members of the last step are already loaded: the store is closed.
      store.close()
      #expect(companies[7...].allSatisfy { $0.employees.count == 3 })
      #expect(Set(companies[7...].flatMap(\.employees)).count == 15)
    }
  }

  @Test("Reading members out of order prefetches nothing")
  func nothingIsReadAlongOutOfOrder() throws {
    try use(Array(repeating: 3, count: 12)) { _, context, companies in
      var known = 0
      for index in [11, 10, 4, 6, 2, 0, 8] {
        #expect(companies[index].employees.count == 3)
        known += 3
        #expect(employees(context) == known)
      }
      // The same holds when alternating with another relationship.
      let first = try #require(companies[0].employees.first)
      #expect(companies[1].employees.count == 3)
      known += 3
      #expect(first.skills.isEmpty)
      #expect(companies[3].employees.count == 3)
      #expect(employees(context) == known + 3)
    }
  }

  @Test("Objects that aren't registered in the context are skipped when prefetching")
  func objectsThatTheContextDoesNotKeepArePassedOver() throws {
    try use(Array(repeating: 2, count: 12)) { store, _, companies in
      let context = store.makeContext()
      var kept: [Company] = []
      for index in [1, 4, 5, 9, 11] {
        let found = try context.existingObject(with: companies[index].objectID)
        kept.append(try #require(found as? Company))
      }
      #expect(kept[0].employees.count + kept[1].employees.count == 4)
      #expect(employees(context) == 6, "the third one's too")
      #expect(kept[3].employees.count == 2)
      #expect(employees(context) == 10)
    }
  }

  @Test("Large relationships are not prefetched")
  func muchIsNotReadAhead() throws {
    try use([1, 1, 1, 2000, 1]) { _, context, companies in
      for company in companies.prefix(2) {
        #expect(Array(company._toManyView(0) as ToMany<Employee>).count == 1)
      }
      #expect(employees(context) == 3)
      // A view reads members in batches, so it doesn't read those of a large relationship ahead.
      var walk = (companies[3]._toManyView(0) as ToMany<Employee>).makeIterator()
      let first = walk.next()
      #expect(first != nil)
      #expect(employees(context) == 3 + ToMany<Employee>.Iterator.batch)
      #expect(companies[3].employees.count == 2000)
    }
  }

  @Test("Merging a commit of another context discards prefetched members")
  func whatOthersCommitEndsIt() throws {
    try use(Array(repeating: 2, count: 8)) { store, context, companies in
      #expect(companies[0].employees.count + companies[1].employees.count == 4)
      let other = store.makeContext()
      let company = try #require(
        try other.existingObject(with: companies[2].objectID) as? Company)
      other.delete(try #require(company.employees.first))
      try other.commit()
      // The commit hasn't been merged, so the members are unchanged.
      #expect(companies[2].employees.count == 2)
      #expect(companies[3].employees.count == 2)
      #expect(try context.count(Company.self) == 8)
      #expect(companies[2].employees.count == 1)
      #expect(companies[4...].allSatisfy { $0.employees.count == 2 })
    }
  }

  /// Walks through runs of owners agree with the expected members after random moves here and by
  /// another context.
  @Test("Walks through the owners of random members see the current members", arguments: 0..<20)
  func walksSeeWhatIsThere(round: UInt64) throws {
    var random = SeededRandom(seed: 7700 + round)
    try use((0..<20).map { $0 % 5 }) { store, context, companies in
      let writer = store.makeContext()
      let count = try context.count(Employee.self)
      var stored = try context.fetch(Employee.self, sortedBy: ["employeeID"])
        .map { $0.company?.name ?? "" }
      context.reset()
      var here: [Int: String] = [:]
      for _ in 0..<30 {
        let company = "\(Int.random(in: 0..<20, using: &random))"
        let index = Int.random(in: 0..<count, using: &random)
        // Even ones are moved here and odd ones by the other context, so that there are no
        // conflicts.
        let mover = index.isMultiple(of: 2) ? context : writer
        let employee = try #require(
          try mover.fetchOne(Employee.self, matching: "employeeID == \(index)"))
        employee.company = try mover.fetchOne(Company.self, matching: "name == \(company)")
        if mover === context {
          here[index] = company
        } else {
          try writer.commit()
          stored[index] = company
        }
        let fetched = try context.fetch(FetchRequest<Company>())
        let start = Int.random(in: 0..<20, using: &random)
        for company in fetched[start...].prefix(Int.random(in: 1...8, using: &random)) {
          let expected = stored.indices.filter { (here[$0] ?? stored[$0]) == company.name }
          #expect(company.employees.map { Int($0.employeeID) }.sorted() == expected)
        }
        if Int.random(in: 0..<6, using: &random) == 0 {
          try context.commit()
          stored = stored.enumerated().map { here[$0] ?? $1 }
          here = [:]
        }
      }
    }
  }
}
