import ArborModel
import Testing

@Suite struct ModelDifferenceTests {
  private func difference(_ change: (inout ManagedObjectModel) -> Void) throws -> ModelDifference {
    let model = try ModelFingerprintTests.model()
    var other = model
    change(&other)
    return model.difference(to: other)
  }

  @Test func isEmptyBetweenEqualModels() throws {
    let difference = try difference { _ in }
    #expect(difference.isEmpty && difference.isLightweight && difference.description == "")
  }

  /// Every change of the fingerprint is one that the difference explains, and the other way round.
  @Test(arguments: ModelFingerprintTests.storedChanges)
  func explainsWhyFingerprintsDiffer(change: ModelChange) throws {
    let difference = try difference(change.make)
    #expect(!difference.storedChanges.isEmpty, "\(difference)")
  }

  @Test(arguments: ModelFingerprintTests.otherChanges)
  func namesNoStoredChangeWhereFingerprintsAgree(change: ModelChange) throws {
    let difference = try difference(change.make)
    #expect(difference.storedChanges.isEmpty, "\(difference)")
    #expect(difference.isLightweight)
  }

  @Test func followsRenamings() throws {
    let difference = try difference { model in
      model.entities[0].name = "Human"
      model.entities[0].renamingIdentifier = "Person"
      model.entities[0].attributes[0].name = "fullName"
      model.entities[0].attributes[0].renamingIdentifier = "name"
      model.entities[0].attributes[0].isIndexed = false
      model.entities[0].relationships[0].name = "peers"
      model.entities[0].relationships[0].renamingIdentifier = "friends"
      model.entities[0].relationships[0].inverse = "peers"
      model.entities[0].relationships[0].destination = "Human"
      model.entities[1].parent = "Human"
      model.fetchRequestTemplates = []
    }
    #expect(
      difference.description == """
        Human: its name changes from Person to Human (lightweight)
        Human.fullName: its name changes from name to fullName (lightweight)
        Human.peers: its name changes from friends to peers (lightweight)
        Human: the index name is gone (lightweight)
        named requests changed
        """)
    #expect(difference.isLightweight)
  }

  @Test func namesIndexChanges() throws {
    let difference = try difference { model in
      model.entities[0].attributes[0].isIndexed = false
      model.entities[0].fetchIndexes = [
        FetchIndexDescription(
          name: "a", elements: [.init("name", isAscending: false, kind: .folded)],
          partialIndexPredicate: "age > 3", isUnique: true),
        FetchIndexDescription(name: "b", elements: [.init("name", kind: .text)]),
      ]
    }
    #expect(
      difference.description == """
        Person: the index a is new: unique (folded -name) where age > 3 (lightweight)
        Person: the index b is new: (words of name) (lightweight)
        Person: the index name is gone (lightweight)
        """)
    #expect(difference.isLightweight)
  }

  @Test func namesAnIndexThatIsMadeOfSomethingElse() throws {
    var model = try ModelFingerprintTests.model()
    model.entities[0].fetchIndexes = [
      FetchIndexDescription(name: "i", elements: [.init("name", isAscending: false)])
    ]
    var other = model
    other.entities[0].fetchIndexes[0].elements[0].kind = .folded
    #expect(
      model.difference(to: other).description
        == "Person: the index i changes from (-name) to (folded -name) (lightweight)")
  }

  @Test func anotherNameWithoutFormerNameIsOneLessAndOneMore() throws {
    let difference = try difference { $0.entities[1].attributes[0].name = "pay" }
    #expect(
      difference.description == """
        Employee.pay: the attribute is new, mandatory and without a default for present objects \
        (needs a migration in code)
        Employee.salary: the attribute is gone (lightweight)
        """)
    #expect(!difference.isLightweight)
  }

  @Test(arguments: [
    (AttributeType.integer64, true), (.integer32, true), (.double, true), (.decimal, true),
    (.string, false), (.date, false), (.boolean, false), (.binary, false),
  ])
  func tellsWideningFromConversion(type: AttributeType, isLightweight: Bool) throws {
    let difference = try difference { $0.entities[0].attributes[1].type = type }
    #expect(difference.changes.count == 1)
    #expect(difference.changes[0].property == "age" && difference.changes[0].entity == "Person")
    #expect(difference.isLightweight == isLightweight)
  }

  @Test func aNewAttributeNeedsAValueForPresentObjects() throws {
    let optional = AttributeDescription(name: "nick", type: .string, isOptional: true)
    let filled = AttributeDescription(name: "nick", type: .string, defaultValue: "")
    let empty = AttributeDescription(name: "nick", type: .string)
    for (attribute, isLightweight) in [(optional, true), (filled, true), (empty, false)] {
      let difference = try difference { $0.entities[0].attributes.append(attribute) }
      #expect(difference.isLightweight == isLightweight)
    }
  }
}
