import ArborData
import Foundation
import TestSupport
import Testing

/// The demonstration runs to completion on documents in the format of `iso-codes` and leaves a
/// sound store.
@Suite("The demonstration program") struct WorldTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try write(
      "3166-1",
      [
        ["alpha_2": "IS", "alpha_3": "ISL", "name": "Iceland", "numeric": "352", "flag": "🇮🇸"],
        [
          "alpha_2": "GB", "alpha_3": "GBR", "name": "United Kingdom", "numeric": "826",
          "official_name": "United Kingdom of Great Britain and Northern Ireland",
        ],
        ["alpha_2": "DE", "alpha_3": "DEU", "name": "Germany", "numeric": "276"],
      ])
    try write(
      "3166-2",
      [
        ["code": "IS-1", "name": "Höfuðborgarsvæði", "type": "Region"],
        ["code": "IS-RKN", "name": "Reykjanesbær", "type": "Municipality", "parent": "IS-1"],
        ["code": "GB-ENG", "name": "England", "type": "Country"],
        ["code": "GB-BEN", "name": "Brent", "type": "London borough", "parent": "ENG"],
        ["code": "DE-BY", "name": "Bayern", "type": "Land"],
      ])
    try write("4217", [["alpha_3": "ISK", "name": "Iceland Krona", "numeric": "352"]])
    try write(
      "639-3",
      [
        ["alpha_3": "isl", "alpha_2": "is", "name": "Icelandic", "scope": "I", "type": "L"],
        ["alpha_3": "non", "name": "Old Norse", "scope": "I", "type": "H"],
      ])
  }

  private func write(_ standard: String, _ rows: [[String: String]]) throws {
    try JSONEncoder().encode([standard: rows])
      .write(to: folder.url.appending(path: "iso_\(standard).json"))
  }

  @Test("The demonstration succeeds and leaves a sound store")
  func itRunsToItsEnd() throws {
    let path = folder.path("World.arbor")
    let outcome = try BuiltProgram("world").run([path, folder.url.path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    for line in [
      "imported iso_3166-1.json: 3 new, 0 changed, 0 unchanged",
      "imported iso_3166-1.json: 0 new, 0 changed, 3 unchanged",
      "seeded 3 Company, 3 Department, 7 Employee from 11 documents",
      "“livingLanguages”: 1 of 2 languages",
      "London boroughs, over two relationships: 1, first Brent",
      "well paid at Foo Inc.: Ada Foo, Frances Foo", "deleted a country and 1 of ",
      "first in the live list; undone at once",
      "hired 5000 in the background, 500 at a time; the live list has 5000 more",
      "dismissed 5000 trainees", "reopened: 3 Company, 3 Country",
    ] {
      #expect(outcome.output.contains(line), "“\(line)” is not in\n\(outcome.output)")
    }
    let store = try PersistentStore(at: .file(URL(filePath: path)))
    try store.check()
    let found = try store.makeContext().count(
      "Subdivision", matching: "code == 'GB-BEN' AND parent.country.name == 'United Kingdom'")
    #expect(found == 1)
  }

  /// The plan uses the suggested index once it exists, both plans return the same rows, and the
  /// store keeps the index.
  @Test("The demonstration shows what an index does")
  func itShowsWhatAnIndexDoes() throws {
    let path = folder.path("World.arbor")
    let outcome = try BuiltProgram("world").run([path, folder.url.path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    let parts = outcome.output.components(separatedBy: "over three relationships, ")
    try #require(parts.count == 3, "\(outcome.output)")
    let (before, after) = (parts[1], parts[2])
    #expect(before.hasPrefix("without an index: England\n"))
    #expect(after.hasPrefix("with Country.byOfficialName: England\n"))
    let plan = before.components(separatedBy: "suggested index: ")
    try #require(plan.count == 2, "\(before)")
    #expect(
      plan[1].hasPrefix(
        "FetchIndexDescription(\"byOfficialName\", on: \"officialName\") at Country\n"))
    #expect(!plan[0].contains("index Country."))
    #expect(plan[0].contains("└ scan Country · 3 rows\n"))
    #expect(!after.contains("└ scan"))
    let step = #"index Country.byOfficialName: officialName BEGINSWITH "United Kingdom" · 1 row"#
    #expect(after.contains("└ \(step)\n"))
    #expect(after.contains("the same row; “scan Country · 3 rows” became “\(step)”\n"))

    let store = try PersistentStore(at: .file(URL(filePath: path)))
    try store.check()
    #expect(try store.indexes().contains { $0.entity == "Country" && $0.name == "byOfficialName" })
  }

  @Test("Missing arguments and documents lead to different exit codes")
  func itAsksForWhatItNeeds() throws {
    #expect(try BuiltProgram("world").run([]).status == 2)
    let missing = try BuiltProgram("world").run([folder.path("w.arbor"), folder.path("nowhere")])
    #expect(missing.status == 1)
  }
}
