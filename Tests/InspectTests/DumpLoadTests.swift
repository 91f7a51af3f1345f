import ArborData
import Foundation
import TestSupport
import Testing

/// Loading the output of `dump --ndjson` recreates the store.
@Suite("Dumping and loading a store") struct DumpLoadTests {
  let office: OfficeStore

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  /// Writes a file into the store's folder; returns its path.
  private func write(_ text: String, to name: String) throws -> String {
    let url = office.folder.url.appending(path: name)
    try Data(text.utf8).write(to: url)
    return url.path
  }

  private func dump(_ arguments: String...) throws -> String {
    let outcome = try Inspection.program.run(
      ["dump", office.url.path, "--ndjson"] + arguments)
    try #require(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  @Test("A dumped store is loaded as the same store")
  func aDumpedStoreIsLoadedAsTheSameStore() throws {
    let before = try Data(contentsOf: office.url)
    let text = try dump()
    #expect(try Data(contentsOf: office.url) == before)
    #expect(text.split(separator: "\n").count == 5)
    let seed = try write(text, to: "dump.ndjson")
    let copy = office.folder.path("Copy.arbor")
    let outcome = try run("load", copy, seed, "--like", office.url.path)
    #expect(outcome.status == 0 && outcome.output.contains("5 objects"), "\(outcome.errors)")
    #expect(try run("dump", copy, "--ndjson").output == text)
    #expect(try run("check", copy).status == 0)
    #expect(
      try run("schema", copy, "--json").output == run("schema", office.url.path, "--json").output)
  }

  @Test("A load can take the model from a file")
  func modelsComeFromFilesToo() throws {
    let seed = try write(try dump(), to: "dump.ndjson")
    let model = office.folder.path("Office.model.json")
    try office.model.jsonData().write(to: URL(filePath: model))
    let copy = office.folder.path("Copy.arbor")
    let outcome = try run("load", copy, seed, "--model", model, "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let created = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    #expect(created as? [String: Int] == ["Employee": 3, "Office": 1, "Project": 1])
  }

  @Test("Filters select the dumped objects")
  func filtersChooseObjects() throws {
    let old = try dump("Employee", "--where", "age > 40")
    #expect(old.contains("Grace") && old.contains("Edsger") && !old.contains("Ada"))
    #expect(try dump("Person", "--limit", "2").split(separator: "\n").count == 2)
    #expect(try !dump("Project").contains("members"))
    let wrong = try run("dump", office.url.path, "Employee", "--ndjson", "--where", "agee > 1")
    #expect(wrong.status == 1 && wrong.errors.contains("agee"), "\(wrong.errors)")
    let unknown = try run("dump", office.url.path, "Emploiee", "--ndjson")
    #expect(unknown.status == 1 && unknown.errors.contains("Did you mean Employee?"))
  }

  @Test("Masks replace equal values by the same value each time")
  func masksReplaceValuesByTheSameEachTime() throws {
    let arguments = [
      "--mask", "Person.name", "--mask", "Employee.badge", "--mask", "Employee.age", "--mask",
      "Employee.salary", "--mask", "Employee.page", "--mask", "Employee.photo", "--mask",
      "Person.born",
    ]
    func masked(_ key: String) throws -> String {
      let outcome = try Inspection.program.run(
        ["dump", office.url.path, "--ndjson", "--mask-key", key] + arguments)
      try #require(outcome.status == 0, "\(outcome.errors)")
      return outcome.output
    }
    let text = try masked("a")
    for value in ["Ada", "Grace", "1234567890123456789", OfficeStore.badge.uuidString, "example"] {
      #expect(!text.contains(value))
    }
    #expect(text.contains("Riga") && text.contains("Ångström"))
    #expect(try masked("a") == text)
    #expect(try masked("b") != text)
    let copy = office.folder.path("Copy.arbor")
    let seed = try write(text, to: "masked.ndjson")
    let outcome = try run("load", copy, seed, "--like", office.url.path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    for name in ["Person.nam", "Persom.name", "name", "Employee.office", "a.b.c"] {
      let wrong = try run("dump", office.url.path, "--ndjson", "--mask", name)
      #expect(wrong.status == 1 && wrong.errors.contains("no attribute"))
    }
  }

  @Test("Only an empty store can be loaded")
  func onlyAnEmptyStoreIsLoaded() throws {
    let seed = try write(try dump(), to: "dump.ndjson")
    let before = try Data(contentsOf: office.url)
    let outcome = try run("load", office.url.path, seed)
    #expect(outcome.status == 1 && outcome.errors.contains("is not empty"))
    #expect(try Data(contentsOf: office.url) == before)
    let nothing = try run("load", office.folder.path("New.arbor"), seed)
    #expect(nothing.status == 2 && nothing.errors.contains("--model or --like"))
  }

  @Test("A failed load leaves no store")
  func aFailedLoadLeavesNoStore() throws {
    let copy = office.folder.path("Copy.arbor")
    let unknown = #"{"Office": {"city": "Bonn"}}"# + "\n" + #"{"Office": {"town": "Bonn"}}"#
    let invalid = #"{"Employee": {"name": null}}"#
    for text in [unknown, invalid, "{"] {
      let seed = try write(text, to: "bad.ndjson")
      let outcome = try run("load", copy, seed, "--like", office.url.path)
      #expect(outcome.status == 2, "\(outcome.errors)")
      let names = try FileManager.default.contentsOfDirectory(atPath: office.folder.url.path)
      #expect(!names.contains { $0.hasPrefix("Copy") }, "\(names)")
    }
    let seed = try write(unknown, to: "bad.ndjson")
    let outcome = try run("load", copy, seed, "--like", office.url.path)
    #expect(outcome.errors.contains("bad.ndjson:2:"))
    #expect(try run("load", copy, "nowhere.json", "--like", office.url.path).status == 2)
  }

  @Test("Documents from the network are refused")
  func documentsFromTheNetworkAreRefused() throws {
    let seed = try write(
      #"{"seedlings": [{"seedUrl": "http://127.0.0.1:1/x"}]}"#, to: "remote.json")
    let outcome = try run(
      "load", office.folder.path("Copy.arbor"), seed, "--like", office.url.path)
    #expect(
      outcome.status == 2 && outcome.errors.contains("don't allow documents from the network"))
  }

  @Test("Options that don't fit together are refused")
  func unfitOptionsAreRefused() throws {
    for arguments in [
      ["dump", "x", "--mask", "a.b"], ["dump", "x", "--ndjson", "--json"],
      ["dump", "x", "--ndjson", "--limit", "1"], ["load", "x"],
      ["load", "x", "y", "--model", "a", "--like", "b"],
    ] { #expect(try Inspection.program.run(arguments).status == 64, "\(arguments)") }
  }
}
