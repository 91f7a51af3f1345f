import ArborModel
import ArborStore
import Foundation
import TestSupport

/// A random query and its expected result.
struct QueryCase {
  let entityName: String
  let includesSubentities: Bool
  let condition: QueryCondition?
  let sortKeys: [SortKey]
  let limit: Int
  let offset: Int

  // MARK: Asking the store

  func query(_ world: QueryWorld) throws -> StoreQuery {
    let entity = world.entity(entityName)
    let schema = world.store.schema
    let predicate = try condition?.predicate(world.store)
    return StoreQuery(
      entity: entity, includesSubentities: includesSubentities,
      predicate: try predicate.map {
        (bound: try PredicateBinder.bind($0, to: entity, in: schema), arguments: $0.arguments)
      },
      sortKeys: try sortKeys.map { try $0.bind(to: entity, in: schema) }, limit: limit,
      offset: offset)
  }

  // MARK: The oracle

  func expected(_ objects: [PlainObject], _ store: StoreEngine) -> [ObjectNumber] {
    let wanted = objects.filter { object in
      let isOfEntity =
        includesSubentities
        ? object.entity.lineage.contains { store.schema.entities[$0].name == entityName }
        : object.entity.name == entityName
      return isOfEntity && condition?.holds(object, store) ?? true
    }
    let keyed = wanted.map { object in
      (number: object.number, values: sortKeys.map { object.value($0.keyPath, store) })
    }
    let sorted = keyed.sorted { left, right in
      for (index, key) in sortKeys.enumerated() {
        let order = Self.order(left.values[index], right.values[index], key.options)
        if order != 0 { return key.isAscending ? order < 0 : order > 0 }
      }
      return left.number < right.number
    }
    let rest = sorted.dropFirst(offset)
    return (limit > 0 ? rest.prefix(limit) : rest).map(\.number)
  }

  private static func order(
    _ left: PropertyValue, _ right: PropertyValue, _ options: SortKey.Options
  ) -> Int {
    switch (left, right) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.string(let left), .string(let right)) where options.contains(.caseInsensitive):
      return QueryCondition.order(.string(left.lowercased()), .string(right.lowercased())) ?? 0
    default: return QueryCondition.order(left, right) ?? 0
    }
  }
}

extension QueryCase: CustomStringConvertible {
  var description: String {
    "\(entityName)\(includesSubentities ? "" : " only") WHERE "
      + "\(condition.map { "\($0)" } ?? "all") BY \(sortKeys) "
      + "LIMIT \(limit) OFFSET \(offset)"
  }
}

// MARK: - Random queries

extension QueryCase {
  private static let attributes = [
    "Person": [
      "name", "age", "score", "born", "isActive", "note", "price", "tag", "plain", "level",
    ],
    "Company": ["name", "rating", "city"],
    "Employee": ["badge", "company.name", "mentor.age", "mentor.name", "company.rating"],
    "Manager": ["bonus"],
  ]

  static func random(_ world: QueryWorld, using random: inout SeededRandom) -> QueryCase {
    let entity =
      ["Company", "Person", "Employee", "Employee", "Manager"].randomElement(using: &random)
      ?? "Person"
    var paths = attributes[entity] ?? []
    if entity != "Company", entity != "Person" { paths += attributes["Person"] ?? [] }
    if entity == "Manager" { paths += attributes["Employee"] ?? [] }
    let isLimited = Bool.random(using: &random)
    return QueryCase(
      entityName: entity, includesSubentities: Int.random(in: 0..<5, using: &random) > 0,
      condition: Int.random(in: 0..<12, using: &random) == 0
        ? nil : condition(world, entity, paths, depth: 2, using: &random),
      sortKeys: sortKeys(paths, using: &random),
      limit: isLimited ? Int.random(in: 1...60, using: &random) : 0,
      offset: Bool.random(using: &random) ? 0 : Int.random(in: 0...30, using: &random))
  }

  private static func sortKeys(
    _ paths: [String], using random: inout SeededRandom
  ) -> [SortKey] {
    if Int.random(in: 0..<6, using: &random) == 0 {
      // The order of the composite indexes, in either direction.
      let isAscending = Bool.random(using: &random)
      return paths.contains("age")
        ? [
          SortKey("age", isAscending: isAscending), SortKey("name", isAscending: !isAscending),
          SortKey("score", isAscending: isAscending),
        ] : [SortKey("name", isAscending: isAscending)]
    }
    return (0..<Int.random(in: 0...2, using: &random)).map { _ in
      let path = paths.randomElement(using: &random) ?? "name"
      let isText = path.hasSuffix("name") || path == "plain"
      return SortKey(
        path, isAscending: .random(using: &random),
        options: isText && Bool.random(using: &random) ? .caseInsensitive : [])
    }
  }

  private static func condition(
    _ world: QueryWorld, _ entity: String, _ paths: [String], depth: Int,
    using random: inout SeededRandom
  ) -> QueryCondition {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<3 where depth > 0:
      let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in
        condition(world, entity, paths, depth: depth - 1, using: &random)
      }
      return Int.random(in: 0..<3, using: &random) > 0 ? .and(parts) : .or(parts)
    case 3 where depth > 0:
      return .not(condition(world, entity, paths, depth: depth - 1, using: &random))
    case 4 where entity != "Company" && entity != "Person":
      return company(world, using: &random)
    case 5:
      let objects = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
        world.objects.randomElement(using: &random)?.number
      }
      return .objects(objects)
    default: return comparison(paths.randomElement(using: &random) ?? "name", using: &random)
    }
  }

  private static func company(
    _ world: QueryWorld, using random: inout SeededRandom
  ) -> QueryCondition {
    let companies = world.objects.filter { $0.entity.name == "Company" }
    let ids = (0..<2).compactMap { _ in
      companies.randomElement(using: &random).map {
        PropertyValue.objectID(world.store.objectID($0.number))
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .compare("company", "==", .null)
    case 1: return .among("company", ids)
    case 2: return .compare("company", "!=", ids.first ?? .null)
    default: return .compare("company", "==", ids.first ?? .null)
    }
  }

  private static func comparison(
    _ path: String, using random: inout SeededRandom
  ) -> QueryCondition {
    let name = path.split(separator: ".").last.map(String.init) ?? path
    func value() -> PropertyValue { QueryWorld.value(name, using: &random) }
    let operators = ["==", "==", "!=", "<", "<=", ">", ">="]
    let isText = if case .string = value() { true } else { false }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .among(path, (0..<Int.random(in: 0...4, using: &random)).map { _ in value() })
    case 1 where !["isActive", "tag"].contains(name):
      return .between(path, value(), value())
    case 2 where isText:
      guard case .string(let text) = value() else { return .compare(path, "==", .null) }
      let word =
        ["BEGINSWITH", "ENDSWITH", "CONTAINS", "BEGINSWITH"].randomElement(using: &random)
        ?? "CONTAINS"
      return .compare(path, word, .string(String(text.prefix(.random(in: 0...3, using: &random)))))
    case 3 where name == "age":
      // Numbers are compared by value, whatever their type.
      return .compare(
        path, operators.randomElement(using: &random) ?? "==",
        .double(Double(Int.random(in: 30...100, using: &random)) / 2))
    default:
      let word =
        ["isActive", "tag"].contains(name)
        ? ["==", "!="].randomElement(using: &random) : operators.randomElement(using: &random)
      return .compare(path, word ?? "==", value())
    }
  }
}
