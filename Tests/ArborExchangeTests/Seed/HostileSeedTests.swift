import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Malicious documents are rejected without any change, and processing them costs no more than
/// their size.
@Suite("Hostile seed documents") struct HostileSeedTests {
  private let workshop: SeedWorkshop

  init() throws { workshop = try SeedWorkshop() }

  /// The options for a seed from an untrusted source.
  private var options: SeedOptions {
    var options = SeedOptions()
    options.remote = .refused
    return options
  }

  @Test("Deeply nested documents are rejected")
  func nestingIsLimited() throws {
    let levels = 100_000
    let lists = String(repeating: "[", count: levels)
    let objects = String(repeating: #"{"a":"#, count: levels)
    let seeds = String(repeating: #"{"seeds":["#, count: levels)
    let friends = String(repeating: #"{"friends":["#, count: levels)
    for text in [lists, objects, seeds, #"{"Employee":"# + friends, #"{"Company":"# + lists] {
      let error = try workshop.failure(of: text, options: options)
      #expect(error.code == .limitExceeded && error.message.contains("128"), "\(error)")
    }
  }

  @Test("Nesting up to the limit is read")
  func deepNestingThatIsAllowedIsRead() throws {
    let depth = 60
    let text =
      String(repeating: #"{"friends":["#, count: depth) + "{}"
      + String(repeating: "]}", count: depth)
    #expect(try workshop.seed("{\"Employee\": \(text)}").count == depth + 1)
    try workshop.finish()
  }

  @Test("The number of linked documents is limited, including repeated ones")
  func documentsThatLinkEachOtherManyTimesOverAreLimited() throws {
    // Ten documents with ten links each to the next: ten billion expansions.
    for level in 0..<10 {
      let links = Array(repeating: "{\"seedFile\": \"\(level + 1).json\"}", count: 10)
      try workshop.write(
        "{\"seedlings\": [\(links.joined(separator: ","))]}", to: "\(level).json")
    }
    try workshop.write(#"{"Company": {}}"#, to: "10.json")
    var options = options
    options.maximumDocuments = 1_000
    let error = try workshop.failure(
      ofSeedFrom: [workshop.folder.appending(path: "0.json")], options: options)
    #expect(error.code == .limitExceeded && error.message.contains("1000 documents"))
  }

  @Test("The objects of a document that is linked many times are limited")
  func oneDocumentLinkedManyTimesIsLimitedByItsObjects() throws {
    let objects = Array(repeating: "{}", count: 1_000).joined(separator: ",")
    try workshop.write("{\"Employee\": [\(objects)]}", to: "many.json")
    let links = Array(repeating: #"{"seedFile": "many.json"}"#, count: 1_000)
    var options = options
    options.maximumObjects = 10_000
    let error = try workshop.failure(
      of: "{\"seedlings\": [\(links.joined(separator: ","))]}", options: options)
    #expect(error.code == .limitExceeded && error.message.contains("10000 objects"))
  }

  @Test("The number of members of one object is limited")
  func theMembersOfOneObjectAreLimited() throws {
    var options = options
    options.maximumMembers = 100
    func objects(_ count: Int) -> String {
      "[\(Array(repeating: "{}", count: count).joined(separator: ","))]"
    }
    try workshop.write("{\"Employee\": \(objects(101))}", to: "many.json")
    for text in [
      "{\"Company\": {\"employees\": \(objects(101))}}",
      #"{"Company": [{}, {"employees": {"seedlings": [{"seedFile": "many.json"}]}}]}"#,
    ] {
      let error = try workshop.failure(of: text, options: options)
      #expect(error.code == .limitExceeded && error.message.contains("101 members"), "\(error)")
      #expect(error.entity == "Company" && error.keyPath == "employees")
      #expect(error.location?.path?.hasSuffix(".employees") == true)
    }
    let report = try workshop.seed(
      "{\"Company\": [{\"employees\": \(objects(100))}, {\"employees\": \(objects(100))}]}",
      options: options)
    #expect(report.created == ["Company": 2, "Employee": 200])
    try workshop.finish()
  }

  @Test("A list that exceeds the limit is rejected before it is read")
  func aListIsRefusedByItsLength() throws {
    var options = options
    options.maximumObjects = 100
    // The error comes before the first element is read.
    let error = try workshop.failure(
      of: "{\"Company\": [1\(String(repeating: ",{}", count: 100))]}", options: options)
    #expect(error.code == .limitExceeded && error.message.contains("100 objects"))
    #expect(error.location?.path == "$.Company")
  }

  @Test("By default, a seed creates a million objects at most")
  func aSeedMakesAMillionObjectsAtMost() throws {
    let text = "{\"Company\": [{}\(String(repeating: ",{}", count: 1_000_000))]}"
    let error = try workshop.failure(of: text, options: options)
    #expect(error.code == .limitExceeded && error.message.contains("1000000 objects"))
  }

  @Test("Cycles of links are rejected")
  func cyclesOfLinksAreErrors() throws {
    try workshop.write(#"{"seedlings": [{"seedFile": "a.json"}]}"#, to: "a.json")
    for index in 0..<3 {
      try workshop.write(
        "{\"seedlings\": [{\"seedFile\": \"\((index + 1) % 3).json\"}]}", to: "\(index).json")
    }
    for name in ["a", "0", "1", "2"] {
      let error = try workshop.failure(
        ofSeedFrom: [workshop.folder.appending(path: "\(name).json")], options: options)
      #expect(error.message.contains("links to itself"))
    }
  }

  @Test("Paths and URLs that leave the folder or network limits are rejected")
  func traversalIsRefused() throws {
    for name in [
      "/etc/passwd", "../../../../etc/passwd", "./../x", "a/../../x", "..", "//etc/passwd",
      "\\u0000", "x\\u0000.json", "",
    ] {
      let error = try workshop.failure(
        of: "{\"seedlings\": [{\"seedFile\": \"\(name)\"}]}", options: options)
      #expect([.notAllowed, .invalidPath].contains(error.code), "\(name)")
    }
    for url in ["file:///etc/passwd", "http://169.254.169.254/", "http://localhost/", "gopher://x"]
    {
      let error = try workshop.failure(
        of: "{\"seedlings\": [{\"seedUrl\": \"\(url)\"}]}", options: options)
      #expect([.notAllowed, .invalidPath].contains(error.code), "\(url)")
    }
  }

  @Test("Devices are not read")
  func devicesAreNotRead() throws {
    for (name, device) in [("zero", "/dev/zero"), ("random", "/dev/urandom"), ("tty", "/dev/null")]
    {
      try FileManager.default.createSymbolicLink(
        atPath: workshop.folder.appending(path: name).path, withDestinationPath: device)
      let error = try workshop.failure(
        of: "{\"seedlings\": [{\"seedFile\": \"\(name)\"}]}", options: options)
      #expect(error.code == .fileUnreadable || error.code == .notAllowed)
    }
  }

  @Test("Duplicate keys are rejected")
  func duplicateKeysAreErrors() throws {
    let keys = (0..<50_000).map { "\"k\($0)\": 1" }.joined(separator: ",")
    for text in [
      #"{"Company": {"companyName": "a", "companyName": "b"}}"#,
      #"{"Company": {}, "Company": {}}"#,
      #"{"Company": {"companyName": "a", "comp\u0061nyName": 1}}"#,
      "{\"Company\": {\(keys), \"k7\": 2}}",
    ] {
      let error = try workshop.failure(of: text, options: options)
      #expect(error.message.contains("twice"), "\(error.message)")
    }
  }

  @Test("Huge numbers are rejected")
  func hugeNumbersAreErrors() throws {
    let digits = String(repeating: "9", count: 200_000)
    for number in [
      "1e400", "-1e400", "1e999999999999", digits, "0.\(digits)e99999999999",
      "1e-99999999999999999999",
    ] {
      for name in ["age", "employeeID", "salary", "weight"] {
        guard number.hasPrefix("1e-") == false || name == "age" else { continue }
        let error = try workshop.failure(
          of: "{\"Employee\": {\"\(name)\": \(number)}}", options: options)
        #expect(error.keyPath == name && error.code == .invalidDocument)
      }
    }
  }

  @Test("Thousands of references to one object are read")
  func manyReferencesCostNoMoreThanTheirText() throws {
    let refs = Array(repeating: #"{"$ref": "a"}"#, count: 20_000).joined(separator: ",")
    try workshop.seed("{\"Employee\": [{\"$id\": \"a\"}, {\"friends\": [\(refs)]}]}")
    let employees = try workshop.all("Employee")
    #expect(try employees[1].objects(forKey: "friends").fetch() == [employees[0]])
    try workshop.finish()
  }

  @Test("The search for similar names skips long labels")
  func longLabelsAreNotComparedWithEachOther() throws {
    let long = String(repeating: "x", count: 20_000)
    let instances = (0..<500).map { "{\"$id\": \"\(long)\($0)\"}" }.joined(separator: ",")
    let error = try workshop.failure(
      of: "{\"Employee\": [\(instances), {\"friends\": [{\"$ref\": \"\(long)\"}]}]}",
      options: options)
    #expect(error.code == .invalidDocument && !error.message.contains("Did you mean"))
  }

  @Test("Documents that are not valid JSON are rejected")
  func whatIsNoJSONIsAnError() throws {
    for text in [
      "\u{FEFF}", "{\"Company\": \"\u{1}\"}", #"{"Company": "\ud800"}"#, "{} {}", "[", "{\"a",
    ] {
      #expect(try workshop.failure(of: text, options: options).code == .malformedDocument)
    }
  }
}
