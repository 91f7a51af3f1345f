import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Aggregates of random queries, compared with aggregates of plain values.
@Suite struct StoreSnapshotAggregatingTests {
  @Test("Aggregates agree with the oracle")
  func aggregatesAgreeWithTheOracle() throws {
    var random = SeededRandom()
    let seed = random.seed
    var world = try QueryWorld(isIndexed: true)
    try world.fill(300, using: &random)
    for round in 0..<400 {
      let pending = round % 3 == 0 ? try PendingWorld(world, using: &random) : nil
      let test = QueryCase.random(world, using: &random)
      let aggregates = Self.randomAggregates(test, using: &random)
      let numbers = test.expected(pending?.objects ?? world.objects, world.store)
      let objects = Dictionary(
        uniqueKeysWithValues: (pending?.objects ?? world.objects).map { ($0.number, $0) })
      let rows = numbers.compactMap { objects[$0] }
      let entity = world.entity(test.entityName)
      let snapshot = try world.store.snapshot()
      let found = try snapshot.aggregate(
        test.query(world), aggregates.map { try $0.bind(to: entity, in: world.store.schema) },
        overlay: pending?.overlay)
      snapshot.close()
      let expected = aggregates.map { Self.naive($0, rows, world.store) }
      let agree = zip(found, expected).allSatisfy { Self.isClose($0, $1) }
      #expect(
        agree && found.count == expected.count,
        "\(found) for \(expected) of \(aggregates)\n\(test)\nseed \(seed), round \(round)")
    }
    #expect(try world.store.check().isSound)
    world.store.close()
  }

  @Test("Sums beyond 64 bits are exact")
  func sumsBeyondSixtyFourBitsAreExact() throws {
    let world = try QueryWorld(isIndexed: false)
    let entity = world.entity("Employee")
    let numbers = try world.store.takeNumbers(3, for: entity)
    let objects = numbers.map { sequence in
      PlainObject(
        ObjectNumber(entity: entity.number, sequence: sequence), entity,
        ["badge": .integer(.max - Int64(sequence))])
    }
    try world.commit(objects)
    let badge = try [AggregateExpression.sum("badge"), .average("badge"), .maximum("badge")]
      .map { try $0.bind(to: entity, in: world.store.schema) }
    let snapshot = try world.store.snapshot()
    let found = try snapshot.aggregate(StoreQuery(entity: entity), badge, overlay: nil)
    snapshot.close()
    let offsets = numbers.reduce(Decimal(0)) { $0 + Decimal($1) }
    #expect(found[0] == .decimal(Decimal(Int64.max) * 3 - offsets))
    #expect(found[1] == .double(0x1p63))
    #expect(found[2] == .integer(.max - Int64(numbers.lowerBound)))
    world.store.close()
  }

  private static func randomAggregates(
    _ test: QueryCase, using random: inout SeededRandom
  ) -> [AggregateExpression] {
    var aggregates: [AggregateExpression] = [.count]
    if Bool.random(using: &random) {
      // All aggregates of one attribute, which use a specialized loop.
      let path = test.entityName == "Company" ? "rating" : "score"
      return [.sum(path), .average(path), .minimum(path), .maximum(path), .count(path)]
    }
    let own =
      test.entityName == "Company"
      ? ["name", "rating"]
      : ["name", "age", "score", "born", "isActive", "note", "price", "tag", "plain", "level"]
    let far =
      ["Employee", "Manager"].contains(test.entityName)
      ? ["company.rating", "mentor.age", "company.name", "badge", "company"] : []
    for path in own + far {
      let name = path.split(separator: ".").last.map(String.init) ?? path
      aggregates += [.count(path), .countDistinct(path)]
      guard name != "company" else { continue }
      aggregates += [.minimum(path), .maximum(path)]
      guard !["name", "note", "tag", "plain"].contains(name) else { continue }
      aggregates.append(.average(path))
      if name != "born" { aggregates.append(.sum(path)) }
    }
    return aggregates.shuffled(using: &random)
  }

  private static func naive(
    _ aggregate: AggregateExpression, _ rows: [PlainObject], _ store: StoreEngine
  ) -> PropertyValue {
    guard let path = aggregate.keyPath else { return .integer(Int64(rows.count)) }
    let values = rows.map { $0.value(path, store) }.filter { $0 != .null }
    switch aggregate.function {
    case .count:
      return .integer(Int64(aggregate.isDistinct ? Set(values).count : values.count))
    case .median, .mode, .standardDeviation: return .null
    case .minimum: return values.min(by: isLess) ?? .null
    case .maximum: return values.max(by: isLess) ?? .null
    case .sum: return sum(values)
    case .average:
      guard let first = values.first else { return .null }
      if case .date = first {
        let seconds = values.map { value -> Double in
          if case .date(let date) = value { date.timeIntervalSinceReferenceDate } else { 0 }
        }
        return .date(
          Date(timeIntervalSinceReferenceDate: seconds.reduce(0, +) / Double(values.count)))
      }
      switch sum(values) {
      case .integer(let sum): return .double(Double(sum) / Double(values.count))
      case .double(let sum): return .double(sum / Double(values.count))
      case .decimal(let sum): return .decimal(sum / Decimal(values.count))
      default: return .null
      }
    }
  }

  private static func sum(_ values: [PropertyValue]) -> PropertyValue {
    guard let first = values.first else { return 0 }
    switch first {
    case .double:
      return .double(
        values.reduce(0) { sum, value in
          if case .double(let number) = value { sum + number } else { sum }
        })
    case .decimal:
      return .decimal(
        values.reduce(Decimal(0)) { sum, value in
          if case .decimal(let number) = value { sum + number } else { sum }
        })
    default:
      return .integer(
        values.reduce(0) { sum, value in
          switch value {
          case .integer(let number): sum + number
          case .boolean(let flag): sum + (flag ? 1 : 0)
          default: sum
          }
        })
    }
  }

  private static func isLess(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.boolean(let left), .boolean(let right)): !left && right
    case (.uuid(let left), .uuid(let right)): left.uuidString < right.uuidString
    default: (QueryCondition.order(left, right) ?? 0) < 0
    }
  }

  private static func isClose(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.double(let left), .double(let right)): abs(left - right) <= 1e-9 * max(1, abs(right))
    case (.date(let left), .date(let right)): abs(left.timeIntervalSince(right)) < 1e-3
    case (.decimal(let left), .decimal(let right)):
      abs(left - right) <= Decimal(sign: .plus, exponent: -20, significand: 1)
    default: left == right
    }
  }
}
