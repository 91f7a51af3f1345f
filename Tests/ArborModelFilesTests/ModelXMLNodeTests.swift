import ArborModelFiles
import ArborModel
import Foundation
import Testing

@Suite struct ModelXMLNodeTests {
  @Test(
    "The location of a faulty element is that of its tag",
    arguments: [
      ("<model><entity name='1'/></model>", 1, 8),
      ("<model>\n  <entity\n    name='1'\n    />\n</model>", 2, 3),
      ("<model><entity name='é'/>\t<entity name='1'/></model>", 1, 27),
      ("<model><entity name='a &gt; b'/></model>", 1, 8),
      ("<model>\r\n<entity name='1'/></model>", 2, 1),
      ("<model><!-- <entity> --><entity name='1'/></model>", 1, 25),
    ])
  func findsWhereATagBegins(text: String, line: Int, column: Int) throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(text, to: url)
      let error = try #require(ModelFixtures.error(reading: url))
      #expect(error.violations.count == 1)
      let location = error.violations.first?.location
      #expect(location?.line == line && location?.column == column, "\(error)")
    }
  }

  @Test(
    "Attributes keep their order after a change, however the tag is written",
    arguments: [
      #"<entity userKey="a=b" representedClassName='x"y' name="E">"#,
      "<entity\n  versionHashModifier = 'é='\n  name=\"E\" representedClassName='C'>",
    ])
  func keepsTheOrderOfAttributes(tag: String) throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write("<model>\(tag)</entity></model>", to: url)
      var model = try ManagedObjectModel(contentsOf: url)
      model.versionIdentifier = "2"
      let text = String(decoding: try model.xmlData(), as: UTF8.self)
      let written = try #require(text.split(separator: "\n").first { $0.contains("<entity") })
      let names = ["userKey", "representedClassName", "versionHashModifier", "name"]
      func order(_ text: some StringProtocol) -> [String] {
        names.filter { text.contains($0) }.sorted {
          guard let left = text.range(of: $0), let right = text.range(of: $1) else { return false }
          return left.lowerBound < right.lowerBound
        }
      }
      #expect(order(written) == order(tag), "\(written)")
    }
  }
}
