import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// A damaged file leads to an error, but never to a crash or to wrong data.
///
/// Copies of a store with every kind of database are damaged in thirteen ways and read by a
/// separate process, as a program would read them.
@Suite("Damaged files", .serialized) struct DamageTests {
  static let cases = TestLength.of(624, long: 250_000)

  /// The number of cases in which stores are opened as usual and verified while they are used.
  /// `ARBOR_DAMAGE_CASES` overrides it in a long run.
  static let usedCases: Int = {
    let given = ProcessInfo.processInfo.environment["ARBOR_DAMAGE_CASES"].flatMap { Int($0) }
    return TestLength.of(104, long: given ?? 20_000)
  }()

  private static func seed() -> UInt64 {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    return given ?? UInt64.random(in: 0...(.max))
  }

  /// Normal use doesn't detect a page that is intact but out of date, or a changed index entry. The
  /// scrub finds them.
  @Test("Using a damaged store never crashes the process", arguments: ["reading", "writing"])
  func aDamagedStoreInUseNeverEndsTheProcess(use: String) throws {
    let seed = Self.seed()
    print("damage campaign, \(use): seed \(seed)")
    let campaign = try DamageCampaign(seed: seed)
    // Writing takes longer.
    let cases = use == "writing" ? Self.usedCases / 4 : Self.usedCases
    let used = try campaign.run(0..<cases, verification: use)
    print("\(use): \(used)")
    #expect(used.deaths == [])
    #expect(used.count == cases)
    #expect(used.refused > cases / 4)
    #expect(used.wrongAfterScrub == [])
    // Damage that only the scrub finds is rare.
    #expect(used.wrong.count <= max(2, cases / 20))
  }

  @Test("A damaged file is an error and never leads to wrong data")
  func aDamagedFileIsAnErrorAndNeverWrongData() throws {
    let seed = Self.seed()
    print("damage campaign: seed \(seed), \(Self.cases) cases")
    let campaign = try DamageCampaign(seed: seed)
    let verified = try campaign.run(0..<Self.cases, verification: "full")
    print("verified: \(verified)")
    #expect(verified.deaths == [])
    #expect(verified.wrong == [])
    #expect(verified.count == Self.cases)
    #expect(verified.refused > Self.cases / 3)
    // Without verification damage goes unnoticed or crashes the reader, which shows that the
    // campaign is able to fail.
    let trusting = try campaign.run(0..<Self.cases / 3, verification: "quick")
    print("unverified: \(trusting)")
    #expect(trusting.deaths.count + trusting.wrong.count > 0)
  }
}

/// A store, its damaged copies, and the outcomes of reading them.
private struct DamageCampaign {
  let seed: UInt64
  private let folder: TemporaryFolder

  struct Outcome: CustomStringConvertible {
    var count = 0
    var refused = 0
    var same = 0
    /// The cases that ended the process, with kind and position.
    var deaths: [String] = []
    var wrong: [String] = []
    /// The cases with wrong data whose damage the scrub missed.
    var wrongAfterScrub: [String] = []
    /// The number of cases without wrong data whose damage the scrub found.
    var foundByScrub = 0

    var description: String {
      "\(count) cases, \(refused) refused, \(same) unharmed, \(deaths.count) deaths, "
        + "\(wrong.count) with wrong data, \(wrongAfterScrub.count) of them after a scrub, "
        + "which found damage in \(foundByScrub) others"
    }
  }

  init(seed: UInt64) throws {
    self.seed = seed
    folder = try TemporaryFolder()
    try makeStore()
  }

  /// Runs the cases, starting another process after each one that dies.
  func run(_ cases: Range<Int>, verification: String) throws -> Outcome {
    var outcome = Outcome()
    var next = cases.lowerBound
    while next < cases.upperBound {
      let run = try BuiltProgram("damage-reader").run(
        [
          folder.path("sound"), folder.path("older"), folder.path("work"), "\(seed)", "\(next)",
          "\(cases.upperBound)", verification,
        ], environment: ["SWIFT_BACKTRACE": "enable=no"])
      var last = ""
      for line in run.output.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.last == "found", words[1] != "WRONG" { outcome.foundByScrub += 1 }
        switch words.dropFirst().first {
        case _ where words.first == "case":
          last = String(line)
          next = (Int(words[1]) ?? next) + 1
          outcome.count += 1
        case "error", "problem": outcome.refused += 1
        case "same": outcome.same += 1
        default:
          outcome.wrong.append(last)
          if words.last == "missed" { outcome.wrongAfterScrub.append(last) }
        }
      }
      if run.status == 0 { break }
      guard !last.isEmpty else {
        Issue.record("the reader failed: \(run.errors)")
        break
      }
      outcome.deaths.append("\(last): signal or exit \(run.status)")
    }
    return outcome
  }

  /// Creates a store with every kind of database, deep enough for branch pages, with large values,
  /// duplicate values in subtrees, and free pages.
  private func makeStore() throws {
    let path = folder.path("sound")
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    let draft = Draft(file)
    var people: [ObjectNumber] = []
    let company = try draft.insert("Company", ["name": .string("Arbor")])
    let manager = try draft.insert("Manager", ["employeeID": .integer(0)])
    for number in 1...250 {
      people.append(
        try draft.insert(
          "Employee",
          [
            "employeeID": .integer(Int64(number)), "age": .integer(Int64(20 + number % 3)),
            "name": .string("name \(number % 40)"), "email": .string("\(number)@arbor"),
            "salary": .double(Double(number)),
          ], to: ["company": company, "manager": manager]))
    }
    let tag = try draft.insert("Tag", ["name": .string("all")])
    let project = try draft.insert(
      "Project", ["title": .string(String(repeating: "p", count: 9000))])
    for person in people { try draft.link(person, "tags", tag) }
    for person in people.prefix(40) {
      try draft.link(person, "favourites", project)
      let task = try draft.insert("Task", ["title": .string("task")], to: ["project": project])
      try draft.edit(project, "tasks", .add(task))
    }
    let badges = try (0..<200).map { _ in try draft.insert("Badge") }
    try draft.commit()
    file.close()
    try FileManager.default.copyItem(atPath: path, toPath: folder.path("older"))
    try change(people, badges)
    try? FileManager.default.removeItem(atPath: path + "-lock")
  }

  private func change(_ people: [ObjectNumber], _ badges: [ObjectNumber]) throws {
    let path = folder.path("sound")
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    let draft = Draft(file)
    for round in 0..<6 {
      for person in people.dropFirst(round).prefix(200) where person.sequence % 6 == UInt64(round) {
        try draft.update(person, ["salary": .double(Double(round))])
      }
      try draft.commit()
    }
    for badge in badges.suffix(150) { try draft.delete(badge) }
    try draft.commit()
    try TemporaryStore.check(path: path)
    file.close()
  }
}
