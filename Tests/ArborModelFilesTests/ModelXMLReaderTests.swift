import ModelSamples
import ArborModelFiles
import TestLength
import ArborModel
import Foundation
import Testing

@Suite struct ModelXMLReaderTests {
  @Test("Everything in a model file is read")
  func readsEverythingThatAFileSays() throws {
    let document = try ModelDocument(contentsOf: ModelFixtures.url("Corporate.xcdatamodeld"))
    let expected = try ModelSamples.corporate()
    for (read, written) in zip(document.model.entities, expected.entities) {
      #expect(read == written)
    }
    #expect(document.model == expected)
    #expect(document.warnings.map(\.message) == [])
  }

  @Test("Old files are read with warnings")
  func readsOldFilesAndWarns() throws {
    let document = try ModelDocument(contentsOf: ModelFixtures.url("Legacy.xcdatamodel"))
    let message = try #require(document.model.entity(named: "Message"))
    #expect(
      message.attributes.map(\.type) == [
        .undefined, .integer32, .boolean, .transformable(""), .date, .string,
      ])
    #expect(message.attributes[1].isIndexed)
    #expect(message.attributes[1].defaultValue == 0)
    #expect(message.attributes[2].isOptional && message.attributes[2].defaultValue == false)
    #expect(message.attributes[5].defaultValue == .null)
    #expect(
      message.fetchIndexes == [
        FetchIndexDescription(name: "subject+sent", elements: [.init("subject"), .init("sent")]),
        FetchIndexDescription(name: "sender.email", elements: [.init("sender.email")]),
      ])
    #expect(!message.relationships[0].isToMany && message.relationships[0].minimumCount == 0)
    let warnings = document.warnings.map { "\($0.location?.line ?? 0): \($0.message)" }
    let expected = [
      "3: The attribute futureMark of the element model is unknown",
      "4: The attribute futureMark of the element entity is unknown",
      "5: The attribute futureMark of the element attribute is unknown",
      "9: Attribute Message.sent has defaultDateTimeInterval 1400000000, which looks like seconds "
        + "since 1970",
      "10: The attribute defaultValue of the element attribute has no effect. Use "
        + "defaultValueString",
      "11: Relationship Message.owner has no inverse",
      "18: Index sender.email of Message orders by sender.email",
      "26: The element futureElement in entity is unknown",
    ]
    #expect(warnings.count == expected.count)
    for (warning, start) in zip(warnings, expected) {
      #expect(warning.hasPrefix(start), "\(warning)")
    }
  }

  @Test("Mistakes are reported with their locations")
  func reportsMistakesWithTheirPlaces() throws {
    let url = ModelFixtures.url("TenMistakes.xcdatamodel")
    let error = try #require(ModelFixtures.error(reading: url))
    #expect(error.code == .invalidModel)
    let found = error.violations.map {
      [
        $0.location.map { "\($0.line):\($0.column)" } ?? "", $0.entity ?? "", $0.keyPath ?? "",
      ]
    }
    #expect(
      found == [
        ["3:5", "Company", ""], ["4:9", "Company", "founded"], ["5:9", "Company", "name"],
        ["8:9", "Company", "employees"], ["10:13", "Company", ""],
        ["16:9", "Employee", "age"], ["17:9", "Employee", "code"], ["19:9", "Employee", "desk"],
      ])
    #expect(error.violations.allSatisfy { $0.location?.source?.hasSuffix("contents") == true })
    #expect(error.description.contains("Did you mean Cascade?"))
  }

  @Test("Warnings of a model are not listed among its problems")
  func warningsAreNoViolations() throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      func model(_ last: String) -> String {
        """
        <model><entity name="A" abstract="YES"><attribute name="a" attributeType="Binary"
          defaultValueString="x"/><attribute name="n" attributeType="Integer 16"
          defaultValueString="NO"/>\(last)</entity></model>
        """
      }
      try ModelFixtures.write(model("<attribute name='b'/>"), to: url)
      let error = try #require(ModelFixtures.error(reading: url))
      #expect(error.violations.map(\.keyPath) == ["b"])
      #expect(error.message.contains(" has 1 problem. Correct it."))
      try ModelFixtures.write(model(""), to: url)
      #expect(try ModelDocument(contentsOf: url).warnings.map(\.keyPath) == [nil, "a", "n"])
    }
  }

  @Test(
    "A request that uses a removed property is a warning",
    arguments: [
      (
        "<fetchedProperty name='f'><fetchRequest name='r' entity='A' predicateString='gone == 1'/>"
          + "</fetchedProperty></entity>", "names gone: gone is not a property of A"
      ),
      (
        "</entity><fetchRequest name='r' entity='A' predicateString='internalID == $ID'/>",
        "names internalID: internalID is not a property of A"
      ),
      (
        "</entity><fetchRequest name='r' entity='A' predicateString='url.path LIKE[c] $URL'/>",
        "names url.path: A.url is an attribute, so the path must end there"
      ),
      (
        "</entity><fetchRequest name='r' entity='A' predicateString='ANY a.gone.x == 1'/>",
        "names a.gone.x: gone is not a property of A"
      ),
    ])
  func aStaleRequestIsAWarning(xml: String, says: String) throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(
        "<model><entity name='A'><attribute name='url' attributeType='Transformable'/>"
          + "<relationship name='a' optional='YES' destinationEntity='A' toMany='YES'/>\n\(xml)"
          + "</model>", to: url)
      let document = try ModelDocument(contentsOf: url)
      let warnings = document.warnings.filter { $0.message.contains(says) }
      #expect(warnings.count == 1, "\(document.warnings)")
      #expect(warnings.first?.location?.line == 2)
      // The form that is stored in a store can be read, too.
      #expect(try ManagedObjectModel(json: document.model.jsonData()) == document.model)
    }
  }

  /// A mistake in the XML of an otherwise sound model, and a part of the expected message.
  @Test(
    "A mistake is reported once",
    arguments: [
      ("<attribute name='x' attributeType='Strin'/>", "Did you mean String?"),
      (
        "<attribute name='x' attributeType='Date' minDateTimeInterval='today'/>",
        "seconds since 2001"
      ),
      ("<attribute name='x' attributeType='String' indexed='ja'/>", "Use “YES” or “NO”"),
      ("<attribute name='x' attributeType='Decimal' minValueString='1,5'/>", "a decimal number"),
      ("<attribute attributeType='String'/>", "has no name"),
      (
        "<attribute name='x' attributeType='Composite' composite='Nope'/>",
        "has the unknown composite type Nope"
      ),
      (
        "<relationship name='x' destinationEntity='A' inverseEntity='A' maxCount='1'/>",
        "without inverseName"
      ),
      ("<relationship name='x' maxCount='1'/>", "has no destination"),
      (
        "<relationship name='x' destinationEntity='A' maxCount='-1'/>",
        "has maxCount “-1”. Use an integer of at least 0."
      ),
      ("<fetchedProperty name='x'/>", "has no fetch request"),
      (
        "<fetchIndex name='i'><fetchIndexElement property='n' type='Hash'/></fetchIndex>",
        "Use “Binary” or “RTree”"
      ),
      (
        "<fetchIndex name='i'><fetchIndexElement property='n' order='up'/></fetchIndex>",
        "Use “ascending” or “descending”"
      ),
    ])
  func aMistakeIsReportedOnce(xml: String, says: String) throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(
        "<model><entity name='A'><attribute name='n' attributeType='String'/>\n\(xml)</entity>"
          + "</model>", to: url)
      let error = try #require(ModelFixtures.error(reading: url))
      #expect(error.violations.count == 1)
      #expect(error.violations.first?.message.contains(says) == true, "\(error)")
      #expect(error.violations.first?.location?.line == 2)
    }
  }

  @Test("A file with another root element is not a model")
  func aForeignRootIsNoModel() throws {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write("<plist/>", to: url)
      let error = try #require(ModelFixtures.error(reading: url))
      #expect(
        error.violations.map(\.message) == [
          "Expected the root element model, but found plist."
        ])
    }
  }

  @Test(
    "Reading a damaged file returns a model or throws an error, and never crashes",
    arguments: 0..<20 as Range<UInt64>)
  func aDamagedFileIsAModelOrAnError(seed: UInt64) throws {
    let sound = try Data(
      contentsOf: ModelFixtures.url("Corporate.xcdatamodeld/Corporate 2.xcdatamodel/contents"))
    var random = SplitMix(seed: seed)
    try ModelFixtures.withFolder { folder in
      let file = folder.appending(path: "contents")
      for _ in 0..<20 {
        var damaged = sound
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let index = Int.random(in: damaged.indices, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: damaged[index] = .random(in: .min ... .max, using: &random)
          case 1: damaged.removeSubrange(index..<min(index + 9, damaged.count))
          default: damaged.insert(contentsOf: sound.prefix(index + 40).suffix(40), at: index)
          }
        }
        try damaged.write(to: file)
        if let error = ModelFixtures.error(reading: file) {
          #expect(error.code == .invalidModel)
          #expect(error.violations.allSatisfy { $0.location != nil })
        }
      }
    }
  }
}
