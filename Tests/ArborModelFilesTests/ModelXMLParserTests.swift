import ArborModelFiles
import ArborModel
import Foundation
import Testing

@Suite struct ModelXMLParserTests {
  @Test(
    "Malformed XML is refused with its line",
    arguments: [
      ("<model>\n  <entity name='A'>\n</model>", 3, "an end tag doesn't match its start tag"),
      ("<model>\n  <entity name='A'/>\n", 1, "ends inside the element model"),
      ("<model>\n<entity name=A/></model>", 2, "an attribute's value is not quoted"),
      ("<model><entity name='A' name='B'/></model>", 1, "the same attribute twice"),
      ("", 1, "contains no XML element"),
      ("<model/>\n<model/>", 2, "after the end of the document"),
      ("<model><entity name='a<b'/></model>", 1, "&lt;"),
      ("<model>&nothing;</model>", 1, "not defined"),
      ("no xml at all", 1, "malformed"),
    ])
  func malformedTextIsRefusedWithItsLine(text: String, line: Int, says: String) throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(text, to: url)
      let error = try #require(ModelFixtures.error(reading: url))
      #expect(error.code == .invalidModel)
      let violation = try #require(error.violations.first)
      #expect(violation.message.contains(says), "\(violation)")
      #expect(violation.location?.line == line)
    }
  }

  @Test("A file with an unclosed element is refused")
  func aFileWithAnUnclosedElementIsRefused() throws {
    let error = try #require(
      ModelFixtures.error(reading: ModelFixtures.url("Malformed.xcdatamodel")))
    #expect(error.violations.count == 1)
    #expect(error.violations.first?.location?.line == 5)
  }

  @Test("Bytes that aren't UTF-8 are refused with their location")
  func otherBytesThanUTF8AreRefusedWithTheirPlace() throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "contents")
      try Data("<model>\n <\u{E9}ntity".utf8 + [0xE1] + "/></model>".utf8).write(to: url)
      let error = try #require(ModelFixtures.error(reading: url))
      #expect(error.violations.first?.message.contains("not UTF-8") == true)
      #expect(error.violations.first?.location?.line == 2)
      #expect(error.violations.first?.location?.column == 9)
    }
  }

  @Test("Entities that expand exponentially are refused")
  func textsThatStandForThemselvesManyTimesAreStopped() throws {
    let entities = (1...9).map {
      "<!ENTITY e\($0) \"\(String(repeating: "&e\($0 - 1);", count: 10))\">"
    }
    let bomb =
      "<!DOCTYPE model [<!ENTITY e0 \"ha\">\(entities.joined())]><model type=\"&e9;\"/>"
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(bomb, to: url)
      #expect(ModelFixtures.error(reading: url)?.code == .invalidModel)
    }
  }
}
