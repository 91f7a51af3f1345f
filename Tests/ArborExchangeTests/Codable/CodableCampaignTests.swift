import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Random `Codable` types and pairs of their versions, stored as JSON attributes, compared with plain
/// values of the same types.
@Suite("Random Codable types") struct CodableCampaignTests {
  private static let number = AttributeDescription("number", .integer64)

  private static func model<M: Member>(
    _ type: M.Type, default standard: M? = nil, version: String = ""
  ) throws(ArborError) -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing",
        attributes: [
          number,
          AttributeDescription(
            "value", type, default: standard, .versionHashModifier(version)),
          AttributeDescription("other", M?.self),
          AttributeDescription("title", .string, .default("")),
        ], uniquenessConstraints: [["number"]])
    ]).validated()
  }

  private static func naive(_ object: ManagedObject, _ name: String = "value") throws -> Naive {
    Naive(try object.value(forKey: name))
  }

  /// Reads the attribute as a value of the type.
  private static func typed<M: Member>(_ object: ManagedObject, _ type: M.Type) -> M {
    object._attribute(1)
  }

  private static func set<M: Member>(_ object: ManagedObject, _ value: M) {
    object._setAttribute(1, value)
  }

  private static func equivalent(_ left: Naive, _ right: Naive) -> Bool { left == right }

  // MARK: One type

  @Test("Values are stored, read, queried, exported and imported as they are")
  func oneType() throws {
    var random = SeededRandom()
    for round in 0..<TestLength.of(300, long: 5_000) {
      let type = MadeTypes.object(&random)
      let comment = Comment(rawValue: "seed \(random.seed), round \(round)")
      func run<M: Member>(_ type: M.Type) throws { try storeAndQuery(type, comment, &random) }
      try run(type)
    }
  }

  private func storeAndQuery<M: Member>(
    _ type: M.Type, _ comment: Comment, _ random: inout SeededRandom
  ) throws {
    let model = try Self.model(type)
    let store = try PersistentStore(model: model, at: .inMemory)
    defer { store.close() }
    let context = store.makeContext()
    let values = (0..<6).map { _ in M.random(&random) }
    var objects: [ManagedObject] = []
    for (number, value) in values.enumerated() {
      if number == 4 { try context.commit() }
      let object = try context.insert("Thing")
      try object.setValue(.integer(Int64(number)), forKey: "number")
      Self.set(object, value)
      objects.append(object)
    }
    try query(context, values, type, comment, &random)
    try context.commit()
    // An equal value is no change, and what is read is what was set.
    for (object, value) in zip(objects, values) {
      Self.set(object, value)
      #expect(Self.equivalent(Self.typed(object, type).naive, value.naive), comment)
      #expect(Self.equivalent(try Self.naive(object), value.naive), comment)
    }
    #expect(objects.allSatisfy { $0.changedValues().isEmpty }, comment)
    // A program without the class, which knows the model from the file.
    let plain = try ManagedObjectModel(json: model.jsonData())
    #expect(plain == model, comment)
    let copy = try PersistentStore(model: plain, at: .inMemory)
    defer { copy.close() }
    let other = copy.makeContext()
    try other.seed(from: .data(try context.export(objects)))
    try other.commit()
    for (number, value) in values.enumerated() {
      let object = try #require(try other.objects("Thing").filter("number == \(number)").first())
      #expect(Self.equivalent(try Self.naive(object), value.naive), comment)
    }
    try query(other, values, type, comment, &random)
    try store.check()
    try copy.check()
  }

  /// Compares queries by every part that has a single value with plain values.
  private func query<M: Member>(
    _ context: ManagedObjectContext, _ values: [M], _ type: M.Type, _ comment: Comment,
    _ random: inout SeededRandom
  ) throws {
    guard let value = values.randomElement(using: &random) else { return }
    for part in Self.parts(of: value) {
      guard let constant = part.member.constant else { continue }
      let text = "value.\(part.path.joined(separator: ".")) == %@"
      let predicate = try FetchPredicate(format: text, arguments: [constant])
      let found = try context.objects("Thing").filter(predicate).fetch()
        .map { try Int($0.value(forKey: "number").int ?? -1) }
      let expected = values.indices.filter { index in
        values[index].naive.part(part.path).map { $0 == part.member.naive } ?? false
      }
      #expect(found.sorted() == expected, "\(comment): \(text) \(constant)")
    }
  }

  private static func parts(of value: any Member) -> [(path: [String], member: any Member)] {
    guard let made = value as? any MadeValue else { return [] }
    return made.members.flatMap { key, member in
      let inner = parts(of: member)
      return inner.isEmpty ? [([key], member)] : inner.map { ([key] + $0.path, $0.member) }
    }
  }

  // MARK: Two versions

  @Test("No part is lost in silence when a type changes")
  func pairs() throws {
    var tally = PairTally()
    var random = SeededRandom()
    for round in 0..<TestLength.of(300, long: 5_000) {
      let comment = "seed \(random.seed), round \(round)"
      let problems = try Self.changeVersion(&random, &tally)
      #expect(problems == [], "\(comment)")
    }
    print("CodableCampaignTests: seed \(random.seed), \(tally)")
    #expect(tally.opened > 50 && tally.refused > 20 && tally.rewritten > 100)
  }

  @Test("A program that writes back only what it knows is found")
  func forgetfulProgramIsFound() throws {
    var tally = PairTally()
    var random = SeededRandom(seed: 1)
    var rounds = 0
    // Each round with a removed part must be found; there are some among the first 200.
    while rounds < 200, tally.forgotten == 0 {
      let problems = try Self.changeVersion(&random, &tally, isForgetful: true)
      if !problems.isEmpty { tally.forgotten += 1 }
      rounds += 1
    }
    #expect(tally.forgotten > 0)
  }

  @Test("A program that writes a blank back is found")
  func blankIsFound() throws {
    let problems = Self.problems(
      before: .object(["city": .text("Oslo"), "floor": .number(2)]),
      after: .object(["city": .text(""), "floor": .number(3)]), changed: "floor")
    #expect(problems == ["city: text(\"Oslo\") is now text(\"\")"])
  }

  private struct PairTally: CustomStringConvertible {
    var opened = 0
    var refused = 0
    var rewritten = 0
    var unreadable = 0
    var unrelated = 0
    var forgotten = 0
    var description: String {
      "\(opened) pairs opened, \(refused) refused, \(rewritten) values rewritten, \(unreadable) "
        + "unreadable, \(unrelated) with unrelated optional parts"
    }
  }

  /// Stores values of a random type, opens the store with another version of it, changes a part of
  /// each value, and opens it again with the first version.
  ///
  /// - Parameter isForgetful: Whether the second program writes only what it knows: the planted fault.
  /// - Returns: What was lost.
  private static func changeVersion(
    _ random: inout SeededRandom, _ tally: inout PairTally, isForgetful: Bool = false
  ) throws -> [String] {
    let first = MadeTypes.object(&random)
    let second = MadeTypes.version(of: first, &random)
    func openFirst<A: Member>(_ first: A.Type) throws -> [String] {
      func openSecond<B: Member>(_ second: B.Type) throws -> [String] {
        try change(first, second, &random, &tally, isForgetful)
      }
      return try openSecond(second)
    }
    return try openFirst(first)
  }

  private static func change<A: Member, B: Member>(
    _ first: A.Type, _ second: B.Type, _ random: inout SeededRandom, _ tally: inout PairTally,
    _ isForgetful: Bool
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "things.arbor")
    let former = try model(first, default: Bool.random(using: &random) ? A.random(&random) : nil)
    let standard = Bool.random(using: &random) ? B.random(&random) : nil
    var newer = try model(second, default: standard)
    let values = (0..<3).map { _ in A.random(&random) }
    do {
      let store = try PersistentStore(model: former, at: .file(url))
      defer { store.close() }
      let context = store.makeContext()
      for (number, value) in values.enumerated() {
        let object = try context.insert("Thing")
        try object.setValue(.integer(Int64(number)), forKey: "number")
        set(object, value)
      }
      try context.commit()
    }
    let readings = values.map { B.read($0.naive, standard?.naive) }
    let store: PersistentStore
    do throws(ArborError) {
      do throws(ArborError) {
        store = try PersistentStore(model: newer, at: .file(url))
      } catch {
        guard error.underlyingMessages.contains(where: { $0.contains("version hash modifier") })
        else { throw error }
        tally.unrelated += 1
        guard !(try PersistentStore.migrationPlan(for: url, to: newer)).obstacles.isEmpty else {
          return ["the plan is empty"]
        }
        newer = try model(second, default: standard, version: "2")
        store = try PersistentStore(model: newer, at: .file(url))
      }
    } catch {
      guard error.code == .modelMismatch else { throw error }
      tally.refused += 1
      // The plan says the same, and nothing has changed.
      let plan = try PersistentStore.migrationPlan(for: url, to: newer)
      var problems = plan.obstacles.isEmpty && plan.brokenRules.isEmpty ? ["the plan is empty"] : []
      if !readings.contains(nil), exactlyReadable(values, second, standard) {
        problems.append("refused, although every value fits: \(error.underlyingMessages)")
      }
      return problems + (try kept(url, former, values.map(\.naive)))
    }
    tally.opened += 1
    var problems: [String] = []
    var expected: [(before: Naive, changed: String?)] = []
    do {
      defer { store.close() }
      for (number, reading) in readings.enumerated() {
        let context = store.makeContext()
        let object = try #require(
          try context.objects("Thing").filter("number == \(number)").first())
        let read = typed(object, second)
        guard let reading else {
          tally.unreadable += 1
          // The next operation that throws reports the value.
          try? object.setValue("changed", forKey: "title")
          if (try? context.commit()) != nil { problems.append("\(number): a commit of a blank") }
          expected.append((values[number].naive, nil))
          continue
        }
        if !equivalent(read.naive, reading) {
          problems.append("\(number): read \(read.naive), expected \(reading)")
        }
        guard var made = read as? any MadeValue, let key = made.members.keys.sorted().first,
          let field = made.kinds.first(where: { $0.key == key })
        else {
          expected.append((values[number].naive, nil))
          continue
        }
        made.members[key] = field.type.random(&random)
        if isForgetful { try object.setValue(.null, forKey: "other") }
        if isForgetful, let value = made as? B {
          // As if the stored value were not looked at.
          let blank = try context.insert("Thing")
          set(blank, value)
          try object.setValue(try blank.value(forKey: "value"), forKey: "value")
          context.delete(blank)
        } else if let value = made as? B {
          set(object, value)
        }
        try context.commit()
        tally.rewritten += 1
        expected.append((values[number].naive, key))
      }
      try store.check()
      let context = store.makeContext()
      for (number, value) in expected.enumerated() {
        let object = try #require(
          try context.objects("Thing").filter("number == \(number)").first())
        problems += Self.problems(
          before: value.before, after: try naive(object), changed: value.changed
        ).map { "\(number): \($0)" }
      }
    }
    return problems
  }

  /// Returns the stored parts that are gone or have other values.
  private static func problems(before: Naive, after: Naive, changed: String?) -> [String] {
    guard case .object(let members) = before, case .object(let present) = after else {
      return before == after ? [] : ["\(before) is now \(after)"]
    }
    return members.sorted { $0.key < $1.key }.flatMap { key, member -> [String] in
      if key == changed { return [] }
      guard let value = present[key] else { return ["\(key) is gone"] }
      return value.contains(member) ? [] : ["\(key): \(member) is now \(value)"]
    }
  }

  /// Returns whether writing what a type reads changes no number.
  private static func exactlyReadable<A: Member, B: Member>(
    _ values: [A], _ type: B.Type, _ standard: B?
  ) -> Bool {
    values.allSatisfy { value in
      guard let reading = B.read(value.naive, standard?.naive) else { return false }
      return reading.isExact
    }
  }

  /// Returns the objects whose values have changed in a store that another program couldn't open.
  private static func kept(
    _ url: URL, _ model: ManagedObjectModel, _ values: [Naive]
  ) throws -> [String] {
    let store = try PersistentStore(model: model, at: .file(url))
    defer { store.close() }
    let context = store.makeContext()
    return try values.enumerated().compactMap { number, value in
      let object = try #require(try context.objects("Thing").filter("number == \(number)").first())
      return equivalent(try naive(object), value) ? nil : "\(number) has changed"
    }
  }
}

extension ArborError {
  fileprivate var underlyingMessages: [String] { violations.map(\.message) }
}

extension Naive {
  /// Returns the part at a path, or `nil` if there is none.
  fileprivate func part(_ path: [String]) -> Naive? {
    guard let key = path.first else { return self }
    guard case .object(let members) = self else { return nil }
    return members[key]?.part(Array(path.dropFirst()))
  }

  /// Returns whether a value has everything that another one has, and possibly further members.
  fileprivate func contains(_ other: Naive) -> Bool {
    switch (self, other) {
    case (.object(let members), .object(let others)):
      others.allSatisfy { key, other in members[key]?.contains(other) ?? false }
    case (.list(let elements), .list(let others)):
      elements.count == others.count && zip(elements, others).allSatisfy { $0.contains($1) }
    default: self == other
    }
  }

  /// Whether every number is one that each number type writes as it was read.
  fileprivate var isExact: Bool {
    switch self {
    case .number(let number): number.magnitude < 1_000_000
    case .real(let number): Double("\(Float(number))") == number
    case .list(let elements), .bag(let elements): elements.allSatisfy(\.isExact)
    case .object(let members): members.values.allSatisfy(\.isExact)
    case .null, .bool, .text: true
    }
  }
}

/// A value of a made type.
private protocol MadeValue: Member {
  var members: [String: any Member] { get set }
  var kinds: [MadeField] { get }
}
extension Made: MadeValue {
  fileprivate var kinds: [MadeField] { Self.fields }
}
