import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Documents composed at random from the words of the format and the model. Each is either seeded,
/// or rejected with a location and without any change.
@Suite("Seeds with random documents") struct RandomSeedsTests {
  private static let words = [
    "Company", "Employee", "Manager", "Department", "Address", "Party", "companyName", "companyID",
    "employees", "departments", "address", "owner", "name", "age", "hired", "born", "seen",
    "salary",
    "photo", "badge", "company", "friends", "title", "city", "seeds", "seedlings", "seedFile",
    "seedUrl", "$id", "$ref", "$find", "$value", "", "x",
  ]
  private static let texts = [
    "a", "b", "c", "Company", "Employee", "<uniqueID>", "", "2024-05-01", "AAEC", "Main.json",
    "a.json", "../a.json", "http://127.0.0.1:1/", "Infinity", "\u{0}",
  ]
  /// The properties of each entity, so that some documents are valid.
  private static let properties: [String: [String]] = {
    var properties: [String: [String]] = [:]
    for entity in SeedWorkshop.model.entities {
      properties[entity.name] = SeedWorkshop.model.lineage(of: entity).flatMap {
        $0.attributes.map(\.name) + $0.relationships.map(\.name)
      }
    }
    return properties
  }()

  private func value(_ depth: Int, _ random: inout SeededRandom) -> JSONValue {
    switch Int.random(in: 0..<(depth > 4 ? 4 : 10), using: &random) {
    case 0: return [nil, true, false].randomElement(using: &random) ?? nil
    case 1: return [0, 1, 18, -1, 70_000, 1.5, 1e300].randomElement(using: &random) ?? nil
    case 2, 3: return .string(Self.texts.randomElement(using: &random) ?? "")
    case 4, 5:
      return .array(
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth + 1, &random) })
    case 6: return object(Self.words, depth, &random)
    case 7: return reference(&random)
    default:
      let names = Self.properties.values.sorted { $0.joined() < $1.joined() }
      return object((names.randomElement(using: &random) ?? []) + ["$id"], depth, &random)
    }
  }

  private func object(
    _ keys: [String], _ depth: Int, _ random: inout SeededRandom
  ) -> JSONValue {
    var object = JSONObject()
    for key in keys.shuffled(using: &random).prefix(Int.random(in: 0..<3, using: &random)) {
      object[key] = value(depth + 1, &random)
    }
    return .object(object)
  }

  private func reference(_ random: inout SeededRandom) -> JSONValue {
    let label = JSONValue.string(["a", "b", "c"].randomElement(using: &random) ?? "")
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return ["$ref": label]
    case 1: return ["$id": label]
    case 2: return ["$find": "Company", "companyName": label]
    default: return ["seedlings": [["seedFile": "a.json"]]]
    }
  }

  /// The number of random documents; the environment may override it.
  private static let rounds =
    ProcessInfo.processInfo.environment["ARBOR_ROUNDS"].flatMap(Int.init) ?? 1_500

  @Test("Every random document is either seeded or rejected as a whole")
  func everyDocumentIsSeededOrRefusedAsAWhole() throws {
    var random = SeededRandom()
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Employee": {"name": "linked"}}"#, to: "a.json")
    try workshop.seed(
      #"{"Company": [{"companyName": "a", "employees": [{}, {}], "departments": [{}]}, {}]}"#)
    try workshop.context.commit()
    try workshop.all("Company")[1].setValue("b", forKey: "companyName")
    var options = SeedOptions()
    options.remote = .refused
    let before = try workshop.context.digest()
    var seeded = 0
    for round in 0..<Self.rounds {
      let entity = Self.properties.keys.sorted().randomElement(using: &random) ?? ""
      var instance = JSONObject()
      for key in (Self.properties[entity, default: []] + ["$id"]).shuffled(using: &random).prefix(2)
      {
        instance[key] = value(1, &random)
      }
      let document: JSONValue =
        round % 3 == 0 ? value(0, &random) : .object([entity: .object(instance)])
      let url = try workshop.write(document.text())
      do {
        let report = try workshop.context.seed(from: .file(url), options: options)
        if report.count > 0 { seeded += 1 }
        // The rollback also discards the earlier pending change, which is restored.
        workshop.context.rollback()
        try workshop.all("Company")[1].setValue("b", forKey: "companyName")
      } catch let error as ArborError {
        #expect(error.message.last == "." || error.message.last == "?", "\(error)")
        #expect(error.location != nil, "\(error), seed \(random.seed)")
      }
      guard round % 50 == 0 else { continue }
      #expect(try workshop.context.digest() == before, "seed \(random.seed)")
    }
    #expect(try workshop.context.digest() == before, "seed \(random.seed)")
    // Some documents must succeed, so that later checks are reached, too.
    #expect(seeded > 10, "seed \(random.seed)")
    try workshop.finish()
  }
}
