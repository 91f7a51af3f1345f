import ArborModelFiles
import ArborModel
import Foundation
import Testing

/// Model files that are designed to overflow the stack or to take quadratic time. Reading them must
/// end with a model or an error.
@Suite("Hostile model files") struct ModelHostileTests {
  private func read(_ contents: String) throws -> Result<ManagedObjectModel, ArborError> {
    try ModelFixtures.withFolder { folder in
      let url = folder.appending(path: "Model.xcdatamodel")
      try ModelFixtures.write(contents, to: url)
      do throws(ArborError) { return .success(try ManagedObjectModel(contentsOf: url)) } catch {
        return .failure(error)
      }
    }
  }

  private func json(_ text: String) -> Result<ManagedObjectModel, ArborError> {
    do throws(ArborError) {
      return .success(try ManagedObjectModel(json: Data(text.utf8)))
    } catch {
      return .failure(error)
    }
  }

  private func failure(_ result: Result<ManagedObjectModel, ArborError>) -> ArborError? {
    if case .failure(let error) = result { error } else { nil }
  }

  @Test("Deeply nested elements are an error", arguments: ["x", "entity", "userInfo"])
  func deepElementsAreAnError(name: String) throws {
    let depth = 50_000
    for closing in [String(repeating: "</\(name)>", count: depth) + "</model>", ""] {
      let text = "<model>" + String(repeating: "<\(name)>", count: depth) + closing
      let error = try #require(failure(try read(text)))
      #expect(
        error.violations.map(\.message) == [
          "The XML is nested more than 64 levels deep. Restore the file."
        ])
      #expect(error.violations.first?.location?.line == 1)
    }
  }

  @Test("Deeply nested JSON is an error")
  func deepJSONIsAnError() throws {
    for (open, close) in [("[", "]"), (#"{"entities":"#, "}")] {
      let text =
        String(repeating: open, count: 50_000) + "1" + String(repeating: close, count: 50_000)
      #expect(failure(json(text))?.code == .invalidModel)
    }
  }

  @Test(
    "Thousands of faulty elements on one line are reported in linear time",
    .timeLimit(.minutes(40)),
    arguments: [
      { "<attribute name='a\($0)' attributeType='Strin'/>" },
      { "<attribute name='a\($0)' attributeType='Integer 16' defaultValueString='NO' u\($0)=''/>" },
      { "<relationship name='r\($0)' maxCount='1' destinationEntity='B\($0)'/>" },
      { "<relationship name='r\($0)' maxCount='1' destinationEntity='A' inverseName='i\($0)'/>" },
      { "<fetchIndex name='i\($0)'><fetchIndexElement property='p\($0)'/></fetchIndex>" },
      {
        "<uniquenessConstraints><uniquenessConstraint><constraint value='p\($0)'/>"
          + "</uniquenessConstraint></uniquenessConstraints>"
      },
      {
        "<compoundIndexes><compoundIndex><index value='p\($0)'/></compoundIndex></compoundIndexes>"
      },
      { "<userInfo><entry key='arbor.index.i\($0)' value='x'/></userInfo>" },
      { "<attribute name='a\($0)' attributeType='String' derivationExpression='p\($0)'/>" },
      { "</entity><entity name='E\($0)' parentEntity='F\($0)'>" },
      { "</entity><entity name='E\($0)' parentEntity='A'>" },
      { "</entity><fetchRequest name='r\($0)' entity='E\($0)'/><entity name='E\($0)'>" },
      {
        "</entity><composite name='C\($0)'><attribute name='x' attributeType='Composite' "
          + "composite='D\($0)'/></composite><entity name='E\($0)'>"
      },
    ] as [@Sendable (Int) -> String])
  func wideFilesTakeLinearTime(element: @Sendable (Int) -> String) throws {
    let elements = (0..<20_000).map(element).joined()
    switch try read("<model><entity name='A'>\(elements)</entity></model>") {
    case .success(let model): #expect(model.entity(named: "A") != nil)
    case .failure(let error): #expect((1...20_000).contains(error.violations.count))
    }
  }

  @Test(
    "Thousands of faulty JSON members are reported in linear time",
    .timeLimit(.minutes(40)),
    arguments: [
      { "\"a\($0)\": \"strin\"" }, { "\"a\($0)\": {\"type\": \"string\"}" },
      { "\"a\($0)\": {\"type\": \"composite(C\($0))\"}" },
    ] as [@Sendable (Int) -> String])
  func wideJSONTakesLinearTime(member: @Sendable (Int) -> String) throws {
    let members = (0..<20_000).map(member).joined(separator: ",")
    let result = json(#"{"entities": {"A": {"attributes": {\#(members)}}}}"#)
    if let error = failure(result) {
      #expect(error.violations.count == 1_000)
      #expect(
        error.message
          == "The model has 20000 problems, the first 1000 of which are listed. Correct each of "
          + "them.")
    }
  }

  @Test("A long chain of parents is one problem", arguments: [101, 2_000])
  func aLongChainOfParentsIsOneProblem(count: Int) throws {
    func chain(_ count: Int) -> ManagedObjectModel {
      ManagedObjectModel(
        entities: (0...count).map { index in
          EntityDescription(
            name: "E\(index)", parent: index == 0 ? nil : "E\(index - 1)",
            attributes: [AttributeDescription(name: "a\(index)", type: .string)])
        })
    }
    try chain(100).validated()
    let elements = chain(count).entities.map { entity in
      "<entity name='\(entity.name)'"
        + (entity.parent.map { " parentEntity='\($0)'" } ?? "") + "/>"
    }
    let error = try #require(failure(try read("<model>\(elements.joined())</model>")))
    #expect(
      error.violations.map(\.message) == [
        "Entity E101 has more than 100 ancestors. Inherit from an entity with fewer ancestors."
      ])
    let members = chain(count).entities.map { entity in
      "\"\(entity.name)\": {" + (entity.parent.map { "\"parent\": \"\($0)\"" } ?? "") + "}"
    }
    let inJSON = failure(json("{\"entities\": {\(members.joined(separator: ","))}}"))
    #expect(inJSON?.violations.map(\.message) == error.violations.map(\.message))
  }

  @Test("The number of inherited properties is limited")
  func inheritedPropertiesAreBounded() throws {
    let attributes = (0..<1_000).map { AttributeDescription(name: "a\($0)", type: .string) }
    let children = (0..<1_000).map { EntityDescription(name: "E\($0)", parent: "A") }
    let model = ManagedObjectModel(
      entities: [EntityDescription(name: "A", attributes: attributes)] + children)
    #expect(
      failure(Result { () throws(ArborError) in try model.validated() })?.violations.map(\.message)
        == [
          "The model has 1001000 properties, counting inherited ones in each entity, which exceeds "
            + "the limit of 1000000. Split the model."
        ])
  }

  @Test("Composite types that multiply are one problem")
  func compositesThatMultiplyAreOneProblem() throws {
    func composite(_ index: Int, of parts: [String]) -> CompositeDescription {
      CompositeDescription(
        name: "C\(index)",
        attributes: parts.enumerated().map {
          AttributeDescription(name: "p\($0)", type: $1.isEmpty ? .string : .composite($1))
        })
    }
    func problems(_ composites: [CompositeDescription]) -> [String] {
      let model = ManagedObjectModel(
        entities: [EntityDescription(name: "A")], composites: composites)
      let result = Result { () throws(ArborError) in try model.validated() }
      return failure(result)?.violations.map(\.message) ?? []
    }
    // Each level has two parts of the next level: 2^40 parts in total.
    let doubling = (0..<40).map {
      composite($0, of: $0 == 39 ? [""] : ["C\($0 + 1)", "C\($0 + 1)"])
    }
    #expect(
      problems(doubling) == [
        "Composite type C24 is too large: nested parts included, the limits are 32 levels and "
          + "65535 parts. Split it."
      ])
    let deep = (0..<2_000).map { composite($0, of: $0 == 1_999 ? [""] : ["C\($0 + 1)"]) }
    #expect(
      problems(deep) == [
        "Composite type C1967 is too large: nested parts included, the limits are 32 levels and "
          + "65535 parts. Split it."
      ])
    #expect(problems(Array(deep.suffix(32))).isEmpty)
    // Two types that contain each other are reported, but not those that contain one of them.
    let cycle = [
      composite(0, of: ["C1"]), composite(1, of: ["C2", "C3"]), composite(2, of: ["C1"]),
      composite(3, of: [""]),
    ]
    #expect(
      problems(cycle) == [
        "Composite type C1 contains itself. Remove the part that leads back to it.",
        "Composite type C2 contains itself. Remove the part that leads back to it.",
      ])
  }
}
