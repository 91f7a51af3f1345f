import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SeedReaderTests {
  // MARK: Documents

  @Test("An entity document with an object creates one instance")
  func anEntityDocumentWithAnObjectCreatesOneInstance() throws {
    let workshop = try SeedWorkshop()
    let report = try workshop.seed(#"{"Company": {"companyName": "Foo Inc."}}"#)
    #expect(report.created == ["Company": 1])
    #expect(report.objects == [try workshop.only("Company")])
    #expect(try workshop.only("Company").value(forKey: "companyName") == "Foo Inc.")
    try workshop.finish()
  }

  @Test("An entity document with a list creates its instances in order")
  func anEntityDocumentWithAListCreatesAnInstanceForEachInOrder() throws {
    let workshop = try SeedWorkshop()
    let report = try workshop.seed(
      #"{"Employee": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}"#)
    #expect(try report.objects.map { try $0.value(forKey: "name") } == ["a", "b", "c"])
    #expect(report.objects.map(\.objectID.number) == report.objects.map(\.objectID.number).sorted())
    try workshop.finish()
  }

  @Test("An empty list creates nothing")
  func anEmptyListCreatesNothing() throws {
    let workshop = try SeedWorkshop()
    let report = try workshop.seed(#"{"Company": []}"#)
    #expect(report.count == 0 && report.objects.isEmpty)
    #expect(!workshop.context.hasChanges)
  }

  @Test("A seed is not committed")
  func nothingIsCommitted() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": {}}"#)
    #expect(workshop.context.hasChanges)
    workshop.context.rollback()
    #expect(try workshop.all("Company").isEmpty)
    try workshop.finish()
  }

  @Test("Linked documents are loaded, and unknown keys are ignored")
  func seedlingsPassThroughAndOtherKeysAreIgnored() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Company": {"companyName": "A"}}"#, to: "a.json")
    try workshop.write(#"{"Department": [{"title": "B"}]}"#, to: "b.json")
    let report = try workshop.seed(
      #"{"comment": 1, "seedlings": [{"seedFile": "a.json"}, {"seedFile": "b.json"}], "Nope": {}}"#)
    #expect(report.created == ["Company": 1, "Department": 1])
    #expect(report.objects.map(\.entity.name) == ["Company", "Department"])
    #expect(report.documents.map(\.lastPathComponent) == ["Main.json", "a.json", "b.json"])
    try workshop.finish()
  }

  @Test("An empty list of links creates nothing")
  func emptySeedlingsCreateNothing() throws {
    let workshop = try SeedWorkshop()
    #expect(try workshop.seed(#"{"seedlings": []}"#).count == 0)
  }

  @Test("A document can contain several documents")
  func seedsHoldSeveralDocumentsInOne() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Address": {"city": "Bonn"}}"#, to: "a.json")
    let report = try workshop.seed(
      #"""
      {"seeds": [{"Company": {}}, {"seedlings": [{"seedFile": "a.json"}]},
                 {"seeds": [{"Department": [{}, {}]}]}]}
      """#)
    #expect(
      report.objects.map(\.entity.name) == ["Company", "Address", "Department", "Department"])
    try workshop.finish()
  }

  @Test("A document that is linked twice creates its objects twice")
  func aDocumentLinkedTwiceCreatesItsObjectsTwice() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Company": {}}"#, to: "a.json")
    let report = try workshop.seed(
      #"{"seedlings": [{"seedFile": "a.json"}, {"seedFile": "a.json"}]}"#)
    #expect(report.created == ["Company": 2])
    #expect(report.documents.count == 3)
  }

  /// Invalid documents, with part of the message and the reported path.
  static let faults: [(text: String, message: String, path: String)] = [
    ("{}", "is empty", "$"),
    (#"{"Company": {}, "Employee": {}}"#, "has 2", "$.Employee"),
    ("7", "found a number", "$"), ("\"Company\"", "found a string", "$"),
    ("null", "found null", "$"),
    (#"[{"Company": {}}]"#, "found a list", "$"),
    (#"{"Company": 7}"#, "found a number", "$.Company"),
    (#"{"Company": null}"#, "found null", "$.Company"),
    (#"{"Company": "x"}"#, "found a string", "$.Company"),
    (#"{"Company": [1]}"#, "Expected an object in the list of", "$.Company[0]"),
    (#"{"Company": [{}, {}, null]}"#, "Expected an object in the list of", "$.Company[2]"),
    (#"{"Company": [{}, [{}]]}"#, "Expected an object in the list of", "$.Company[1]"),
    ("{Company: 1}", "quotation marks", "$"), ("", "empty", "$"), ("hello", "a value", "$"),
    (#"{"Compony": {}}"#, "Did you mean Company", "$.Compony"),
    (#"{"Party": {}}"#, "abstract", "$.Party"),
    (#"{"$find": {}}"#, "“$find”", "$[\"$find\"]"),
    (#"{"seeds": {"Company": {}}}"#, "list of documents", "$.seeds"),
    (#"{"seeds": [{}]}"#, "is empty", "$.seeds[0]"),
    (#"{"seeds": [1]}"#, "found a number", "$.seeds[0]"),
    (#"{"seedlings": {"seedFile": "x"}}"#, "list of links", "$.seedlings"),
    (#"{"seedlings": ["x.json"]}"#, "Expected an object for a link", "$.seedlings[0]"),
    (#"{"seedlings": [{}]}"#, "contains no document", "$.seedlings[0]"),
    (#"{"seedlings": [{"seedFile": 1}]}"#, "Expected a string", "$.seedlings[0].seedFile"),
    (#"{"seedlings": [{"seedFile": ""}]}"#, "is empty", "$.seedlings[0].seedFile"),
    (#"{"seedlings": [{"seedfile": "x"}]}"#, "mean seedFile", "$.seedlings[0].seedfile"),
    (#"{"seedlings": [{"seedUrl": 1}]}"#, "Expected a string", "$.seedlings[0].seedUrl"),
    (#"{"seedlings": [{"seedUrl": ""}]}"#, "not a URL", "$.seedlings[0].seedUrl"),
    (#"{"seedlings": [{"seedUrl": "a b"}]}"#, "not a URL", "$.seedlings[0].seedUrl"),
    (#"{"seedlings": [{"seedUrl": "x.json"}]}"#, "a scheme and a host", "$.seedlings[0].seedUrl"),
    (#"{"seedlings": [{"seedUrl": "file:///etc/x"}]}"#, "https or http", "$.seedlings[0].seedUrl"),
  ]

  @Test("Invalid documents are rejected", arguments: faults.indices)
  func refusesDocumentsThatCannotBe(index: Int) throws {
    let workshop = try SeedWorkshop()
    let fault = Self.faults[index]
    let error = try workshop.failure(of: fault.text)
    let code: ArborError.Code =
      switch fault.message {
      case "quotation marks", "empty", "a value": .malformedDocument
      case "is empty" where fault.path.hasSuffix("seedFile"): .invalidPath
      case "not a URL", "a scheme and a host", "https or http": .invalidPath
      default: .invalidDocument
      }
    #expect(error.code == code)
    #expect(error.message.contains(fault.message), "\(error)")
    #expect(error.location?.path == fault.path)
    #expect(error.location?.source?.hasSuffix("Main.json") == true)
  }

  // MARK: Links

  @Test("Links are relative to the linking document")
  func linksAreRelativeToTheLinkingDocument() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"seedlings": [{"seedFile": "deep/c.json"}]}"#, to: "sub/b.json")
    try workshop.write(#"{"Company": {"companyName": "deep"}}"#, to: "sub/deep/c.json")
    try workshop.seed(#"{"seedlings": [{"seedFile": "./sub//b.json"}]}"#)
    #expect(try workshop.only("Company").value(forKey: "companyName") == "deep")
    try workshop.finish()
  }

  @Test("A missing file is reported at its link")
  func aMissingFileIsAnErrorAtItsLink() throws {
    let workshop = try SeedWorkshop()
    let error = try workshop.failure(
      of: #"{"seeds": [{"Company": {}}, {"seedlings": [{"seedFile": "nowhere.json"}]}]}"#)
    #expect(error.code == .fileUnreadable)
    #expect(error.location?.path == "$.seeds[1].seedlings[0].seedFile")
    let top = try workshop.failure(ofSeedFrom: [workshop.folder.appending(path: "none.json")])
    #expect(top.code == .fileUnreadable)
  }

  @Test("An error in a linked document names that document")
  func aFaultInALinkedDocumentNamesThatDocument() throws {
    let workshop = try SeedWorkshop()
    try workshop.write("{\"Company\":\n {\"companyName\": 7}}", to: "sub/a.json")
    let error = try workshop.failure(of: #"{"seedlings": [{"seedFile": "sub/a.json"}]}"#)
    #expect(error.location?.source?.hasSuffix("sub/a.json") == true)
    #expect(error.location?.line == 2 && error.location?.column == 18)
    #expect(error.location?.path == "$.Company.companyName")
    #expect(error.entity == "Company" && error.keyPath == "companyName")
  }

  @Test("If a link has both a file and a URL, the URL is used")
  func whereALinkNamesBothTheURLIsFollowed() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Company": {}}"#, to: "a.json")
    let link = #"{"seedFile": "a.json", "seedUrl": "https://example.com/a.json"}"#
    var options = SeedOptions()
    options.remote = .refused
    let error = try workshop.failure(of: "{\"seedlings\": [\(link)]}", options: options)
    #expect(error.code == .notAllowed)
    #expect(error.location?.path == "$.seedlings[0].seedUrl")
    #expect(error.message.contains("Main.json"))
  }

  @Test("A document that links to itself is reported with the chain of links")
  func aDocumentThatReachesItselfIsAnErrorThatShowsTheChain() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"seedlings": [{"seedFile": "b.json"}]}"#, to: "a.json")
    try workshop.write(
      #"{"Company": {"employees": {"seedlings": [{"seedFile": "Main.json"}]}}}"#, to: "b.json")
    let error = try workshop.failure(of: #"{"seedlings": [{"seedFile": "a.json"}]}"#)
    #expect(error.code == .cyclicDocument)
    let names = error.message.split(separator: " → ").map { $0.split(separator: "/").last ?? "" }
    #expect(names.count == 4)
    #expect(names.dropLast() == ["Main.json", "a.json", "b.json"])
    #expect(names.last?.hasPrefix("Main.json") == true)
    #expect(error.location?.source?.hasSuffix("b.json") == true)
    #expect(error.location?.path == "$.Company.employees.seedlings[0].seedFile")
  }

  @Test("A cycle through a symbolic link is detected")
  func aCycleIsFoundUnderAnotherName() throws {
    let workshop = try SeedWorkshop()
    let main = try workshop.write(#"{"seedlings": [{"seedFile": "alias.json"}]}"#)
    try FileManager.default.createSymbolicLink(
      at: workshop.folder.appending(path: "alias.json"), withDestinationURL: main)
    let error = try workshop.failure(ofSeedFrom: [main])
    #expect(error.message.contains("links to itself"))
  }

  @Test("Links may be nested to any depth")
  func linksNestWithoutLimit() throws {
    let workshop = try SeedWorkshop()
    let count = 1_000
    for number in 0..<count {
      try workshop.write(
        #"{"seedlings": [{"seedFile": "\#(number + 1).json"}]}"#, to: "\(number).json")
    }
    try workshop.write(#"{"Company": {"companyName": "last"}}"#, to: "\(count).json")
    let report = try workshop.context.seed(from: .file(workshop.folder.appending(path: "0.json")))
    #expect(report.documents.count == count + 1)
    #expect(report.objects == [try workshop.only("Company")])
  }

  @Test("Several main documents are seeded together or not at all")
  func severalTopDocumentsAreAllOrNothing() throws {
    let workshop = try SeedWorkshop()
    let good = try workshop.write(#"{"Company": {}}"#, to: "good.json")
    let bad = try workshop.write(#"{"Company": {"x": 1}}"#, to: "bad.json")
    _ = try workshop.failure(ofSeedFrom: [good, bad])
    let report = try workshop.context.seed(from: [.file(good), .file(good)])
    #expect(report.created == ["Company": 2])
    #expect(report.documents == [good, good])
    try workshop.finish()
  }

  // MARK: Limits

  @Test("The number of documents is limited")
  func limitsTheNumberOfDocuments() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Company": {}}"#, to: "a.json")
    let text = #"{"seedlings": [{"seedFile": "a.json"}, {"seedFile": "a.json"}]}"#
    var options = SeedOptions()
    options.maximumDocuments = 3
    try workshop.seed(text, options: options)
    options.maximumDocuments = 2
    #expect(try workshop.failure(of: text, options: options).code == .limitExceeded)
  }

  @Test("The total size of documents is limited")
  func limitsTheSizeOfAllDocumentsTogether() throws {
    let workshop = try SeedWorkshop()
    let linked = #"{"Company": {}}"#
    try workshop.write(linked, to: "a.json")
    let text = #"{"seedlings": [{"seedFile": "a.json"}]}"#
    var options = SeedOptions()
    options.maximumSize = text.utf8.count + linked.utf8.count
    try workshop.seed(text, options: options)
    options.maximumSize -= 1
    let error = try workshop.failure(of: text, options: options)
    #expect(error.code == .limitExceeded && error.location?.path == "$.seedlings[0].seedFile")
  }

  @Test("The number of objects is limited")
  func limitsTheNumberOfObjects() throws {
    let workshop = try SeedWorkshop()
    let text = #"{"Company": {"employees": [{}, {}]}}"#
    var options = SeedOptions()
    options.maximumObjects = 3
    try workshop.seed(text, options: options)
    options.maximumObjects = 2
    #expect(try workshop.failure(of: text, options: options).code == .limitExceeded)
  }
}
