import ModelSamples
import ArborModelFiles
import ArborModel
import Foundation
import TestLength
import Testing

@Suite struct ModelXMLWriterTests {
  static let files = [
    "Corporate.xcdatamodeld/Corporate.xcdatamodel",
    "Corporate.xcdatamodeld/Corporate 2.xcdatamodel",
    "Legacy.xcdatamodel",
  ]

  @Test("An unchanged model is written back unchanged", arguments: files)
  func anUnchangedModelIsWrittenByteForByte(name: String) throws {
    let url = ModelFixtures.url(name)
    let bytes = try Data(contentsOf: url.appending(path: "contents"))
    #expect(try ManagedObjectModel(contentsOf: url).xmlData() == bytes)
    try ModelFixtures.withFolder { folder in
      let copy = folder.appending(path: "Copy.xcdatamodel")
      try ManagedObjectModel(contentsOf: url).write(to: copy)
      #expect(try Data(contentsOf: copy.appending(path: "contents")) == bytes)
    }
  }

  @Test("A change affects only the lines it has to")
  func aChangeLeavesEverythingElseAsItWas() throws {
    let url = ModelFixtures.url("Corporate.xcdatamodeld/Corporate 2.xcdatamodel")
    let model = try ManagedObjectModel(contentsOf: url)
    var changed = model
    changed.entities[0].attributes[1].defaultValue = "A & B"
    changed.entities[1].attributes[0].isIndexed = true
    changed.entities[1].relationships[2].isOrdered = false
    changed.entities[1].versionHashModifier = nil
    let before = try lines(of: model.xmlData())
    let after = try lines(of: changed.xmlData())
    #expect(try ManagedObjectModel(xml: changed.xmlData()) == changed)
    #expect(before.count == after.count)
    let differing = zip(before, after).filter { $0 != $1 }.map(\.1)
    #expect(differing.count == 4, "\(differing.joined(separator: "\n"))")
    #expect(
      differing.first?.contains(#"defaultValueString="A &amp; B" spotlightIndexingEnabled="YES""#)
        == true)
  }

  @Test("Content of a file beyond the model is kept when it is written")
  func anOldFileKeepsWhatItSaysBeyondTheModel() throws {
    var model = try ManagedObjectModel(contentsOf: ModelFixtures.url("Legacy.xcdatamodel"))
    model.entities[0].attributes[5].isOptional = false
    let text = try String(decoding: model.xmlData(), as: UTF8.self)
    for kept in [
      "futureMark=\"7\"", "<futureElement/>", "<compoundIndexes>", "optional=\"TRUE\"",
      "<element name=\"Sender\"", "iOSVersion=\"Automatic\"",
    ] {
      #expect(text.contains(kept), "\(kept)")
    }
    #expect(try ManagedObjectModel(xml: Data(text.utf8)) == model)
  }

  @Test("A model from code is read back equal")
  func aModelFromCodeComesBackEqual() throws {
    for model in try [
      ModelSamples.corporate(), SchemaFixture.model(), ModelSamples.sound(),
    ] {
      #expect(try ManagedObjectModel(xml: model.xmlData()) == model)
    }
  }

  @Test("The deepest structure of JSON is read back equal from XML and JSON")
  func theDeepestStructureComesBackEqual() throws {
    for inner in [JSONShape.any, .string, .optional(.cases(["a", "\u{1}\"]]>"]))] {
      let shape = (1..<60).reduce(inner) { shape, level in
        .optional(
          level % 3 == 0 ? .list(shape) : level % 3 == 1 ? .map(shape) : ["\u{E9} <&\"": shape])
      }
      let model = try ManagedObjectModel(entities: [
        EntityDescription("Thing") {
          AttributeDescription("part", .json, .json(shape), .optional)
          AttributeDescription("whole", .json, .json(inner), .optional)
        }
      ]).validated()
      #expect(try ManagedObjectModel(xml: model.xmlData()) == model)
      #expect(try ManagedObjectModel(json: model.jsonData()) == model)
    }
  }

  @Test(
    "A random model is read back equal",
    arguments: 0..<TestLength.of(40, long: 2000) as Range<UInt64>)
  func aRandomModelComesBackEqual(seed: UInt64) throws {
    var random = RandomModel(seed: seed)
    let model = try random.model().validated()
    let data = try model.xmlData()
    let back = try ManagedObjectModel(xml: data)
    #expect(back == model && back.fingerprint == model.fingerprint)
    #expect(try back.xmlData() == data)
  }

  @Test(
    "Any change of a model that was read is written and read back equal",
    arguments: 0..<TestLength.of(20, long: 1000) as Range<UInt64>)
  func aRandomChangeOfAFileComesBackEqual(seed: UInt64) throws {
    var random = RandomModel(seed: seed)
    let model = try random.model().validated()
    var changed = try ManagedObjectModel(xml: model.xmlData())
    var others = RandomModel(seed: seed)
    _ = others.model()
    let other = try others.model().validated()
    changed.fetchRequestTemplates = []
    changed.configurations = [:]
    changed.composites = model.composites + other.composites
    changed.entities += other.entities
    changed.entities[0].userInfo = ["changed": "yes"]
    for index in changed.entities[0].attributes.indices {
      changed.entities[0].attributes[index].isOptional.toggle()
      changed.entities[0].attributes[index].renamingIdentifier = nil
    }
    #expect(try ManagedObjectModel(xml: changed.xmlData()) == changed)
  }

  @Test(
    "Defaults are kept exactly",
    arguments: [
      (AttributeType.double, PropertyValue.double(.infinity)), (.double, .double(-0.0)),
      (.double, .double(1e300)), (.float, .double(Double(Float(0.1)))),
      (.integer64, .integer(.min)), (.decimal, .decimal(Decimal(string: "-12345.678901") ?? 0)),
      (.string, .string("\"<&>'\n\t\u{1F600}")), (.string, .string("")),
      (.date, .date(Date(timeIntervalSinceReferenceDate: -1e9 + 0.125))),
      (.uuid, .uuid(UUID())), (.boolean, .boolean(false)), (.undefined, .string("1")),
    ])
  func keepsDefaultsExactly(type: AttributeType, value: PropertyValue) throws {
    let model = try ManagedObjectModel {
      EntityDescription("E") { AttributeDescription("a", type, .transient, .default(value)) }
    }
    #expect(try ManagedObjectModel(xml: model.xmlData()) == model)
  }

  @Test("Values that XML cannot represent are refused")
  func refusesWhatXMLCannotSay() throws {
    for (type, value) in [
      (AttributeType.binary, PropertyValue.binary(Data([1]))), (.undefined, .integer(1)),
      (.string, .string("\u{1}")),
    ] {
      let model = try ManagedObjectModel {
        EntityDescription("E") { AttributeDescription("a", type, .transient, .default(value)) }
      }
      let error = #expect(throws: ArborError.self) { try model.xmlData() }
      #expect(error?.code == .invalidModel)
    }
    let unsound = ManagedObjectModel(entities: [EntityDescription(name: "")])
    #expect(throws: ArborError.self) { try unsound.xmlData() }
  }

  @Test("The name of the file determines its form")
  func writesTheFormThatTheNameAsksFor() throws {
    let model = try ModelSamples.corporate()
    try ModelFixtures.withFolder { folder in
      for name in ["M.xcdatamodeld", "M.xcdatamodel", "M.model.json", "Deep/Er.xcdatamodeld"] {
        let url = folder.appending(path: name)
        try model.write(to: url)
        #expect(try ManagedObjectModel(contentsOf: url) == model, "\(name)")
      }
      for name in ["M.momd", "M.xcmappingmodel", "M.txt"] {
        let error = #expect(throws: ArborError.self) {
          try model.write(to: folder.appending(path: name))
        }
        #expect(error?.code == .invalidArgument)
      }
    }
  }

  @Test("Writing a bundle keeps its other versions")
  func aBundleKeepsItsOtherVersions() throws {
    try ModelFixtures.withFolder { folder in
      let bundle = folder.appending(path: "Corporate.xcdatamodeld")
      try FileManager.default.copyItem(
        at: ModelFixtures.url("Corporate.xcdatamodeld"), to: bundle)
      var document = try ModelDocument(contentsOf: bundle)
      let first = try document.model(ofVersion: "Corporate")
      var model = document.model
      model.versionIdentifier = "3"
      try model.write(to: bundle)
      document = try ModelDocument(contentsOf: bundle)
      #expect(document.model == model && document.currentVersion?.name == "Corporate 2")
      #expect(try document.model(ofVersion: "Corporate") == first)
    }
  }

  @Test("A folder that isn't writable is an error")
  func anUnwritableFolderIsAnError() throws {
    let model = try ModelSamples.corporate()
    try ModelFixtures.withFolder { folder in
      let file = folder.appending(path: "file")
      try Data().write(to: file)
      let error = #expect(throws: ArborError.self) {
        try model.write(to: file.appending(path: "M.xcdatamodel"))
      }
      #expect(error?.code == .inputOutput)
    }
  }

  private func lines(of data: Data) -> [Substring] {
    String(decoding: data, as: UTF8.self).split(separator: "\n")
  }
}

extension ManagedObjectModel {
  /// Reads a model from XML.
  init(xml: Data) throws {
    self = try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(String(decoding: xml, as: UTF8.self), to: url)
      return try ManagedObjectModel(contentsOf: url)
    }
  }
}
