import TestLength
import ArborModel
import Foundation

/// A generator of random values, objects and predicates from a seed.
struct RandomPredicates {
  var random: SplitMix
  let world: PredicateWorld

  init(seed: UInt64, world: PredicateWorld) {
    random = SplitMix(seed: seed)
    self.world = world
  }

  mutating func pick<T>(_ items: [T]) -> T {
    items[Int.random(in: 0..<items.count, using: &random)]
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: Values

  static let texts = [
    "", "a", "A", "ab", "AB", "aB", "abc", "b", "é", "e\u{301}", "É", "e", "E", "straße", "STRASSE",
    "a*b", "a?b", "ab\u{0}c", "Ångström", "ångstrom", "日本語", "日本", "K", "k", "ﬁ", "fi",
    "İ", "i", "zz", "a b", "😀", "😀a", "\\", "ſ", "s", "ÀÉ", "àé", "ae",
  ]

  mutating func text() -> String {
    chance(75) ? pick(Self.texts) : pick(Self.texts) + pick(Self.texts) + pick(Self.texts)
  }

  static let edges: [Int64] = [
    .min, .max, .min + 1, .max - 1, 9_007_199_254_740_992, 9_007_199_254_740_993,
    -9_007_199_254_740_993, 32767, -32768, 32768, 2_147_483_647, -2_147_483_648, 65536,
  ]

  static let extremes: [Double] = [
    0x1p63, -0x1p63, 0x1p53, 1e300, -1e300, .leastNonzeroMagnitude, 1e-200, -0.0, 0.1, 9.99, 1e17,
    Double(Float(0.1)), 1e38, 4e38, 123_456_789_012_345_680,
  ]

  mutating func whole() -> Int64 {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: pick(Self.edges)
    default: Int64.random(in: -6...6, using: &random)
    }
  }

  mutating func double() -> Double {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: pick(Self.extremes)
    case 1, 2: Double(Int64.random(in: -24...24, using: &random)) / 4
    case 3: Double(whole())
    default: Double(Int64.random(in: -6...6, using: &random))
    }
  }

  mutating func decimal() -> Decimal {
    let texts = [
      "0.1", "9.99", "0.10", "1e30", "-1e-100", "123456789012345678901234567890", "2.5", "-2.5",
      "9007199254740993", "0.1000000001", "1e-120", "9223372036854775808",
    ]
    if chance(40) { return Decimal(string: pick(texts)) ?? 0 }
    return Decimal(Int64.random(in: -24...24, using: &random)) / 4
  }

  mutating func number() -> PropertyValue {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .boolean(chance(50))
    case 1, 2: .double(double())
    case 3: .decimal(decimal())
    default: .integer(whole())
    }
  }

  mutating func date() -> Date {
    Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -3...3, using: &random)) / 2)
  }

  mutating func uuid() -> UUID {
    let low = UInt8.random(in: 0...3, using: &random)
    return UUID(uuid: (low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, low & 1))
  }

  mutating func data() -> Data { Data(pick([[], [0], [0, 1], [255], [1], [0, 0], [128, 1]])) }

  mutating func uri() -> URL {
    URL(string: "https://x/" + pick(["", "a", "b", "ab", "B"])) ?? URL(fileURLWithPath: "x")
  }

  mutating func id() -> ObjectID {
    let known = world.objects.values.map(\.id).sorted { $0.number < $1.number }
    if chance(10) || known.isEmpty {
      return ObjectID(
        storeID: chance(50) ? UUID() : PredicateWorld.storeID, entityName: "Person",
        number: 40)
    }
    return pick(known)
  }

  /// Returns a value that a field of a type can store.
  mutating func value(for type: AttributeType) -> PropertyValue {
    if chance(20) { return .null }
    switch type {
    case .boolean: return .boolean(chance(50))
    case .integer16: return .integer(Int64(Int16(truncatingIfNeeded: whole())))
    case .integer32: return .integer(Int64(Int32(truncatingIfNeeded: whole())))
    case .integer64: return .integer(whole())
    case .float:
      let number = Float(double())
      return .double(Double(number.isFinite ? number : 1))
    case .double: return .double(double())
    case .decimal: return .decimal(decimal())
    case .string: return .string(text())
    case .date: return .date(date())
    case .binary: return .binary(data())
    case .uuid: return .uuid(uuid())
    case .uri: return .uri(uri())
    default: return constant(ofKind: Int.random(in: 0..<7, using: &random))
    }
  }

  /// Returns a constant of a kind: 0 number, 1 string, 2 date, 3 binary, 4 UUID, 5 URI, 6 object.
  mutating func constant(ofKind kind: Int) -> PropertyValue {
    switch kind {
    case 0: number()
    case 1: .string(text())
    case 2: .date(date())
    case 3: .binary(data())
    case 4: .uuid(uuid())
    case 5: .uri(uri())
    default: .objectID(id())
    }
  }

  // MARK: Objects

  mutating func populate(_ count: Int) {
    var companies: [PropertyValue] = []
    for _ in 0..<3 {
      companies.append(
        .objectID(
          world.insert(
            world.company, ["title": value(for: .string), "size": value(for: .integer32)]
          ).id))
    }
    var people: [PropertyValue] = []
    for _ in 0..<count {
      var values: [String: PropertyValue] = [:]
      for kind in PredicateWorld.kinds { values[kind.name] = value(for: kind.type) }
      if chance(70) { values["company"] = pick(companies) }
      if chance(70), !people.isEmpty { values["boss"] = pick(people) }
      let entity = chance(40) ? world.worker : world.person
      people.append(.objectID(world.insert(entity, values).id))
    }
  }

  // MARK: Predicates

  private static let paths: [(path: [String], kind: Int)] = [
    (["short"], 0), (["medium"], 0), (["long"], 0), (["flag"], 0), (["single"], 0),
    (["ratio"], 0), (["price"], 0), (["name"], 1), (["born"], 2), (["photo"], 3), (["key"], 4),
    (["home"], 5), (["extra"], 7), (["company"], 6), (["boss"], 6), ([], 6), (["objectID"], 6),
    (["entity", "name"], 1), (["company", "title"], 1), (["company", "size"], 0),
    (["company", "head"], 6), (["boss", "name"], 1), (["boss", "long"], 0),
    (["boss", "boss", "price"], 0), (["boss", "company", "title"], 1), (["boss", "company"], 6),
    (["boss", "entity", "name"], 1),
  ]

  /// Returns a predicate that can be bound and compiled, because the operands have matching types.
  mutating func predicate(depth: Int) -> PredicateNode {
    guard depth > 0, chance(60) else {
      return chance(4) ? .constant(chance(50)) : .comparison(comparison())
    }
    let count = Int.random(in: 2...3, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return .not(predicate(depth: depth - 1))
    case 1: return .all((0..<count).map { _ in predicate(depth: depth - 1) })
    default: return .any((0..<count).map { _ in predicate(depth: depth - 1) })
    }
  }

  private mutating func comparison() -> PredicateComparison {
    let (path, kind) = pick(Self.paths)
    let left = ExpressionNode.path(KeyPathNode(names: path))
    let options: ComparisonOptions =
      chance(kind == 1 ? 50 : 10)
      ? ComparisonOptions(rawValue: UInt8.random(in: 0...7, using: &random)) : []
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return equality(left, kind, options)
    case 2: return PredicateComparison(left, .in, list(ofKind: kind), options: options)
    case 3: return PredicateComparison(list(ofKind: kind), .contains, left, options: options)
    case 4:
      let other = pick(Self.paths.filter { $0.kind == kind })
      return PredicateComparison(
        left, pick([.equal, .notEqual]), .path(KeyPathNode(names: other.path)), options: options)
    default: break
    }
    if kind == 1 || (kind == 7 && chance(50)) { return textual(left, options) }
    if kind == 6 { return equality(left, kind, options) }
    return ordering(left, kind == 7 ? 0 : kind, options)
  }

  private mutating func equality(
    _ left: ExpressionNode, _ kind: Int, _ options: ComparisonOptions
  ) -> PredicateComparison {
    // At times, the constant has another type, which equals nothing.
    let right = constant(near: chance(90) ? kind : otherKind(than: kind))
    let comparison: ComparisonOperator = chance(50) ? .equal : .notEqual
    return chance(20)
      ? PredicateComparison(right, comparison, left, options: options)
      : PredicateComparison(left, comparison, right, options: options)
  }

  private mutating func ordering(
    _ left: ExpressionNode, _ kind: Int, _ options: ComparisonOptions
  ) -> PredicateComparison {
    let orders: [ComparisonOperator] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
    if chance(25) {
      let bounds = ExpressionNode.aggregate([constant(near: kind), constant(near: kind)])
      return PredicateComparison(left, .between, bounds, options: options)
    }
    if chance(20) {
      let other = pick(Self.paths.filter { $0.kind == kind })
      return PredicateComparison(
        left, pick(orders), .path(KeyPathNode(names: other.path)), options: options)
    }
    let right = constant(near: kind)
    return chance(20)
      ? PredicateComparison(right, pick(orders), left, options: options)
      : PredicateComparison(left, pick(orders), right, options: options)
  }

  private mutating func textual(
    _ left: ExpressionNode, _ options: ComparisonOptions
  ) -> PredicateComparison {
    let pattern = constant(near: 1)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return PredicateComparison(left, .beginsWith, pattern, options: options)
    case 1: return PredicateComparison(left, .endsWith, pattern, options: options)
    case 2: return PredicateComparison(left, .contains, pattern, options: options)
    case 3: return PredicateComparison(pattern, .in, left, options: options)
    case 4:
      let piece = pick(["*", "?", "a", "?b*", "*é*", "", "\\*", "**", "a?", "??"])
      return PredicateComparison(
        left, .like, .constant(.string(text() + piece + pick(["", "*", "?", "b"]))),
        options: options)
    case 5:
      let expression = pick(["a.*", "[ab]+", ".", "a|ab", "(?i)AB", "\\p{L}*", "e|é", ""])
      return PredicateComparison(left, .matches, .constant(.string(expression)), options: options)
    case 6: return PredicateComparison(pattern, .beginsWith, left, options: options)
    default: return ordering(left, 1, options)
    }
  }

  private mutating func constant(near kind: Int) -> ExpressionNode {
    if chance(8) { return .constant(.null) }
    return .constant(
      constant(ofKind: kind == 7 ? Int.random(in: 0..<7, using: &random) : kind))
  }

  private mutating func list(ofKind kind: Int) -> ExpressionNode {
    let count = Int.random(in: 0...6, using: &random)
    return .aggregate(
      (0..<count).map { _ in
        constant(near: chance(85) ? kind : otherKind(than: kind))
      })
  }

  /// Returns any kind except for a combination of numbers and binary data, which cannot be bound.
  private mutating func otherKind(than kind: Int) -> Int {
    let other = Int.random(in: 0..<7, using: &random)
    return [kind, other] == [0, 3] || [kind, other] == [3, 0] ? kind : other
  }
}
