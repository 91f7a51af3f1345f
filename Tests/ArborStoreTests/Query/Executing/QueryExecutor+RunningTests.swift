import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborStore

/// Results of random queries other than objects, compared with an oracle.
@Suite struct QueryExecutorRunningTests {
  @Test("Fetched numbers and existence agree with the oracle")
  func numbersAndExistenceAgreeWithTheOracle() throws {
    try forRandomQueries(rounds: 300) { test, world, pending, note in
      let snapshot = try world.store.snapshot()
      defer { snapshot.close() }
      let query = try test.query(world)
      let expected = test.expected(pending?.objects ?? world.objects, world.store)
      let found = try snapshot.fetchNumbers(query, overlay: pending?.overlay)
      #expect(found == expected, "\(test)\n\(note)")
      let exists = try snapshot.exists(query, overlay: pending?.overlay)
      #expect(exists == !expected.isEmpty, "\(test)\n\(note)")
    }
  }

  @Test("Consecutive pages together equal the whole result")
  func pagesTogetherAreTheWhole() throws {
    try forRandomQueries(rounds: 250) { test, world, pending, note in
      let snapshot = try world.store.snapshot()
      defer { snapshot.close() }
      let whole = QueryCase(
        entityName: test.entityName, includesSubentities: test.includesSubentities,
        condition: test.condition, sortKeys: test.sortKeys, limit: 0, offset: 0)
      let expected = whole.expected(pending?.objects ?? world.objects, world.store)
      let query = try whole.query(world)
      let size = max(1, expected.count / 5 + test.limit / 10)
      var found: [ObjectNumber] = []
      var continuation: RowContinuation?
      repeat {
        let page = try snapshot.fetchNumbers(
          query.page(size, behind: continuation), overlay: pending?.overlay)
        guard let last = page.last else { break }
        found += page
        continuation = try snapshot.continuation(of: last, in: query, overlay: pending?.overlay)
      } while found.count <= expected.count
      #expect(found == expected, "\(whole) BY \(size)\n\(note)")
    }
  }

  @Test("A page can continue after an object that no longer exists")
  func aContinuationMayBeThatOfAnObjectThatIsGone() throws {
    var random = SeededRandom()
    var world = try QueryWorld(isIndexed: true)
    try world.fill(80, using: &random)
    let snapshot = try world.store.snapshot()
    let entity = world.entity("Person")
    let test = QueryCase(
      entityName: "Person", includesSubentities: true, condition: nil, sortKeys: ["-age"],
      limit: 0, offset: 0)
    let all = try test.query(world)
    let expected = test.expected(world.objects, world.store)
    let gone = ObjectNumber(entity: entity.number, sequence: ObjectNumber.maximumSequence)
    let between = RowContinuation(values: [.integer(40)], number: gone)
    let ages = Dictionary(
      uniqueKeysWithValues: world.objects.map { ($0.number, $0.values["age"] ?? .null) })
    let behind = expected.filter { number in
      guard case .integer(let age)? = ages[number] else { return true }
      return age < 40 || age == 40 && number > gone
    }
    #expect(try snapshot.fetchNumbers(all.page(500, behind: between), overlay: nil) == behind)
    let byNumber = StoreQuery(entity: entity)
    for sequence in [0, 1, gone.sequence] {
      let number = ObjectNumber(entity: entity.number, sequence: sequence)
      let page = byNumber.page(500, behind: RowContinuation(values: [], number: number))
      let rest = expected.sorted().filter { $0 > number }
      #expect(try snapshot.fetchNumbers(page, overlay: nil) == rest)
    }
    snapshot.close()
    #expect(try world.store.check().isSound)
    world.store.close()
  }

  @Test("An ordered index scan starts at the continuation")
  func aScanAlongAnIndexBeginsAtTheContinuation() throws {
    var random = SeededRandom()
    var world = try QueryWorld(isIndexed: true)
    try world.fill(200, using: &random)
    let person = world.entity("Person")
    let number = ObjectNumber(entity: person.number, sequence: 5)
    let snapshot = try world.store.snapshot()
    func ranges(
      _ keys: [SortKey], _ values: [PropertyValue], where predicate: QueryCondition? = nil
    ) throws -> (whole: [ScanRange], rest: [ScanRange]) {
      let test = QueryCase(
        entityName: "Person", includesSubentities: true, condition: predicate, sortKeys: keys,
        limit: 0, offset: 0)
      let continuation = RowContinuation(values: values, number: number)
      let query = try test.query(world).page(3, behind: continuation)
      let executor = try QueryExecutor(snapshot.source, query, overlay: nil)
      guard case .ordered(let scan) = try executor.planner.estimatedPlan().access else {
        return ([], [])
      }
      return (scan.ranges, scan.begun(behind: continuation, query).ranges)
    }
    let forward = try ranges(["age"], [.integer(40)])
    #expect(forward.whole == [.everything])
    #expect(forward.rest.first.map { [0].lexicographicallyPrecedes($0.lower) } == true)
    let backward = try ranges(["-age"], [.integer(40)])
    #expect(backward.rest.first?.lower == [0] && backward.rest.first?.upper != nil)
    #expect(
      backward.rest.first?.upper
        == forward.rest.first.flatMap {
          ScanRange.successor(of: $0.lower)
        })
    // `nil` has the lowest key, so everything follows it.
    let nothing = try ranges(["age"], [.null])
    #expect(nothing.rest.first?.lower == [1])
    let fixed = try ranges(
      ["-name", "score"], ["Bob", .double(1)], where: .compare("age", "==", .integer(40)))
    let (whole, rest) = (try #require(fixed.whole.first), try #require(fixed.rest.first))
    #expect(rest.lower.starts(with: whole.lower) && rest.lower.count > whole.lower.count)
    snapshot.close()
    #expect(try world.store.check().isSound)
    world.store.close()
  }

  @Test("Fetching in pages visits each row once", arguments: ["age", "badge"])
  func noRowIsVisitedTwice(key: String) throws {
    let world = try QueryWorld(isIndexed: true)
    let employee = world.entity("Employee")
    let employees = try world.store.takeNumbers(900, for: employee).map { sequence in
      PlainObject(
        ObjectNumber(entity: employee.number, sequence: sequence), employee,
        ["age": .integer(Int64(30 + sequence % 3)), "badge": .integer(Int64(sequence * 7 % 1009))])
    }
    try world.commit(employees)
    let snapshot = try world.store.snapshot()
    for isAscending in [true, false] {
      let keys = try [
        SortKey(key, isAscending: isAscending).bind(to: employee, in: world.store.schema)
      ]
      let whole = try snapshot.fetchNumbers(
        StoreQuery(entity: employee, sortKeys: keys), overlay: nil)
      var (found, continuation): ([ObjectNumber], RowContinuation?) = ([], nil)
      repeat {
        let query = StoreQuery(
          entity: employee, sortKeys: keys, limit: 50, continuation: continuation)
        let part = try snapshot.fetchNumbers(query, overlay: nil)
        let visited = try snapshot.explain(query, analyzes: true).access.actualRows
        #expect(visited == part.count)
        found += part
        continuation = try part.last.flatMap {
          try snapshot.continuation(of: $0, in: query, overlay: nil)
        }
      } while continuation != nil && found.count <= whole.count
      #expect(found == whole && whole.count == 900)
    }
    snapshot.close()
    #expect(try world.store.check().isSound)
    world.store.close()
  }

  /// Calls `body` with random queries, with and without indexes and pending changes.
  private func forRandomQueries(
    rounds: Int, _ body: (QueryCase, QueryWorld, PendingWorld?, String) throws -> Void
  ) throws {
    var random = SeededRandom()
    let seed = random.seed
    for isIndexed in [true, false] {
      var world = try QueryWorld(isIndexed: isIndexed)
      try world.fill(240, using: &random)
      for round in 0..<TestLength.of(rounds / 3, long: 10 * rounds) {
        let pending = round % 3 == 0 ? try PendingWorld(world, using: &random) : nil
        let test = QueryCase.random(world, using: &random)
        try body(
          test, world, pending, "indexed \(isIndexed), seed \(seed), round \(round)")
      }
      #expect(try world.store.check().isSound)
      world.store.close()
    }
  }
}

extension StoreQuery {
  /// Returns the query for one page of its rows.
  fileprivate func page(_ size: Int, behind continuation: RowContinuation?) -> StoreQuery {
    StoreQuery(
      entity: entity, includesSubentities: includesSubentities, predicate: predicate,
      sortKeys: sortKeys, limit: size, continuation: continuation)
  }
}
