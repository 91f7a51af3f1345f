import ArborModel
@testable import ArborObjects
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Random histories of several contexts, after each commit of which every stored derived value
/// equals the one that a plain computation in this file yields, by its bytes. A copy of the store
/// replays all commits.
@Suite struct DerivedCampaignTests {
  /// Returns the model.
  ///
  /// - Parameter isLater: Whether some derivations differ, as in a later version of the model.
  private static func model(isLater: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Team") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("code", .string, .optional)
        AttributeDescription("weight", .double, .default(0))
        AttributeDescription("key", .string, .optional, .unique, .derived("lowercase(code)"))
        AttributeDescription("mirror", .double, .optional, .derived("weight"))
        AttributeDescription(
          "size", .integer32, .indexed, .default(0),
          .derived(isLater ? "parts.@count" : "members.@count"))
        AttributeDescription(
          "pay", .integer64, .optional,
          .derived(isLater ? "members.@min.pay" : "members.@sum.pay"))
        AttributeDescription("mean", .double, .optional, .derived("members.@avg.pay"))
        AttributeDescription("top", .integer32, .optional, .derived("members.@max.pay"))
        AttributeDescription("first", .date, .optional, .derived("members.@min.day"))
        AttributeDescription("worth", .decimal, .optional, .derived("members.@sum.worth"))
        AttributeDescription("load", .double, .optional, .derived("members.@sum.load"))
        AttributeDescription("line", .string, .optional, .derived("join(queue.name, ',')"))
        AttributeDescription("people", .integer32, .optional, .derived("parts.members.@count"))
        AttributeDescription("above", .string, .optional, .derived("parent.name"))
        RelationshipDescription("members", to: "Person", inverse: "team", .toMany)
        RelationshipDescription("queue", to: "Person", inverse: "queued", .toMany, .ordered)
        RelationshipDescription(
          "parts", to: "Team", inverse: "parent", .toMany, deleteRule: .cascade)
        RelationshipDescription("parent", to: "Team", inverse: "parts")
      }
      EntityDescription("Person") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("pay", .integer32, .default(0))
        AttributeDescription("worth", .decimal, .optional)
        AttributeDescription("load", .double, .default(0))
        AttributeDescription("day", .date, .optional)
        AttributeDescription("teamName", .string, .optional, .indexed, .derived("team.name"))
        AttributeDescription(
          "group", .string, .optional,
          .derived(isLater ? "queued.name" : "team.parent.name"))
        AttributeDescription("skillCount", .integer16, .optional, .derived("skills.@count"))
        RelationshipDescription("team", to: "Team", inverse: "members")
        RelationshipDescription("queued", to: "Team", inverse: "queue")
        RelationshipDescription("skills", to: "Skill", inverse: "holders", .toMany)
      }
      EntityDescription("Skill") {
        AttributeDescription("holderCount", .integer32, .optional, .derived("holders.@count"))
        RelationshipDescription("holders", to: "Person", inverse: "skills", .toMany)
      }
    }
  }

  // MARK: Oracle

  /// Returns the stored derived values that differ from a plain computation.
  private static func violations(
    in store: PersistentStore, isLater: Bool = false
  ) throws -> [String] {
    let context = store.makeContext()
    var wrong: [String] = []
    func expect(_ object: ManagedObject, _ key: String, _ value: PropertyValue) throws {
      let found = try object.value(forKey: key)
      if bytes(found) != bytes(value) {
        wrong.append("\(object.objectID).\(key) is \(found), not \(value)")
      }
    }
    for team in try context.objects("Team").fetch() {
      let members = try team.objects(forKey: "members").fetch()
        .sorted { $0.objectID.number < $1.objectID.number }
      let pay: [Int] = members.map { $0["pay"] }
      let code: String? = team["code"]
      let days: [Date] = members.compactMap { $0["day"] as Date? }
      let worth: [Decimal] = members.compactMap { $0["worth"] as Decimal? }
      let load: [Double] = members.map { $0["load"] }
      let queue: [String] = try team.objects(forKey: "queue").fetch().map { $0["name"] }
      let parts: [ManagedObject] = team["parts"]
      let parent: ManagedObject? = team["parent"]
      try expect(team, "key", code.map { .string($0.lowercased()) } ?? .null)
      try expect(team, "mirror", .double(team["weight"]))
      try expect(team, "size", .integer(Int64(isLater ? parts.count : members.count)))
      let least = pay.min().map { PropertyValue.integer(Int64($0)) } ?? .null
      try expect(team, "pay", isLater ? least : .integer(Int64(pay.reduce(0, +))))
      try expect(
        team, "mean",
        pay.isEmpty ? .null : .double(Double(pay.reduce(0, +)) / Double(pay.count)))
      try expect(team, "top", pay.max().map { .integer(Int64($0)) } ?? .null)
      try expect(team, "first", days.min().map { .date($0) } ?? .null)
      try expect(team, "worth", sum(of: worth))
      try expect(team, "load", .double(load.reduce(0, +)))
      try expect(team, "line", .string(queue.joined(separator: ",")))
      let people = parts.reduce(0) { $0 + ($1["members"] as [ManagedObject]).count }
      try expect(team, "people", .integer(Int64(people)))
      try expect(team, "above", parent.map { .string($0["name"]) } ?? .null)
    }
    for person in try context.objects("Person").fetch() {
      let team: ManagedObject? = person["team"]
      let parent: ManagedObject? = team?["parent"]
      try expect(person, "teamName", team.map { .string($0["name"]) } ?? .null)
      let group: ManagedObject? = isLater ? person["queued"] : parent
      try expect(person, "group", group.map { .string($0["name"]) } ?? .null)
      let skills: [ManagedObject] = person["skills"]
      try expect(person, "skillCount", .integer(Int64(skills.count)))
    }
    for skill in try context.objects("Skill").fetch() {
      let holders: [ManagedObject] = skill["holders"]
      try expect(skill, "holderCount", .integer(Int64(holders.count)))
    }
    return wrong
  }

  /// Returns the sum of decimals in the given order, by the library's arithmetic of 38 digits.
  private static func sum(of numbers: [Decimal]) -> PropertyValue {
    let sum = ValueStatistics.sum(numbers.map { PropertyValue.decimal($0) })
    if case .integer(let whole) = sum { return .decimal(Decimal(whole)) }
    return sum
  }

  /// A value in a form whose equality is that of the stored bytes.
  private static func bytes(_ value: PropertyValue) -> String {
    switch value {
    case .string(let text): "text \(Array(text.utf8))"
    case .double(let number): "double \(number.bitPattern)"
    case .date(let date): "date \(date.timeIntervalSinceReferenceDate.bitPattern)"
    default: "\(value)"
    }
  }

  // MARK: Random changes

  private static let names = ["caf\u{E9}", "cafe\u{301}", "", "x", "Y", "cafe"]
  private static let amounts: [Decimal?] = [
    nil, 0, 1, -2.5, 1_000_000, Decimal(1) / 3, Decimal(string: "1e-10"),
    Decimal(string: "12000000000000000000000000000000000"),
    Decimal(string: "-12000000000000000000000000000000000"),
  ]

  private static func edit(_ context: ManagedObjectContext, _ random: inout SplitMix) throws {
    let teams = try context.objects("Team").fetch()
    let people = try context.objects("Person").fetch()
    let skills = try context.objects("Skill").fetch()
    let team = teams.randomElement(using: &random)
    let person = people.randomElement(using: &random)
    let name = PropertyValue.string(names.randomElement(using: &random) ?? "")
    func fill(_ person: ManagedObject) {
      person["name"] = name
      person["pay"] = .integer(.random(in: -3...9, using: &random))
      person["worth"] = (amounts.randomElement(using: &random) ?? nil).map { .decimal($0) } ?? .null
      person["load"] = .double([0, -0.0, 0.1, 0.2, 1e16].randomElement(using: &random) ?? 0)
      person["day"] =
        [
          .null, .date(Date(timeIntervalSinceReferenceDate: 0)),
          .date(Date(timeIntervalSinceReferenceDate: -0.0)),
          .date(Date(timeIntervalSinceReferenceDate: .random(in: -9...9, using: &random))),
        ]
        .randomElement(using: &random) ?? .null
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1:
      let team = try context.insert("Team")
      team["name"] = name
    case 2, 3, 4:
      let person = try context.insert("Person")
      fill(person)
      person["team"] = team
    case 5: person.map(fill)
    case 6, 7: person?["team"] = team
    case 8: team?["name"] = name
    case 9: team?["weight"] = .double([0, -0.0, 2].randomElement(using: &random) ?? 0)
    case 10:
      let other = teams.randomElement(using: &random)
      if let team, team != other { team["parent"] = other }
    case 11: team?["code"] = [.null, .null, name].randomElement(using: &random) ?? .null
    case 12: if let team { context.delete(team) }
    case 13: if let person { context.delete(person) }
    case 14:
      let skill = try skills.randomElement(using: &random) ?? context.insert("Skill")
      if let person {
        let known = try person.objects(forKey: "skills")
        if try known.fetch().contains(skill) {
          try known.remove(skill)
        } else {
          try known.insert(skill)
        }
      }
    case 15: if let skill = skills.randomElement(using: &random) { context.delete(skill) }
    case 16:
      if let team {
        let queue = try team.objects(forKey: "queue").fetch().filter { $0 != person }
        try team.objects(forKey: "queue").replaceAll(
          with: (queue + (person.map { [$0] } ?? [])).shuffled(using: &random))
      }
    case 17:
      if Bool.random(using: &random) {
        try context.objects("Person").filter("pay > 5").update(["pay": 1])
      } else {
        try context.objects("Person").filter("pay < -1").delete()
      }
    case 18: context.undo()
    default: if Bool.random(using: &random) { context.redo() } else { try context.validate() }
    }
  }

  /// Makes a random change, or validates pending changes that violate a rule. A change of an object
  /// that another context has deleted is reported by the next operation.
  private static func editOrViolate(
    _ context: ManagedObjectContext, _ random: inout SplitMix
  ) throws {
    do {
      try edit(context, &random)
    } catch let error as ArborError {
      let expected: [ArborError.Code] = [.objectNotFound, .notUnique, .validation]
      guard expected.contains(error.code) else { throw error }
    }
  }

  private static func naming(_ seed: UInt64, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      Issue.record(error, "seed \(seed)")
      throw error
    }
  }

  private static func run(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    try ObjectStore.use(model(), inMemory: false) { store in
      let contexts = (0..<3).map { _ in store.makeContext() }
      let policies: [MergePolicy] = [
        .mergeByPropertyObjectWins, .mergeByPropertyStoreWins, .overwrite, .rollback, .error,
      ]
      for context in contexts {
        context.mergePolicy = policies.randomElement(using: &random) ?? .error
        if Bool.random(using: &random) { context.undoHistory = UndoHistory() }
        context.automaticallyMergesCommits = Int.random(in: 0..<4, using: &random) > 0
      }
      let reader = UUID()
      _ = try store.engine.noteLogReader(reader, has: nil)
      let folder = try TemporaryFolder()
      try store.engine.copy(to: folder.path("copy.arbor"), compacting: true, keepsMarker: false)
      let copy = try StoreEngine.open(StoreOpening(.file(folder.path("copy.arbor")), model: nil))
      defer { copy.close() }
      for step in 0..<14 {
        for context in contexts.shuffled(using: &random) {
          for _ in 0..<Int.random(in: 0...4, using: &random) {
            try editOrViolate(context, &random)
          }
          guard Int.random(in: 0..<4, using: &random) > 0 else { continue }
          do {
            try context.commit()
          } catch let error as ArborError {
            let expected: [ArborError.Code] = [.conflict, .notUnique, .validation]
            #expect(expected.contains(error.code), "seed \(seed), step \(step): \(error)")
            context.rollback()
          }
          let wrong = try violations(in: store)
          #expect(wrong.isEmpty, "seed \(seed), step \(step): \(wrong)")
          if !wrong.isEmpty { return }
        }
      }
      try replay(store.engine, in: copy)
      #expect(try StoreContents(store.engine) == StoreContents(copy), "seed \(seed)")
      #expect(try copy.check().isSound, "seed \(seed)")
    }
  }

  private static func replay(_ original: StoreEngine, in copy: StoreEngine) throws {
    let snapshot = try original.logSnapshot()
    defer { snapshot.close() }
    var commits: [LoggedCommit] = []
    _ = try snapshot.forEachLogged(after: copy.lastSequence) { (sequence, bytes) in
      commits.append(
        try #require(LoggedCommitCodec.decode(bytes, sequence: sequence, original.schema)))
      return true
    }
    try copy.replay(commits)
  }

  @Test(
    "Stored derived values equal a plain computation after every commit", arguments: 0..<8)
  func valuesEqualAPlainComputation(part: Int) throws {
    let start = UInt64.random(in: 0..<1 << 60)
    for round in 0..<TestLength.of(12, long: 1250) {
      let seed = start &+ UInt64(round * 8 + part)
      try Self.naming(seed) { try Self.run(seed: seed) }
    }
  }

  @Test("Migrations that change derivations compute the values of all objects")
  func migrationsComputeValues() throws {
    for _ in 0..<TestLength.of(20, long: 1000) {
      let seed = UInt64.random(in: 0..<1 << 60)
      var random = SplitMix(seed: seed)
      let folder = try TemporaryFolder()
      let location = StoreLocation.path(folder.path("derived.arbor"))
      for version in 0..<4 {
        let isLater = version % 2 == 1
        let store = try PersistentStore(model: Self.model(isLater: isLater), at: location)
        defer { store.close() }
        let found = try Self.violations(in: store, isLater: isLater)
        #expect(found.isEmpty, "seed \(seed), version \(version), migrated: \(found)")
        let context = store.makeContext()
        for _ in 0..<(version == 0 ? 60 : 10) {
          try Self.naming(seed) { try Self.editOrViolate(context, &random) }
        }
        do throws(ArborError) {
          try context.commit()
        } catch {
          #expect(error.code == .notUnique, "seed \(seed): \(error)")
        }
        let after = try Self.violations(in: store, isLater: isLater)
        #expect(after.isEmpty, "seed \(seed), version \(version), committed: \(after)")
        try store.check()
      }
    }
  }

  @Test("A store with derived values is released after commits")
  func closedStoresAreReleased() throws {
    weak var engine: StoreEngine?
    do {
      let store = try PersistentStore(model: Self.model(), at: .inMemory)
      try store.engine.setMetadata("key", [1])
      engine = store.engine
      store.close()
    }
    #expect(engine == nil)
  }

  @Test("A journal's commits compute derived values when it is replayed")
  func journalsComputeValues() throws {
    for _ in 0..<TestLength.of(10, long: 500) {
      let seed = UInt64.random(in: 0..<1 << 60)
      var random = SplitMix(seed: seed)
      let folder = try TemporaryFolder()
      let file = folder.path("journaled.arbor")
      var options = StoreOptions()
      var limits = JournalLimits()
      (limits.beginning, limits.idle) = (0, 1000)
      options.journalLimits = limits
      let store = try PersistentStore(model: Self.model(), at: .path(file), options: options)
      defer { store.close() }
      let context = store.makeContext()
      for step in 0..<12 {
        for _ in 0..<6 { try Self.naming(seed) { try Self.editOrViolate(context, &random) } }
        do throws(ArborError) {
          try context.commit()
        } catch {
          #expect(error.code == .notUnique, "seed \(seed): \(error)")
          context.rollback()
        }
        guard step % 4 == 3 else { continue }
        // A copy of the files as a killed process leaves them.
        let copy = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        where !name.hasSuffix("-lock") {
          try FileManager.default.copyItem(
            at: folder.url.appending(path: name), to: copy.url.appending(path: name))
        }
        let recovered = try PersistentStore(
          model: Self.model(), at: .path(copy.path("journaled.arbor")))
        defer { recovered.close() }
        #expect(try Self.violations(in: recovered) == [], "seed \(seed), step \(step)")
        #expect(
          try StoreContents(recovered.engine) == StoreContents(store.engine), "seed \(seed)")
        try recovered.check()
      }
    }
  }

  @Test("A wrong stored value is found by the computation, the check and the scrub")
  func aWrongValueIsFound() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "wrong.arbor"))
    let store = try PersistentStore(model: Self.model(), at: location)
    defer { store.close() }
    let context = store.makeContext()
    let team = try context.insert("Team")
    let person = try context.insert("Person")
    person["pay"] = 3
    person["team"] = team
    try context.commit()
    #expect(try Self.violations(in: store).isEmpty)
    try store.check()
    try store.scrub()
    try Vandal(file: store.engine).setValue(team.number, "pay", to: 4)
    #expect(try Self.violations(in: store) == ["\(team.objectID).pay is 4, not 3"])
    let report = try store.engine.check()
    #expect(report.problems.map(\.kind) == [.derivedValue])
    #expect(
      report.problems.map(\.description)
        == ["Team/\(team.objectID.number) has a stored pay that differs from its derivation."])
    let error = try failure { try store.scrub() }
    #expect(error.code == .corrupted)
    #expect(
      error.message.contains("the stored value of Team.pay differs from its derivation"),
      "\(error.message)")
  }

  /// The bulk deletion removes entries in passes over whole databases.
  @Test("Derived values follow bulk insertions and deletions")
  func valuesFollowBulkChanges() throws {
    try ObjectStore.use(Self.model(), inMemory: false) { store in
      let context = store.makeContext()
      let teams = try (0..<3).map { index in
        let team = try context.insert("Team")
        team["name"] = .string("\(index)")
        return team
      }
      teams[1]["parent"] = teams[0]
      for index in 0..<3000 {
        let person = try context.insert("Person")
        person["pay"] = .integer(Int64(index % 100))
        person["worth"] = .decimal(Decimal(index))
        person["team"] = teams[index % 3]
      }
      try context.commit()
      #expect(try Self.violations(in: store) == [])
      try context.objects("Person").filter("pay > 20").delete()
      try context.commit()
      #expect(try context.count("Person") == 630)
      #expect(try Self.violations(in: store) == [])
      context.delete(teams[2])
      try context.objects("Person").filter("team.name == '1'").update(["pay": 7])
      try context.commit()
      #expect(try Self.violations(in: store) == [])
    }
  }

  @Test("A sum of decimals keeps no rounding of values that are gone")
  func sumsKeepNoRounding() throws {
    try ObjectStore.use(Self.model()) { store in
      let context = store.makeContext()
      let team = try context.insert("Team")
      let third = Decimal(1) / 3
      let person = try context.insert("Person")
      person["worth"] = .decimal(third)
      person["team"] = team
      try context.commit()
      let other = try context.insert("Person")
      other["worth"] = .decimal(1_000_000)
      other["team"] = team
      try context.commit()
      context.delete(other)
      try context.commit()
      #expect(team["worth"] == .decimal(third))
    }
  }

  @Test(
    "Contexts that change the same derived value don't conflict, and its owner keeps its version")
  func ownersKeepTheirVersion() throws {
    try ObjectStore.use(Self.model()) { store in
      let (left, right) = (store.makeContext(), store.makeContext())
      left.mergePolicy = .error
      right.mergePolicy = .error
      let team = try left.insert("Team")
      try left.commit()
      right.automaticallyMergesCommits = false
      let same = try #require(try right.fetchOne("Team"))
      for (context, owner) in [(left, team), (right, same)] {
        let person = try context.insert("Person")
        person["team"] = owner
      }
      same["name"] = "renamed"
      try left.commit()
      let version = team.currentRecord.version
      try right.commit()
      #expect(same["size"] == 2)
      #expect(version == 1)
      #expect(try store.makeContext().fetchOne("Team")?["size"] as Int? == 2)
    }
  }

  @Test("A pending change keeps showing the derived values that other commits change")
  func pendingChangesShowDerivedValues() throws {
    try ObjectStore.use(Self.model()) { store in
      let (left, right) = (store.makeContext(), store.makeContext())
      let team = try left.insert("Team")
      try left.commit()
      let same = try #require(try right.fetchOne("Team"))
      same["name"] = "pending"
      let person = try left.insert("Person")
      person["team"] = team
      try left.commit()
      try right.mergeExternalCommits()
      #expect(same["size"] == 1 && same.changedValues() == ["name": "pending"])
      same["name"] = ""
      #expect(try right.count("Team", matching: "#size == 1") == 1)
      right.rollback()
      #expect(same["size"] == 1 && !right.hasChanges)
    }
  }

  @Test("A commit lists the owners of changed derived values in the history")
  func historyListsOwners() throws {
    try ObjectStore.use(Self.model()) { store in
      let context = store.makeContext()
      let team = try context.insert("Team")
      try context.commit()
      let token = store.engine.lastSequence
      let person = try context.insert("Person")
      person["team"] = team
      try context.commit()
      let snapshot = try store.engine.snapshot()
      defer { snapshot.close() }
      guard case .entries(let entries) = try snapshot.history(after: token) else {
        throw Interruption()
      }
      let names = entries.flatMap(\.changes).map { change in
        (store.engine.schema.entity(of: change.number)?.name ?? "", change.kind)
      }
      #expect(
        Dictionary(names, uniquingKeysWith: { $1 }) == ["Team": .update, "Person": .insert])
      let change = try #require(
        entries.flatMap(\.changes).first { $0.number == team.number })
      #expect(
        team.binding.entity.propertyNames(changed: change.changedProperties)
          == ["size", "mean", "top"])
    }
  }
}
