import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Processing many objects in parts: by ID, in batches, with cursors and in pages.
@Suite struct ManagedObjectContextBatchesTests {
  private func use(
    _ count: Int = 500, inMemory: Bool = true,
    _ body: (PersistentStore, [ObjectID]) throws -> Void
  ) throws {
    try ObjectStore.useOffice(inMemory: inMemory) { store in
      let context = store.makeContext()
      let employees: [Employee] = (0..<count).map { index in
        let employee = index % 5 == 0 ? context.insert(Manager.self) : context.insert(Employee.self)
        (employee.name, employee.age) = ("e\(index % 40)", 20 + index % 30)
        employee.employeeID = Int64(index)
        if index % 7 != 0 { employee.salary = Double(index % 11) }
        employee.nick =
          index % 3 == 0 ? nil : index % 2 == 0 ? "Änn\(index % 4)" : "ann\(index % 4)"
        return employee
      }
      try context.commit()
      try body(store, employees.map(\.objectID))
    }
  }

  private static let orders: [[SortKey]] = [
    [], ["age"], ["-age"], ["salary", "-name"], ["-salary"],
    [.ascending("nick", options: [.caseInsensitive, .diacriticInsensitive])],
    [.descending("nick", options: .caseInsensitive), "age"],
    [.ascending("nick", options: .localized)], [.descending("name", options: .numeric), "age"],
    ["-objectID"],
  ]

  @Test("Objects are returned in the order of their IDs")
  func objectsOfIDsComeInTheirOrder() throws {
    try use { (store, ids) throws in
      let context = store.makeContext()
      var random = SeededRandom()
      let wanted = (0..<200).compactMap { _ in ids.randomElement(using: &random) }
      #expect(try context.objects(with: wanted).map(\.objectID) == wanted)
      #expect(try context.objects(with: []).isEmpty)
      let first = try context.existingObject(with: wanted[0])
      context.delete(first)
      #expect(
        try context.objects(with: wanted).map(\.objectID) == wanted.filter { $0 != wanted[0] })
      let missing = ObjectID(storeID: store.id, entityName: "Employee", number: 9_999_999)
      #expect(
        try context.objects(with: [missing, wanted[1]]).count == (wanted[1] == wanted[0] ? 0 : 1))
      let foreign = ObjectID(storeID: UUID(), entityName: "Employee", number: 1)
      #expect(try failure { _ = try context.objects(with: [foreign]) }.code == .invalidArgument)
      // Pending objects are found, too.
      let fresh = context.insert(Employee.self)
      #expect(try context.objects(with: [fresh.objectID]) == [fresh])
    }
  }

  @Test("Consecutive pages together equal the whole result")
  func pagesTogetherAreTheWhole() throws {
    try use { (store, _) throws in
      for keys in Self.orders {
        for predicate: FetchPredicate? in [nil, "age < 40", "nick != nil AND salary > 2"] {
          let context = store.makeContext()
          var request = FetchRequest<Employee>(predicate: predicate, sortKeys: keys)
          let whole = try context.fetchIDs(request)
          request.fetchLimit = 37
          var found: [ObjectID] = []
          var token: String?
          repeat {
            // A new context for each page, as after a restart.
            let page = try store.makeContext().fetchPage(request, after: token)
            #expect(page.objects.count == 37 || page.next == nil)
            found += page.objects.map(\.objectID)
            token = page.next
          } while token != nil && found.count <= whole.count
          #expect(found == whole, "\(keys) \(predicate.map { "\($0)" } ?? "all")")
        }
      }
    }
  }

  @Test("A page token is valid after the store is reopened")
  func aTokenOutlivesTheStore() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "pages.arbor"))
    var request = FetchRequest<Employee>(predicate: "age > 3", sortKeys: ["-age", "name"])
    request.fetchLimit = 10
    var token: String?
    var seen: [ObjectID] = []
    for round in 0..<3 {
      let store = try PersistentStore(for: Office.classes, at: location)
      if round == 0 {
        let context = store.makeContext()
        for index in 0..<30 {
          let employee = context.insert(Employee.self)
          (employee.age, employee.employeeID) = (20 + index % 7, Int64(index))
        }
        try context.commit()
      }
      let page = try store.makeContext().fetchPage(request, after: token)
      seen += page.objects.map(\.objectID)
      token = page.next
      if round == 2 {
        var all = request
        all.fetchLimit = 0
        #expect(try seen == store.makeContext().fetchIDs(all))
        #expect(token == nil)
        try store.check()
      }
      store.close()
    }
  }

  @Test("Insertions and deletions don't shift the following pages")
  func insertsAndDeletesMoveNoPage() throws {
    try use(100) { (store, _) throws in
      let context = store.makeContext()
      var request = FetchRequest<Employee>(sortKeys: ["age", "employeeID"])
      request.fetchLimit = 20
      let first = try context.fetchPage(request)
      let expected = try context.fetch(FetchRequest<Employee>(sortKeys: request.sortKeys))
      let last = try #require(first.objects.last)
      // Before the page, at its end, and after it. The row of the token is deleted, too.
      for object in [expected[3], last, expected[20]] { context.delete(object) }
      let early = context.insert(Employee.self)
      early.age = 1
      let late = context.insert(Employee.self)
      late.age = 99
      late.employeeID = 1000
      let second = try context.fetchPage(request, after: first.next)
      #expect(second.objects.map(\.employeeID) == expected[21...40].map(\.employeeID))
      try context.commit()
      let again = try store.makeContext().fetchPage(request, after: first.next)
      #expect(again.objects.map(\.objectID) == second.objects.map(\.objectID))
      var rest = request.page(after: second.next)
      rest.fetchLimit = 0
      #expect(try context.fetch(rest).last === late)
      #expect(try context.fetch(rest).count == 60)
    }
  }

  @Test("A token of another request or store is rejected")
  func tokensOfOthersAreRefused() throws {
    try use(60) { (store, _) throws in
      let context = store.makeContext()
      var request = FetchRequest<Employee>(predicate: "age > 20", sortKeys: ["age"])
      request.fetchLimit = 5
      let token = try #require(try context.fetchPage(request).next)
      var others: [FetchRequest<Employee>] = []
      others.append(FetchRequest(predicate: "age > 21", sortKeys: ["age"]))
      others.append(FetchRequest(predicate: "age > 20", sortKeys: ["-age"]))
      others.append(FetchRequest(predicate: "age > 20"))
      others.append(FetchRequest(entity: "Manager", predicate: "age > 20", sortKeys: ["age"]))
      for other in others {
        #expect(
          try failure { _ = try context.fetchPage(other, after: token) }.code
            == .invalidArgument)
      }
      for text in ["", "x", token + "A", String(token.dropLast()), "../../etc"] {
        #expect(
          try failure { _ = try context.fetchPage(request, after: text) }.code
            == .invalidArgument)
      }
      try use(60) { (other, _) throws in
        #expect(
          try failure { _ = try other.makeContext().fetchPage(request, after: token) }.code
            == .invalidArgument)
      }
    }
  }

  @Test("A cursor visits the objects of a fetch in order")
  func cursorsMeetEveryObjectOnce() throws {
    try use { (store, _) throws in
      for keys in Self.orders {
        for predicate: FetchPredicate? in [nil, "age < 30", "salary > 3"] {
          let context = store.makeContext()
          for (limit, offset) in [(0, 0), (120, 0), (0, 7), (30, 480)] {
            var request = FetchRequest<Employee>(predicate: predicate, sortKeys: keys)
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            request.fetchBatchSize = 64
            for most in [0, 65_536] {
              let cursor = try context.cursor(for: request, listingAtMost: most)
              let found = try ids(cursor)
              #expect(try found == context.fetchIDs(request), "\(keys) \(limit) \(offset)")
              let rest = try cursor.next()
              #expect(rest == nil)
            }
          }
        }
      }
    }
  }

  /// Returns the IDs that a cursor visits, and tracks the largest number of rows it kept.
  private func ids(
    _ cursor: FetchCursor<some ManagedObject>, keeping most: inout Int
  ) throws -> [ObjectID] {
    var found: [ObjectID] = []
    while let object = try cursor.next() {
      found.append(object.objectID)
      most = max(most, cursor.heldCount)
    }
    return found
  }

  private func ids(_ cursor: FetchCursor<some ManagedObject>) throws -> [ObjectID] {
    var most = 0
    return try ids(cursor, keeping: &most)
  }

  @Test(
    "A cursor keeps one batch in memory, however many rows there are",
    arguments: [[], ["age"], ["-age"]] as [[SortKey]])
  func aCursorKeepsABatchHoweverManyRowsThereAre(keys: [SortKey]) throws {
    try use(2000) { (store, _) throws in
      for predicate: FetchPredicate? in [
        nil, "age < 48", "salary >= 0", "age > 20 AND nick != 'x'",
      ] {
        var request = FetchRequest<Employee>(predicate: predicate, sortKeys: keys)
        request.fetchBatchSize = 20
        let context = store.makeContext()
        let expected = try store.makeContext().fetchIDs(request)
        #expect(expected.count > 1000)
        var most = 0
        let cursor = try context.cursor(for: request, listingAtMost: 500)
        #expect(try ids(cursor, keeping: &most) == expected)
        #expect(most <= 40)
      }
      // If an index finds few rows, the cursor keeps a list of them.
      let few = FetchRequest<Employee>(predicate: "age == 30", sortKeys: keys)
      var most = 0
      let cursor = try store.makeContext().cursor(for: few, listingAtMost: 500)
      #expect(try ids(cursor, keeping: &most).count == most + 1)
    }
  }

  @Test("A cursor can start after a page", arguments: [[], ["age"], ["salary"]] as [[SortKey]])
  func aCursorGoesOnBehindAPage(keys: [SortKey]) throws {
    try use { (store, _) throws in
      let context = store.makeContext()
      var request = FetchRequest<Employee>(predicate: "age > 22", sortKeys: keys)
      request.fetchBatchSize = 50
      let token = try #require(try context.fetchPage(request).next)
      let whole = try context.fetchIDs(request)
      let cursor = try context.cursor(for: request.page(after: token), listingAtMost: 0)
      #expect(try ids(cursor) == Array(whole[50...]))
    }
  }

  @Test("A cursor lists all rows only if no index has their order")
  func onlyASortThatNoIndexGivesIsAList() throws {
    try use { (store, _) throws in
      let request = FetchRequest<Employee>(sortKeys: ["salary"])
      let cursor = try store.makeContext().cursor(for: request, listingAtMost: 0)
      #expect(cursor.heldCount == 500)
    }
  }

  @Test("A cursor includes pending changes in their order")
  func aCursorSeesPendingChangesInTheirPlaces() throws {
    var random = SeededRandom()
    try use { (store, _) throws in
      let context = store.makeContext()
      for employee in try context.fetch(Employee.self) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: employee.age = Int.random(in: 18...52, using: &random)
        case 1: context.delete(employee)
        case 2:
          let fresh = context.insert(Employee.self)
          fresh.age = Int.random(in: 18...52, using: &random)
        default: break
        }
      }
      for keys: [SortKey] in [[], ["age"], ["-age"]] {
        for predicate: FetchPredicate? in [nil, "age < 40"] {
          var request = FetchRequest<Employee>(predicate: predicate, sortKeys: keys)
          request.fetchBatchSize = 30
          let cursor = try context.cursor(for: request, listingAtMost: 0)
          let expected = try context.fetchIDs(request)
          #expect(try ids(cursor) == expected, "seed \(random.seed)")
        }
      }
    }
  }

  @Test(
    "A cursor visits each object once, even if the loop moves it ahead", arguments: [true, false])
  func whatTheLoopMovesAheadIsMetOnce(commits: Bool) throws {
    try use { (store, ids) throws in
      let context = store.makeContext()
      var request = FetchRequest<Employee>(sortKeys: ["age"])
      request.fetchBatchSize = 16
      let cursor = try context.cursor(for: request)
      var met: Set<ObjectID> = []
      var count = 0
      while let employee = try cursor.next(), count <= ids.count {
        count += 1
        met.insert(employee.objectID)
        employee.age += 7
        if commits, count % 40 == 0 { try context.commit() }
      }
      #expect(count == ids.count && met.count == ids.count)
      try context.commit()
    }
  }

  @Test("A cursor sorts rows whose order truncated keys don't determine")
  func keysThatDoNotTellTheOrderAreSorted() throws {
    let model = try ManagedObjectModel(versionIdentifier: "1") {
      EntityDescription("Page") { AttributeDescription("text", .string, .indexed, .optional) }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let long = String(repeating: "x", count: 600)
      for index in 0..<200 {
        let page = try context.insert("Page")
        let text = index % 3 == 0 ? "\(index)" : index % 3 == 1 ? "\(long)\(200 - index)" : "y"
        try page.setValue(.string(text), forKey: "text")
      }
      try context.commit()
      var request = FetchRequest<ManagedObject>(entity: "Page", sortKeys: ["text"])
      request.fetchBatchSize = 30
      let cursor = try context.cursor(for: request)
      #expect(try ids(cursor) == context.fetchIDs(request))
    }
  }

  @Test("A cursor skips objects that are deleted during iteration")
  func aCursorPassesOverWhatIsDeletedMeanwhile() throws {
    try use(50) { (store, ids) throws in
      for keys: [SortKey] in [[], ["employeeID"]] {
        let context = store.makeContext()
        var request = FetchRequest<Employee>(sortKeys: keys)
        request.fetchBatchSize = 10
        let cursor = try context.cursor(for: request)
        var count = 0
        while let employee = try cursor.next() {
          count += 1
          guard count == 5 else { continue }
          try context.objects(Employee.self).filter("employeeID >= \(40)").delete()
          #expect(!employee.isDeleted)
        }
        #expect(count == 40)
        context.rollback()
      }
      #expect(ids.count == 50)
    }
  }
}
