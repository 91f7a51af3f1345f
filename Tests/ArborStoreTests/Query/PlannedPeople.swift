import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborStore

/// A small population in which every query has an obvious result, to test predicate, plan and rows
/// together.
struct PlannedPeople {
  let world: QueryWorld
  private var byName: [String: PlainObject] = [:]

  /// Creates 20 companies `c00`…, 200 people `p000`… and 800 employees `e000`…. Ages cycle from 0
  /// to 99, and badges count from 1. Each employee's company and mentor are those with the
  /// employee's number modulo the number of companies and people.
  init() throws {
    world = try QueryWorld(isIndexed: true)
    let companies = try make(20, "Company") { ["name": .string("c" + Self.digits($0, 2))] }
    let people = try make(200, "Person") {
      ["name": .string("p" + Self.digits($0, 3)), "age": .integer(Int64($0 % 100))]
    }
    let employees = try make(800, "Employee") {
      [
        "name": .string("e" + Self.digits($0, 3)), "age": .integer(Int64($0 % 100)),
        "badge": .integer(Int64($0 + 1)),
      ]
    }
    for (index, employee) in employees.enumerated() {
      employee.links["company"] = companies[index % 20]
      employee.links["mentor"] = people[index % 200]
    }
    let all = companies + people + employees
    try world.commit(all)
    for object in all {
      if case .string(let name)? = object.values["name"] { byName[name] = object }
    }
  }

  private static func digits(_ number: Int, _ width: Int) -> String {
    String(repeating: "0", count: width - "\(number)".count) + "\(number)"
  }

  private func make(
    _ count: Int, _ name: String, _ values: (Int) -> [String: PropertyValue]
  ) throws -> [PlainObject] {
    let entity = world.entity(name)
    return try world.store.takeNumbers(count, for: entity).enumerated().map { index, sequence in
      PlainObject(
        ObjectNumber(entity: entity.number, sequence: sequence), entity, values(index))
    }
  }

  func addPerson(_ name: String, note: String) throws {
    try world.commit(make(1, "Person") { _ in ["name": .string(name), "note": .string(note)] })
  }

  private func query(
    _ entityName: String, _ text: String?, _ names: [String], sortKeys: [SortKey] = [],
    limit: Int = 0, offset: Int = 0
  ) throws -> StoreQuery {
    let (store, entity) = (world.store, world.entity(entityName))
    let predicate = try text.map { text in
      try FetchPredicate(
        format: text,
        arguments: names.map { name in byName[name].map { store.objectID($0.number) } })
    }
    return StoreQuery(
      entity: entity,
      predicate: try predicate.map {
        (
          bound: try PredicateBinder.bind($0, to: entity, in: store.schema),
          arguments: $0.arguments
        )
      }, sortKeys: try sortKeys.map { try $0.bind(to: entity, in: store.schema) }, limit: limit,
      offset: offset)
  }

  /// Returns the plan based on counts alone.
  func explain(_ entityName: String, _ text: String) throws -> QueryPlan {
    let snapshot = try world.store.snapshot()
    defer { snapshot.close() }
    return try snapshot.explain(query(entityName, text, []))
  }

  /// Compares the executed plan and the names of the fetched objects. The plan based on counts
  /// alone must have the same steps.
  ///
  /// - Parameters:
  ///   - names: The objects that replace the `%@` of the predicate.
  ///   - other: The executed plan, if the one based on counts was abandoned.
  func expect(
    _ entityName: String, _ text: String?, _ names: [String] = [], sortKeys: [SortKey] = [],
    limit: Int = 0, offset: Int = 0, plan: String, givenUpFor other: String? = nil, rows: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let store = world.store
    let query = try query(
      entityName, text, names, sortKeys: sortKeys, limit: limit, offset: offset)
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    let executor = try QueryExecutor(snapshot.source, query, overlay: nil)
    let fetched = try executor.fetch(SlabAllocator())
    let ran = try #require(try executor.planThatRan(showsValues: true))
    #expect(ran.description == other ?? plan, sourceLocation: sourceLocation)
    let explained = try snapshot.explain(query)
    if other == nil {
      #expect(
        explained.root.isSame(as: ran.root), "\(explained)", sourceLocation: sourceLocation)
    } else {
      #expect(explained.description == plan, sourceLocation: sourceLocation)
    }
    let found = fetched.rows.map { row -> String in
      guard let record = row.record, let entity = store.schema.entity(of: row.number),
        case .attribute(let name) = entity.property(named: "name")
      else { return "?" }
      return record.string(name.field)
    }
    #expect(found.joined(separator: " ") == rows, sourceLocation: sourceLocation)
  }

  /// Checks and closes the store.
  func finish() throws {
    let report = try world.store.check()
    #expect(report.isSound, "\(report)")
    world.store.close()
  }
}

extension QueryPlan.Step {
  /// Whether another step has the same kind, name and inputs, regardless of its number of rows.
  fileprivate func isSame(as other: QueryPlan.Step) -> Bool {
    kind == other.kind && name == other.name && inputs.count == other.inputs.count
      && zip(inputs, other.inputs).allSatisfy { $0.isSame(as: $1) }
  }
}
