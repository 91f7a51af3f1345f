import ArborModel
import Testing

@Suite struct ModelDifferenceTests {
  private func difference(_ change: (inout ManagedObjectModel) -> Void) throws -> ModelDifference {
    let model = try ModelFingerprintTests.model()
    var other = model
    change(&other)
    return model.difference(to: other)
  }

  @Test("Equal models have an empty difference")
  func isEmptyBetweenEqualModels() throws {
    let difference = try difference { _ in }
    #expect(difference.isEmpty && difference.isLightweight && difference.description == "")
    #expect(difference.classification == .nothingStored && difference.losses.isEmpty)
  }

  @Test(
    "Changes of the fingerprint are described as stored changes",
    arguments: ModelFingerprintTests.storedChanges)
  func explainsWhyFingerprintsDiffer(change: ModelChange) throws {
    let difference = try difference(change.make)
    #expect(!difference.storedChanges.isEmpty, "\(difference)")
  }

  @Test(
    "Changes that leave the fingerprint unchanged contain no stored change",
    arguments: ModelFingerprintTests.otherChanges)
  func namesNoStoredChangeWhereFingerprintsAgree(change: ModelChange) throws {
    let difference = try difference(change.make)
    #expect(difference.storedChanges.isEmpty, "\(difference)")
    #expect(difference.isLightweight)
  }

  @Test("Renamed entities and properties are recognized")
  func followsRenamings() throws {
    let difference = try difference { model in
      model.entities[0].name = "Human"
      model.entities[0].renamingIdentifier = "Person"
      model.entities[0].attributes[0].name = "fullName"
      model.entities[0].attributes[0].renamingIdentifier = "name"
      model.entities[0].attributes[0].isIndexed = false
      model.entities[0].attributes.remove(at: 2)
      model.entities[0].relationships[0].name = "peers"
      model.entities[0].relationships[0].renamingIdentifier = "friends"
      model.entities[0].relationships[0].inverse = "peers"
      model.entities[0].relationships[0].destination = "Human"
      model.entities[1].parent = "Human"
      model.fetchRequestTemplates = []
    }
    #expect(
      difference.description == """
        Human: renamed from Person (lightweight)
        Human.fullName: renamed from Person.name (lightweight)
        Person.home: removed, its values are dropped (lightweight)
        Human.peers: renamed from Person.friends (lightweight)
        Human: the index name is removed (lightweight)
        the request all is removed
        """)
    #expect(difference.classification == .lightweight)
    let name = difference.changes[1]
    #expect(name.entity == "Human" && name.property == "fullName")
    #expect(name.source == .init("Person", "name") && name.subject == .init("Human", "fullName"))
    // A loss is named as in the store's model.
    #expect(difference.losses.map(\.name) == ["Person.home"])
  }

  @Test("Renaming identifiers that are unchanged in both versions cause no loss")
  func followsRenamingsWhoseIdentifierStandsInBothVersions() throws {
    func model(_ name: String, _ identifier: String?) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: name,
          attributes: [
            AttributeDescription(
              name: name + "ID", type: .string, renamingIdentifier: identifier.map { $0 + "ID" })
          ], renamingIdentifier: identifier)
      ])
    }
    let versions = [model("Order", nil), model("Purchase", "Order"), model("Sale", "Order")]
    for (old, new) in [(0, 1), (1, 2), (0, 2)] {
      let difference = versions[old].difference(to: versions[new])
      #expect(difference.losses.isEmpty, "\(difference)")
      #expect(
        difference.changes[0].kind == .entity(.renamed(from: versions[old].entities[0].name)))
    }
  }

  @Test("Without a renaming identifier, a renamed attribute is removed and added")
  func anotherNameWithoutFormerNameIsOneLessAndOneMore() throws {
    let difference = try difference { $0.entities[1].attributes[0].name = "pay" }
    #expect(
      difference.description == """
        Employee.pay: added, mandatory without a default; existing objects without a value \
        violate the rule (lightweight)
        Employee.salary: removed, its values are dropped (lightweight)
        """)
    #expect(difference.classification == .lightweightUnlessRulesBreak)
  }

  @Test("A property with several changes is lost only once")
  func eachThingIsLostOnce() {
    let new = EvolutionFixture.changed {
      $0[entity: "Person"][attribute: "note"].type = .date
      $0[entity: "Person"][attribute: "note"].isTransient = true
      $0[entity: "Person"].removeAttribute("age")
    }
    let difference = EvolutionFixture.model.difference(to: new)
    #expect(difference.changes.compactMap(\.loss).count == 2)
    #expect(difference.losses.map(\.name) == ["Person.note", "Person.age"])
    #expect(difference.losses.map(\.kind) == [.values, .values])
  }

  // MARK: Chains

  private func step(_ name: String, former: String?) -> ManagedObjectModel {
    EvolutionFixture.changed {
      $0[entity: "Tag"][attribute: "label"].renamingIdentifier = former
      $0[entity: "Tag"][attribute: "label"].name = name
    }
  }

  @Test("Differences with renamings can be composed")
  func renamesCompose() throws {
    let (first, second, third) = (
      step("a", former: nil), step("b", former: "a"), step("c", former: "b")
    )
    // Compared directly, the first and the last version have nothing in common.
    #expect(first.difference(to: third).losses.map(\.name) == ["Tag.a"])
    let composed = try first.difference(to: second).composed(with: second.difference(to: third))
    #expect(composed.description == "Tag.c: renamed from Tag.a (lightweight)")
    let back = try third.difference(to: second).composed(with: second.difference(to: first))
    #expect(back.description == "Tag.a: renamed from Tag.c (lightweight)")
  }

  @Test("A property that was removed and added again is a different one")
  func whatWasGoneInBetweenIsAnotherThing() throws {
    let without = EvolutionFixture.changed { $0[entity: "Person"].removeAttribute("age") }
    let model = EvolutionFixture.model
    let composed = try model.difference(to: without).composed(with: without.difference(to: model))
    #expect(
      composed.description == """
        Person.age: added, existing objects have nil (lightweight)
        Person.age: removed, its values are dropped (lightweight)
        """)
    #expect(model.difference(to: model).isEmpty)
  }

  @Test("Differences with moved attributes can be composed")
  func movesCompose() throws {
    let up = EvolutionFixture.changed {
      $0[entity: "Employee"].removeAttribute("salary")
      $0[entity: "Person"].add(
        AttributeDescription(name: "salary", type: .integer32, isOptional: true))
    }
    let renamed = EvolutionFixture.changed {
      $0[entity: "Employee"].removeAttribute("salary")
      $0[entity: "Person"].add(
        AttributeDescription(
          name: "pay", type: .integer64, isOptional: true, renamingIdentifier: "salary"))
    }
    let composed = try EvolutionFixture.model.difference(to: up).composed(
      with: up.difference(to: renamed))
    #expect(
      composed.description == """
        Person.pay: moved from Employee.salary (lightweight)
        Person.pay: the type changes from integer32 to integer64 (lightweight)
        Person.pay: becomes optional (lightweight)
        Person.pay: added to more objects, existing objects have nil (lightweight)
        """)
  }

  @Test("Only consecutive differences can be composed")
  func onlyDifferencesThatMeetCompose() throws {
    let (first, second) = (step("a", former: nil), step("b", former: "a"))
    let difference = first.difference(to: second)
    let error = #expect(throws: ArborError.self) { try difference.composed(with: difference) }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message
        == "The second difference doesn't start from the model that the first one leads to. "
        + "Compose differences in version order.")
  }

  // MARK: Size

  /// Returns two versions of a model with a wide entity and as many narrow ones, in which
  /// everything is renamed.
  private func renaming(_ count: Int) -> (ManagedObjectModel, ManagedObjectModel) {
    func model(_ prefix: String, _ former: String?) -> ManagedObjectModel {
      let attributes = (0..<count).map { number in
        AttributeDescription(
          name: "\(prefix)\(number)", type: .string, isOptional: true, isIndexed: true,
          renamingIdentifier: former.map { "\($0)\(number)" })
      }
      let others = (0..<count).map { number in
        EntityDescription(
          name: "\(prefix)E\(number)", renamingIdentifier: former.map { "\($0)E\(number)" })
      }
      return ManagedObjectModel(
        entities: [EntityDescription(name: "Wide", attributes: attributes)] + others)
    }
    return (model("a", nil), model("b", "a"))
  }

  @Test("The time grows linearly with the number of properties")
  func isLinearInTheNumberOfProperties() {
    func time(_ count: Int) -> Duration {
      let (old, new) = renaming(count)
      return ContinuousClock().measure {
        let difference = old.difference(to: new)
        #expect(difference.changes.count == 2 * count && difference.losses.isEmpty)
      }
    }
    // Repeated, because the machine may be busy.
    #expect((0..<4).contains { _ in time(2_000) < time(250) * 30 })
  }
}
