import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

/// Forged files: entries that say what nobody wrote, with every checksum right, are an error or
/// harmless, never the end of the process and never a loop.
///
/// Half of them are opened after the quick look and used through the store's own layer, half after
/// the verification in full and through objects. A usual run forges the same as the last, so that a
/// change is what a failure tells of; a long one begins anew, and `ARBOR_SEED` replays it.
@Suite(.serialized) struct ForgeryTests {
  static let cases = TestLength.of(200, long: 100_000)

  @Test func aForgedFileNeverStopsTheProcess() throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    let seed = given ?? (TestLength.isLong ? SeededRandom().seed : 2_900_668_293_627_433_697)
    print("forgery campaign: seed \(seed), \(Self.cases) cases")
    let folder = try TemporaryFolder()
    try Self.makeStore(at: folder.path("sound"))
    var deaths: [String] = []
    var results: [Substring: Int] = [:]
    var next = 0
    while next < Self.cases {
      let run = try BuiltProgram("damage-reader").run(
        [
          folder.path("sound"), folder.path("sound"), folder.path("work"), "\(seed)", "\(next)",
          "\(Self.cases)", "forged",
        ], environment: ["SWIFT_BACKTRACE": "enable=no"])
      var last = ""
      for line in run.output.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.first == "case" {
          last = String(line)
          next = (Int(words[1]) ?? next) + 1
        } else if let result = words.last {
          results[result, default: 0] += 1
        }
      }
      if run.status == 0 { break }
      deaths.append("\(last): signal or exit \(run.status), seed \(seed)")
      try #require(!last.isEmpty, "the reader failed: \(run.errors)")
    }
    print("forged: \(results), deaths: \(deaths.count)")
    #expect(deaths == [])
    #expect(results.values.reduce(0, +) == Self.cases)
    // The forgeries are such as are noticed.
    #expect(results["refused", default: 0] + results["found", default: 0] > Self.cases / 3)
  }

  /// A little of everything that a store keeps.
  private static func makeStore(at path: String) throws {
    let file = try StoreFile.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    let draft = Draft(file)
    let company = try draft.insert("Company", ["name": "Arbor", "founded": .date(Date())])
    let manager = try draft.insert("Manager", ["employeeID": 0, "name": "Eve"])
    let tag = try draft.insert("Tag", ["name": "all"])
    let projects = try (0..<5).map { try draft.insert("Project", ["title": .string("p\($0)")]) }
    for number in 1...12 {
      let person = try draft.insert(
        "Employee",
        [
          "employeeID": .integer(Int64(number)), "age": .integer(Int64(20 + number % 3)),
          "name": .string("name \(number % 4)"), "email": .string("\(number)@arbor"),
          "salary": .double(Double(number)), "hiredAt": .date(Date()),
        ], to: ["company": company, "manager": manager])
      try draft.link(person, "tags", tag)
      try draft.link(person, "favourites", projects[number % 2])
      let task = try draft.insert("Task", ["title": "task"], to: ["project": projects[0]])
      try draft.edit(projects[0], "tasks", .add(task))
      try draft.insert("Badge", ["code": .uuid(UUID())], to: ["employee": person])
      try draft.commit()
    }
    for project in projects {
      try draft.update(project, ["title": .string(String(repeating: "p", count: 300))])
      try draft.commit()
    }
    file.close()
    try? FileManager.default.removeItem(atPath: path + "-lock")
  }
}
