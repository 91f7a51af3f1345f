import ArborLocks
import ArborModel
import Foundation
import TestSupport

// `Codable` types that are made at run time. Swift types with random members cannot be declared, so
// one generic type reads its members from a table. A binary number of nested generic tags makes each
// of its specializations a type of its own.

/// A type that identifies a specialization of ``Made``.
protocol TypeTag: Sendable {
  static var number: Int { get }
}

enum FirstTag: TypeTag { static var number: Int { 1 } }
enum EvenTag<Half: TypeTag>: TypeTag { static var number: Int { 2 * Half.number } }
enum OddTag<Half: TypeTag>: TypeTag { static var number: Int { 2 * Half.number + 1 } }

/// A value as JSON, written independently of the library.
indirect enum Naive: Equatable {
  case null
  case bool(Bool)
  case number(Decimal)
  case real(Double)
  case text(String)
  case list([Naive])
  /// A list whose order has no meaning.
  case bag([Naive])
  case object([String: Naive])

  static func == (left: Naive, right: Naive) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let one), .bool(let two)): one == two
    case (.number(let one), .number(let two)): one == two
    case (.number, _), (.real, _):
      left.double.map { $0 == right.double } ?? false
    case (.text(let one), .text(let two)): one.unicodeScalars.elementsEqual(two.unicodeScalars)
    case (.list(let one), .list(let two)): one == two
    case (.bag(let one), .bag(let two)), (.bag(let one), .list(let two)),
      (.list(let one), .bag(let two)):
      one.count == two.count && one.allSatisfy(two.contains) && two.allSatisfy(one.contains)
    case (.object(let one), .object(let two)): one == two
    default: false
    }
  }

  var double: Double? {
    switch self {
    case .number(let number): Double("\(number)")
    case .real(let number): number
    default: nil
    }
  }

  init(_ value: PropertyValue) {
    self =
      switch value {
      case .boolean(let flag): .bool(flag)
      case .integer(let number): .number(Decimal(number))
      case .double(let number): .real(number)
      case .decimal(let number): .number(number)
      case .string(let text): .text(text)
      case .list(let values): .list(values.map(Naive.init))
      case .composite(let parts): .object(parts.mapValues(Naive.init).filter { $0.value != .null })
      default: .null
      }
  }
}

/// A type of members.
protocol Member: Codable, Sendable {
  static func random(_ random: inout SeededRandom) -> Self
  var naive: Naive { get }
  /// Returns the value that the type reads from JSON, or `nil` if it cannot read it.
  ///
  /// - Parameter standard: A value whose members replace missing ones.
  static func read(_ json: Naive, _ standard: Naive?) -> Naive?
  /// The value as a constant of predicates, or `nil` if it has no type of its own.
  var constant: (any PredicateArgument)? { get }
}

extension Member {
  var constant: (any PredicateArgument)? { self as? any PredicateArgument }
}

extension Member where Self: FixedWidthInteger {
  static func random(_ random: inout SeededRandom) -> Self {
    [0, 1, 7, max, max - 1, min].randomElement(using: &random) ?? 0
  }
  var naive: Naive { .number(Decimal(string: "\(self)") ?? 0) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    switch json {
    case .number(let number): Self("\(number)") == nil ? nil : json
    case .real(let number): Self(exactly: number) == nil ? nil : json
    default: nil
    }
  }
}
extension Int8: Member {}
extension Int32: Member {}
extension Int: Member {}
extension UInt16: Member {}
extension UInt64: Member {
  var constant: (any PredicateArgument)? { nil }
}

extension Double: Member {
  static func random(_ random: inout SeededRandom) -> Double {
    [0, 0.1, -2.5, 1e300, 12_345_678.9].randomElement(using: &random) ?? 0
  }
  var naive: Naive { .real(self) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? { json.double == nil ? nil : json }
}
extension Float: Member {
  static func random(_ random: inout SeededRandom) -> Float {
    [0, 0.1, -2.5, 1e30].randomElement(using: &random) ?? 0
  }
  // The shortest digits of a float are others than those of the same double.
  var naive: Naive { .real(Double("\(self)") ?? 0) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    json.double.map { Float($0).isFinite } ?? false ? json : nil
  }
  var constant: (any PredicateArgument)? { nil }
}
extension Decimal: Member {
  static func random(_ random: inout SeededRandom) -> Decimal {
    [0, Decimal(string: "0.1") ?? 0, Decimal(string: "12345678901234567890.125") ?? 0]
      .randomElement(using: &random) ?? 0
  }
  var naive: Naive { .number(self) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    // Decimals have exponents of up to 127.
    json.double.map { $0.magnitude < 1e120 } ?? false ? json : nil
  }
}
extension Bool: Member {
  static func random(_ random: inout SeededRandom) -> Bool { Bool.random(using: &random) }
  var naive: Naive { .bool(self) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    if case .bool = json { json } else { nil }
  }
}
extension String: Member {
  static let samples = ["", "a", "b", "calm", "\u{E9}", "e\u{301}", "x\"y\\", "\u{1F600}"]
  static func random(_ random: inout SeededRandom) -> String {
    samples.randomElement(using: &random) ?? ""
  }
  var naive: Naive { .text(self) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    if case .text = json { json } else { nil }
  }
}
extension UUID: Member {
  static func random(_ random: inout SeededRandom) -> UUID {
    UUID(uuid: (1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, .random(in: 0...2, using: &random)))
  }
  var naive: Naive { .text(uuidString) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    if case .text(let text) = json, UUID(uuidString: text) != nil { json } else { nil }
  }
}
extension Date: Member {
  static func random(_ random: inout SeededRandom) -> Date {
    Date(timeIntervalSinceReferenceDate: [0, 0.25, -1e9].randomElement(using: &random) ?? 0)
  }
  var naive: Naive { .real(timeIntervalSinceReferenceDate) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? { json.double == nil ? nil : json }
}
extension URL: Member {
  static func random(_ random: inout SeededRandom) -> URL {
    URL(string: ["a:b", "https://x.y/z?q=1"].randomElement(using: &random) ?? "")
      ?? URL(filePath: "/")
  }
  var naive: Naive { .text(absoluteString) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    if case .text(let text) = json, URL(string: text) != nil { json } else { nil }
  }
}
extension Data: Member {
  static func random(_ random: inout SeededRandom) -> Data {
    Data((0..<Int.random(in: 0...3, using: &random)).map { UInt8($0) })
  }
  var naive: Naive { .text(base64EncodedString()) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    if case .text(let text) = json, Data(base64Encoded: text) != nil { json } else { nil }
  }
  var constant: (any PredicateArgument)? { nil }
}

// MARK: Enumerations

enum Mood: String, CaseIterable, Member { case calm, wild }
enum LaterMood: String, CaseIterable, Member { case calm, wild, sad }
/// Doesn't list its cases.
enum Flavor: String, Member { case a, b }
enum Level: Int, CaseIterable, Member { case low = 1, high = 7 }

extension Member where Self: RawRepresentable, RawValue: Member {
  var naive: Naive { rawValue.naive }
  var constant: (any PredicateArgument)? { rawValue.constant }
}
extension Member where Self: RawRepresentable, RawValue == String {
  static func random(_ random: inout SeededRandom) -> Self {
    let all = String.samples + ["wild", "sad"]
    return all.compactMap(Self.init(rawValue:)).randomElement(using: &random)!
  }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    if case .text(let text) = json, Self(rawValue: text) != nil { json } else { nil }
  }
}
extension Member where Self: RawRepresentable, RawValue == Int {
  static func random(_ random: inout SeededRandom) -> Self {
    [1, 7].compactMap(Self.init(rawValue:)).randomElement(using: &random)!
  }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    json.double.flatMap { Int(exactly: $0) }.flatMap(Self.init(rawValue:)) == nil ? nil : json
  }
}

/// An enumeration with associated values.
enum Payload: Member {
  case text(String)
  case pair(Int, of: String)

  static func random(_ random: inout SeededRandom) -> Payload {
    Bool.random(using: &random) ? .text(.random(&random)) : .pair(.random(&random), of: "x")
  }
  var naive: Naive {
    switch self {
    case .text(let text): .object(["text": .object(["_0": text.naive])])
    case .pair(let number, let text):
      .object(["pair": .object(["_0": number.naive, "of": text.naive])])
    }
  }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard case .object(let members) = json, members.count == 1, let member = members.first,
      case .object(let values) = member.value
    else { return nil }
    switch member.key {
    case "text": return values["_0"].flatMap { String.read($0, nil) } == nil ? nil : json
    case "pair":
      let isWhole = values["_0"].flatMap { Int.read($0, nil) } != nil
      return isWhole && values["of"].flatMap { String.read($0, nil) } != nil ? json : nil
    default: return nil
    }
  }
  var constant: (any PredicateArgument)? { nil }
}

/// A type with a decoder of its own, which supplies a missing member.
struct Tolerant: Member {
  var count: Int

  init(count: Int) { self.count = count }
  enum CodingKeys: CodingKey { case count }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    count = container.contains(.count) ? try container.decode(Int.self, forKey: .count) : 5
  }
  static func random(_ random: inout SeededRandom) -> Tolerant { Tolerant(count: .random(&random)) }
  var naive: Naive { .object(["count": count.naive]) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard case .object(var members) = json else { return nil }
    let count = members["count"] ?? .number(5)
    guard Int.read(count, nil) != nil else { return nil }
    members["count"] = count
    return .object(members)
  }
}

/// A recursive type.
struct Twig: Member {
  var name: String
  var parts: [Twig]

  static func random(_ random: inout SeededRandom) -> Twig {
    let count = Int.random(in: 0...4, using: &random) - 2
    return Twig(name: .random(&random), parts: (0..<max(count, 0)).map { _ in .random(&random) })
  }
  var naive: Naive { .object(["name": name.naive, "parts": .list(parts.map(\.naive))]) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard case .object(let members) = json, case .text? = members["name"],
      case .list(let parts)? = members["parts"], parts.allSatisfy({ read($0, nil) != nil })
    else { return nil }
    return json
  }
}

// MARK: Collections

extension Array: Member where Element: Member {
  static func random(_ random: inout SeededRandom) -> [Element] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in .random(&random) }
  }
  var naive: Naive { .list(map(\.naive)) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard let elements = json.elements else { return nil }
    var read: [Naive] = []
    for element in elements {
      guard let value = Element.read(element, nil) else { return nil }
      read.append(value)
    }
    return .list(read)
  }
  var constant: (any PredicateArgument)? { nil }
}
extension Set: Member where Element: Member {
  static func random(_ random: inout SeededRandom) -> Set<Element> {
    Set([Element].random(&random))
  }
  var naive: Naive { .bag(map(\.naive)) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard case .list(let read)? = [Element].read(json, standard) else { return nil }
    return .bag(read)
  }
  var constant: (any PredicateArgument)? { nil }
}
extension Dictionary: Member where Key == String, Value: Member {
  static func random(_ random: inout SeededRandom) -> [String: Value] {
    Dictionary(
      (0..<Int.random(in: 0...3, using: &random)).map { _ in (.random(&random), .random(&random)) },
      uniquingKeysWith: { one, _ in one })
  }
  var naive: Naive { .object(mapValues(\.naive)) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard case .object(let members) = json else { return nil }
    var read: [String: Naive] = [:]
    for (key, member) in members {
      guard let value = Value.read(member, nil) else { return nil }
      read[key] = value
    }
    return .object(read)
  }
}
/// A dictionary by an enumeration, which is encoded as a list of keys and values.
struct ByMood: Member {
  var values: [Mood: Int]

  init(values: [Mood: Int]) { self.values = values }
  init(from decoder: any Decoder) throws {
    values = try decoder.singleValueContainer().decode([Mood: Int].self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }
  static func random(_ random: inout SeededRandom) -> ByMood {
    ByMood(values: [.calm: .random(&random), .wild: .random(&random)])
  }
  var naive: Naive { .bag(values.flatMap { [$0.key.naive, $0.value.naive] }) }
  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard let elements = json.elements, elements.count % 2 == 0 else { return nil }
    for (position, element) in elements.enumerated() {
      let isRight =
        position % 2 == 0 ? Mood.read(element, nil) != nil : Int.read(element, nil) != nil
      if !isRight { return nil }
    }
    return .bag(elements)
  }
}

extension Naive {
  fileprivate var elements: [Naive]? {
    switch self {
    case .list(let elements), .bag(let elements): elements
    default: nil
    }
  }
}

// MARK: Objects

/// A member of a made type.
struct MadeField: Sendable {
  let key: String
  var type: any Member.Type
  var isOptional: Bool
}

/// A type whose members are listed in ``MadeTypes``.
struct Made<Tag: TypeTag>: Member {
  var members: [String: any Member]

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  static var fields: [MadeField] { MadeTypes.fields(Tag.number) }

  init(members: [String: any Member]) { self.members = members }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    members = [:]
    for field in Self.fields {
      func read<M: Member>(_ type: M.Type) throws -> (any Member)? {
        let key = Key(stringValue: field.key)
        return field.isOptional
          ? try container.decodeIfPresent(type, forKey: key)
          : try container.decode(type, forKey: key)
      }
      members[field.key] = try read(field.type)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (key, member) in members { try container.encode(member, forKey: Key(stringValue: key)) }
  }

  static func random(_ random: inout SeededRandom) -> Made {
    var members: [String: any Member] = [:]
    for field in fields where !field.isOptional || Bool.random(using: &random) {
      members[field.key] = field.type.random(&random)
    }
    return Made(members: members)
  }

  var naive: Naive { .object(members.mapValues(\.naive)) }

  static func read(_ json: Naive, _ standard: Naive?) -> Naive? {
    guard case .object(let members) = json else { return nil }
    var read: [String: Naive] = [:]
    for field in fields {
      let other: Naive? =
        if case .object(let others)? = standard { others[field.key] } else { nil }
      guard let member = members[field.key] else {
        if field.isOptional { continue }
        guard let other else { return nil }
        read[field.key] = other
        continue
      }
      guard let value = field.type.read(member, other) else { return nil }
      read[field.key] = value
    }
    return .object(read)
  }
}

/// The members of made types.
enum MadeTypes {
  private static let all = Lock<[Int: [MadeField]]>([:])

  static func fields(_ number: Int) -> [MadeField] { all.withLock { $0[number] ?? [] } }

  /// Makes a type with members.
  static func make(_ fields: [MadeField]) -> any Member.Type {
    let number = all.withLock { all in
      all[all.count + 2] = fields
      return all.count + 1
    }
    func type<Tag: TypeTag>(_ tag: Tag.Type) -> any Member.Type { Made<Tag>.self }
    return type(tag(number))
  }

  private static func tag(_ number: Int) -> any TypeTag.Type {
    if number <= 1 { return FirstTag.self }
    func next<Tag: TypeTag>(_ half: Tag.Type) -> any TypeTag.Type {
      number % 2 == 0 ? EvenTag<Tag>.self : OddTag<Tag>.self
    }
    return next(tag(number / 2))
  }

  private static let plain: [any Member.Type] = [
    Int8.self, Int32.self, Int.self, UInt16.self, UInt64.self, Double.self, Float.self,
    Decimal.self,
    Bool.self, String.self, String.self, UUID.self, Date.self, URL.self, Data.self, Mood.self,
    LaterMood.self, Flavor.self, Level.self,
  ]
  private static let others: [any Member.Type] = [
    Payload.self, Tolerant.self, Twig.self, ByMood.self, Set<String>.self, Set<Level>.self,
  ]

  /// Returns a random type of members.
  static func type(depth: Int, _ random: inout SeededRandom) -> any Member.Type {
    func list<M: Member>(_ type: M.Type) -> any Member.Type { [M].self }
    func map<M: Member>(_ type: M.Type) -> any Member.Type { [String: M].self }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return list(type(depth: depth + 1, &random))
    case 1: return map(type(depth: depth + 1, &random))
    case 2: return others.randomElement(using: &random) ?? String.self
    case 3 where depth < 2, 4 where depth < 2: return object(depth: depth + 1, &random)
    default: return plain.randomElement(using: &random) ?? String.self
    }
  }

  /// Returns a random type of objects.
  static func object(depth: Int = 0, _ random: inout SeededRandom) -> any Member.Type {
    let count = Int.random(in: 1...4, using: &random)
    return make((0..<count).map { field("m\($0)", depth, &random) })
  }

  private static func field(
    _ key: String, _ depth: Int, _ random: inout SeededRandom
  ) -> MadeField {
    MadeField(
      key: key, type: type(depth: depth, &random), isOptional: Bool.random(using: &random))
  }

  // MARK: Versions

  /// Returns another version of a type: with members added, removed, made optional or mandatory, of
  /// another type, or changed within.
  static func version(of type: any Member.Type, _ random: inout SeededRandom) -> any Member.Type {
    guard let made = type as? any MadeType.Type else {
      func list<M: Member>(_ type: M.Type) -> any Member.Type { [M].self }
      if let array = type as? any ListType.Type, Bool.random(using: &random) {
        return list(version(of: array.element, &random))
      }
      return type
    }
    var fields: [MadeField] = []
    for var field in made.madeFields {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: continue
      case 1: field.isOptional.toggle()
      case 2: field.type = related(to: field.type, &random)
      default: field.type = version(of: field.type, &random)
      }
      fields.append(field)
    }
    if Int.random(in: 0..<3, using: &random) == 0 || fields.isEmpty {
      fields.append(field("n\(Int.random(in: 0..<1_000, using: &random))", 1, &random))
    }
    return make(fields)
  }

  private static func related(
    to type: any Member.Type, _ random: inout SeededRandom
  ) -> any Member.Type {
    let families: [[any Member.Type]] = [
      [
        Int8.self, Int32.self, Int.self, UInt16.self, UInt64.self, Double.self, Float.self,
        Decimal.self,
      ],
      [String.self, Mood.self, LaterMood.self, Flavor.self], [Int.self, Level.self],
      [UUID.self, String.self], [Bool.self, String.self],
    ]
    let family = families.filter { $0.contains { $0 == type } }.randomElement(using: &random)
    return family?.randomElement(using: &random) ?? type
  }
}

/// A specialization of ``Made``.
protocol MadeType: Member {
  static var madeFields: [MadeField] { get }
}
extension Made: MadeType { static var madeFields: [MadeField] { fields } }

private protocol ListType: Member {
  static var element: any Member.Type { get }
}
extension Array: ListType where Element: Member {
  static var element: any Member.Type { Element.self }
}
