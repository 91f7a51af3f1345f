import ArborModelFiles
import ArborModel
import Foundation
import Testing

/// Leftovers of editors in model files, which Core Data's compiler accepts. Each is a warning with
/// its line, not an error.
@Suite struct ModelXMLReaderLeftoversTests {
  /// Reads a model whose entity `A` contains the given XML on the second line.
  private func read(_ xml: String) throws -> (model: ManagedObjectModel, traps: [ArborError]) {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(
        "<model><entity name='A'>\n\(xml)\n</entity></model>", to: url)
      let document = try ModelDocument(contentsOf: url)
      #expect(try ManagedObjectModel(contentsOf: url) == document.model)
      // The model is also valid for a store.
      #expect(try document.model.validated() == document.model)
      return (document.model, document.warnings)
    }
  }

  @Test(
    "A default of a former type is converted with a warning",
    arguments: [
      (
        "Integer 64", "NO", PropertyValue.integer(0),
        "is read as 0. Expected an integer from -9223372036854775808 to 9223372036854775807."
      ),
      ("Integer 16", "YES", .integer(1), "is read as 1. Expected an integer from -32768 to 32767."),
      ("Double", "NO", .double(0), "is read as 0.0. Expected a number."),
      ("Float", "true", .double(1), "is read as 1.0. Expected a number."),
      ("Decimal", "YES", .decimal(1), "is read as 1. Expected a decimal number."),
      ("Boolean", "0.0", .boolean(false), "is read as NO. Expected YES or NO."),
      ("Boolean", "1.0", .boolean(true), "is read as YES. Expected YES or NO."),
      (
        "Integer 32", "3.7", .integer(3),
        "is read as 3. Expected an integer from -2147483648 to 2147483647."
      ),
      (
        "Integer 16", "40000", .null,
        "doesn't fit its type and was ignored. Expected an integer from -32768 to 32767."
      ),
      (
        "Integer 64", "", .null,
        "doesn't fit its type and was ignored. Expected an integer from "
          + "-9223372036854775808 to 9223372036854775807."
      ),
      ("Double", "", .null, "doesn't fit its type and was ignored. Expected a number."),
      ("Boolean", "si", .null, "doesn't fit its type and was ignored. Expected YES or NO."),
      ("Decimal", "1,5", .null, "doesn't fit its type and was ignored. Expected a decimal number."),
      (
        "UUID", "?", .null,
        "doesn't fit its type and was ignored. Expected a UUID such as "
          + "6BA7B810-9DAD-11D1-80B4-00C04FD430C8."
      ),
      ("URI", "", .null, "doesn't fit its type and was ignored. Expected a URI."),
    ])
  func aDefaultOfAFormerTypeIsATrap(
    type: String, text: String, value: PropertyValue, says: String
  ) throws {
    let (model, traps) = try read(
      "<attribute name='x' optional='YES' attributeType='\(type)' defaultValueString='\(text)'/>")
    #expect(model.entities[0].attributes[0].defaultValue == value)
    #expect(traps.map(\.message) == ["Attribute A.x has the default “\(text)”, which \(says)"])
    #expect(traps.map(\.location?.line) == [2] && traps.map(\.keyPath) == ["x"])
  }

  @Test(
    "A default outside of its bounds is ignored with a warning",
    arguments: [
      ("attributeType='Integer 16' defaultValueString='200' maxValueString='150'", "200"),
      ("attributeType='String' defaultValueString='' minValueString='1'", ""),
      (
        "attributeType='Date' defaultDateTimeInterval='5' minDateTimeInterval='9'", "5"
      ),
    ])
  func aDefaultOutsideItsBoundsIsLeftOut(attributes: String, text: String) throws {
    let (model, traps) = try read("<attribute name='x' \(attributes)/>")
    #expect(model.entities[0].attributes[0].defaultValue == .null)
    #expect(
      traps.map(\.message) == [
        "Attribute A.x has the default “\(text)”, which is outside the bounds and was ignored. "
          + "Correct the default or the bounds."
      ])
    #expect(traps.map(\.location?.line) == [2])
  }

  /// A leftover in an otherwise sound model, the expected warning, and the resulting attribute.
  @Test(
    "A leftover of a former type is ignored with a warning",
    arguments: [
      (
        "<attribute name='x' attributeType='Date' defaultDateTimeInterval='today'/>",
        "Attribute A.x has the default “today”, which doesn't fit its type and was ignored. "
          + "Expected seconds since 2001-01-01 UTC.",
        AttributeDescription("x", .date)
      ),
      (
        "<attribute name='x' attributeType='Integer 16' regularExpressionString='[0-9'/>",
        "Attribute A.x has a regular expression but is not a string. It has no effect; remove it.",
        AttributeDescription("x", .integer16)
      ),
    ])
  func aRuleOfAFormerTypeIsIgnored(
    xml: String, says: String, attribute: AttributeDescription
  ) throws {
    let (model, traps) = try read(xml)
    #expect(traps.map(\.message) == [says])
    #expect(traps.map(\.location?.line) == [2])
    #expect(model.entities[0].attributes == [attribute])
  }

  @Test("An ordered to-one relationship is read as unordered")
  func anOrderedToOneIsNotOrdered() throws {
    let (model, traps) = try read(
      "<relationship name='x' maxCount='1' ordered='YES' destinationEntity='A' inverseName='x' "
        + "inverseEntity='A'/>")
    #expect(
      traps.map(\.message) == [
        "Relationship A.x is ordered but to-one. The mark has no effect; remove it."
      ])
    #expect(traps.map(\.location?.line) == [2])
    #expect(!model.entities[0].relationships[0].isOrdered)
  }

  @Test("An attribute that is declared again is a single attribute")
  func anAttributeDeclaredAgainIsOneAttribute() throws {
    let (model, traps) = try read(
      """
      <attribute name='x' attributeType='String' defaultValueString='a'/></entity>
      <entity name='B' parentEntity='A'><attribute name='y' attributeType='Date'/>
      <attribute name='x' attributeType='String' optional='YES'/>
      <attribute name='z' attributeType='Integer 16' defaultValueString='NO'/></entity>
      <entity name='C' parentEntity='B'>
      <attribute name='x' attributeType='String'/>
      """)
    #expect(model.entities.map { $0.attributes.map(\.name) } == [["x"], ["y", "z"], []])
    #expect(model.entities[0].attributes[0].defaultValue == "a")
    let end = "with the same type. This declaration has no effect; remove it."
    #expect(
      traps.map { "\($0.location?.line ?? 0): \($0.message)" } == [
        "4: Attribute B.x is already declared by the ancestor A \(end)",
        "5: Attribute B.z has the default “NO”, which is read as 0. Expected an integer from "
          + "-32768 to 32767.",
        "7: Attribute C.x is already declared by the ancestor B \(end)",
      ])
  }

  @Test("An attribute that is declared again with another type is a problem")
  func anAttributeDeclaredAgainWithAnotherTypeIsAProblem() throws {
    let error = try #require(throws: ArborError.self) {
      try read(
        """
        <attribute name='x' attributeType='String'/></entity><entity name='B' parentEntity='A'>
        <attribute name='x' attributeType='Date'/>
        """)
    }
    #expect(error.violations.map(\.location?.line) == [3])
    #expect(error.violations.first?.message.contains("a property of its ancestor A") == true)
  }

  @Test("Relationships that don't name each other are read without inverses")
  func aLopsidedInverseIsNone() throws {
    let (model, traps) = try read(
      """
      <relationship name='first' maxCount='1' destinationEntity='B' inverseName='a' \
      inverseEntity='B'/>
      <relationship name='second' maxCount='1' destinationEntity='B' inverseName='a' \
      inverseEntity='B'/></entity>
      <entity name='B'><relationship name='a' maxCount='1' destinationEntity='A' \
      inverseName='second' inverseEntity='A'/><relationship name='plain' maxCount='1' \
      destinationEntity='A'/>
      <relationship name='third' toMany='YES' destinationEntity='B' inverseName='plain' \
      inverseEntity='B'/>
      """)
    #expect(model.entities[0].relationships.map(\.inverse) == [nil, "a"])
    #expect(model.entities[1].relationships.map(\.inverse) == ["second", nil, nil])
    let told = traps.map { "\($0.location?.line ?? 0): \($0.message)" }
    #expect(
      told == [
        "2: Relationship A.first names B.a as its inverse, which names A.second as its inverse. "
          + "The relationship is read without an inverse. Make the two relationships name each other.",
        "4: Relationship B.plain has no inverse, so its two sides can become inconsistent. Add an "
          + "inverse relationship to A.",
        "5: Relationship B.third names B.plain as its inverse, which has no inverse. The "
          + "relationship is read without an inverse. Make the two relationships name each other.",
      ])
  }

  @Test(
    "An index of a removed property is left out with a warning",
    arguments: [
      "<fetchIndex name='i'><fetchIndexElement property='gone' type='Binary'/></fetchIndex>",
      """
      <fetchIndex name='i'><fetchIndexElement property='x' type='Binary'/>\
      <fetchIndexElement property='gone' type='Binary'/></fetchIndex>
      """,
      """
      <fetchIndex name='i'><fetchIndexElement expression='canonical:(gone)' \
      expressionType='string' type='Binary'/></fetchIndex>
      """,
      """
      <fetchIndex name='i' partialIndexPredicate='gone &gt; 3'>\
      <fetchIndexElement property='x' type='Binary'/></fetchIndex>
      """,
      """
      <compoundIndexes><compoundIndex><index value='gone'/><index value='x'/></compoundIndex>\
      </compoundIndexes>
      """,
      """
      <compoundIndexes><compoundIndex><index value='gone.name'/></compoundIndex>\
      </compoundIndexes>
      """,
      """
      <uniquenessConstraints><uniquenessConstraint><constraint value='gone'/>\
      </uniquenessConstraint></uniquenessConstraints>
      """,
      """
      <uniquenessConstraints><uniquenessConstraint><constraint value='x'/>\
      <constraint value='gone'/></uniquenessConstraint></uniquenessConstraints>
      """,
    ])
  func staleIndexes(xml: String) throws {
    let sound = """
      <attribute name='x' attributeType='String'/>
      <fetchIndex name='first'><fetchIndexElement property='x' type='Binary'/></fetchIndex>
      """
    let (model, traps) = try read("\(sound)\n\(xml)")
    #expect(model == (try read(sound)).model)
    #expect(traps.map(\.location?.line) == [4] && traps.map(\.entity) == ["A"])
    let message = try #require(traps.first?.message)
    #expect(message.contains("of A lists gone") && message.contains("which doesn't exist."))
  }

  @Test("Findings about other indexes keep their lines")
  func staleIndexesBeforeOthers() throws {
    let (model, traps) = try read(
      """
      <attribute name='x' attributeType='String'/>
      <fetchIndex name='a'><fetchIndexElement property='gone' type='Binary'/></fetchIndex>
      <fetchIndex name='b'><fetchIndexElement property='xs' type='Binary'/></fetchIndex>
      <relationship name='xs' toMany='YES' destinationEntity='A' inverseName='xs' \
      inverseEntity='A'/>
      """)
    #expect(model.entities[0].fetchIndexes.map(\.name) == ["b"])
    #expect(traps.map(\.location?.line) == [3, 4])
  }

  @Test(
    "A request for an entity that was removed is left out with a warning",
    arguments: [
      (
        "</entity><fetchRequest name='r' entity='Gone' predicateString='x == 1'/><entity name='B'>",
        "Fetch request r fetches Gone, which doesn't exist."
      ),
      (
        "<fetchedProperty name='f'><fetchRequest name='r' entity='Gone'/></fetchedProperty>",
        "Fetched property A.f fetches Gone, which doesn't exist."
      ),
    ])
  func staleRequests(xml: String, says: String) throws {
    let sound = """
      <attribute name='x' attributeType='String'/>
      <fetchedProperty name='g'><fetchRequest name='g' entity='A'/></fetchedProperty>
      """
    let isInEntity = xml.hasPrefix("<fetchedProperty")
    let (model, traps) = try read("\(sound)\n\(xml)")
    let rest = isInEntity ? sound : "\(sound)</entity><entity name='B'>"
    #expect(model == (try read(rest)).model)
    #expect(
      traps.map(\.message)
        == [says + " This declaration is ignored. Remove it, or correct the name."])
    #expect(traps.map(\.location?.line) == [4])
  }

  @Test("A uniqueness constraint without properties is left out with a warning")
  func emptyConstraints() throws {
    let (model, traps) = try read(
      """
      <attribute name='x' attributeType='String'/>
      <uniquenessConstraints><uniquenessConstraint/>
      <uniquenessConstraint><constraint value='x'/></uniquenessConstraint>
      </uniquenessConstraints>
      """)
    #expect(model.entities[0].uniquenessConstraints == [["x"]])
    #expect(
      traps.map(\.message) == [
        "A uniqueness constraint of A is empty. It has no effect; remove it or add a property."
      ])
    #expect(traps.map(\.location?.line) == [3])
  }

  @Test("A configuration leaves out entities that were removed")
  func staleConfigurations() throws {
    let (model, traps) = try read(
      """
      </entity><configuration name='Local'>
      <memberEntity name='Gone'/><memberEntity name='A'/>
      </configuration><entity name='B'>
      """)
    #expect(model.configurations == ["Local": ["A"]])
    #expect(
      traps.map(\.message) == [
        "Configuration Local lists the entity Gone, which doesn't exist. Remove the name, or "
          + "correct it."
      ])
    #expect(traps.map(\.location?.line) == [2])
  }

  @Test(
    "Both marks of preservation are read, and Xcode's is written",
    arguments: ["preserveAfterDeletion", "preservesValueInHistoryOnDeletion"])
  func readsBothMarksOfPreservationAndWritesXcodes(mark: String) throws {
    var (model, traps) = try read("<attribute name='x' attributeType='String' \(mark)='YES'/>")
    #expect(model.entities[0].attributes[0].isPreservedOnDeletion && traps.isEmpty)
    // An unchanged attribute keeps its spelling.
    model.versionIdentifier = "2"
    #expect(String(decoding: try model.xmlData(), as: UTF8.self).contains("\(mark)=\"YES\""))
    model.entities[0].attributes[0].isPreservedOnDeletion = false
    #expect(!String(decoding: try model.xmlData(), as: UTF8.self).contains("preserve"))
    model.entities[0].attributes[0].isPreservedOnDeletion = true
    model.source = nil
    let text = String(decoding: try model.xmlData(), as: UTF8.self)
    #expect(text.contains("preserveAfterDeletion=\"YES\""))
    #expect(!text.contains("preservesValueInHistoryOnDeletion"))
  }

  @Test("Leftovers are written back unchanged")
  func leftoversAreWrittenBackAsTheyStand() throws {
    let text = """
      <model><entity name='A'><attribute name='x' attributeType='Integer 16' \
      defaultValueString='NO' ordered='YES'/></entity></model>
      """
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(text, to: url)
      let model = try ManagedObjectModel(contentsOf: url)
      #expect(try model.xmlData() == Data(text.utf8))
    }
  }
}
