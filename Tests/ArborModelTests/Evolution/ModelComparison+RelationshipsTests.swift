import ArborModel
import Testing

@Suite struct ModelComparisonRelationshipsTests {
  static func row(
    _ description: String, _ kind: ModelDifference.RelationshipChange, _ words: String,
    _ classification: ModelDifference.Classification = .lightweight, loss: String? = nil,
    rule: ModelDifference.Rule? = nil,
    _ make: @escaping @Sendable (inout EntityDescription) -> Void
  ) -> EvolutionRow {
    EvolutionRow(
      description, [.relationship(kind)], [words], classification,
      losses: loss.map { [$0] } ?? [], rules: rule.map { [$0] } ?? []
    ) { make(&$0[entity: "Person"]) }
  }

  static let rows: [EvolutionRow] = [
    row("added: optional", .added(isOptional: true), "Person.boss: added (lightweight)") {
      $0.add(RelationshipDescription(name: "boss", destination: "Person"))
    },
    row(
      "added: mandatory", .added(isOptional: false),
      "Person.boss: added, mandatory; existing objects without a value violate the rule "
        + "(lightweight)", .lightweightUnlessRulesBreak, rule: .mandatory
    ) { $0.add(RelationshipDescription(name: "boss", destination: "Person", isOptional: false)) },
    row(
      "added: mandatory to-many", .added(isOptional: false),
      "Person.pets: added, mandatory (lightweight)"
    ) {
      $0.add(
        RelationshipDescription(
          name: "pets", destination: "Tag", isToMany: true, isOptional: false))
    },
    row(
      "added: with a least count", .added(isOptional: false),
      "Person.pets: added, mandatory; existing objects with fewer than 2 members violate the "
        + "rule (lightweight)", .lightweightUnlessRulesBreak, rule: .minimumCount(2)
    ) {
      $0.add(
        RelationshipDescription(
          name: "pets", destination: "Tag", isToMany: true, minimumCount: 2, isOptional: false))
    },
    row(
      "removed", .removed(keptIn: []),
      "Person.tags: removed, its links are dropped (lightweight)", loss: "Person.tags"
    ) { $0.removeRelationship("tags") },
    row(
      "renamed", .renamed(from: .init("Person", "tags")),
      "Person.labels: renamed from Person.tags (lightweight)"
    ) {
      $0[relationship: "tags"].renamingIdentifier = "tags"
      $0[relationship: "tags"].name = "labels"
    },
    row(
      "an attribute becomes a relationship", .replacesAttribute(.init("Person", "note")),
      "Person.note: replaces the attribute Person.note, without code its values are dropped "
        + "(needs code)", .custom, loss: "Person.note"
    ) {
      $0.removeAttribute("note")
      $0.add(RelationshipDescription(name: "note", destination: "Tag"))
    },
    row(
      "to-many becomes to-one", .becameToOne,
      "Person.tags: becomes to-one; existing objects with more than 1 member violate the rule "
        + "(one pass over the objects)", .lightweightUnlessRulesBreak, rule: .maximumCount(1)
    ) {
      $0[relationship: "tags"].isToMany = false
      $0[relationship: "tags"].isOrdered = false
    },
    row(
      "order gained", .becameOrdered, "Person.friends: becomes ordered (one pass over the objects)"
    ) { $0[relationship: "friends"].isOrdered = true },
    row(
      "order lost", .becameUnordered,
      "Person.tags: becomes unordered, its order is dropped (one pass over the objects)",
      loss: "Person.tags"
    ) { $0[relationship: "tags"].isOrdered = false },
    row(
      "destination: a subentity", .destinationChanged(from: "Person", to: "Employee"),
      "Person.friends: the destination changes from Person to Employee; existing links to objects "
        + "that don't belong to Employee violate the rule (lightweight)",
      .lightweightUnlessRulesBreak, rule: .destination("Employee")
    ) { $0[relationship: "friends"].destination = "Employee" },
    row(
      "destination: another entity", .destinationChanged(from: "Tag", to: "Company"),
      "Person.tags: the destination changes from Tag to Company, without code its links are "
        + "dropped (needs code)", .custom, loss: "Person.tags"
    ) { $0[relationship: "tags"].destination = "Company" },
    row(
      "delete rule", .deleteRuleChanged(from: .nullify, to: .cascade),
      "Person.tags: the delete rule changes from nullify to cascade", .nothingStored
    ) { $0[relationship: "tags"].deleteRule = .cascade },
    row(
      "mandatory", .becameMandatory,
      "Person.employer: becomes mandatory; existing objects without a value violate the rule",
      .lightweightUnlessRulesBreak, rule: .mandatory
    ) { $0[relationship: "employer"].isOptional = false },
    row(
      "mandatory, where the empty set will do", .becameMandatory,
      "Person.tags: becomes mandatory", .nothingStored
    ) { $0[relationship: "tags"].isOptional = false },
    row(
      "least count", .minimumCountChanged(from: 0, to: 1),
      "Person.tags: the minimum count changes from 0 to 1; existing objects with fewer than "
        + "1 member violate the rule", .lightweightUnlessRulesBreak, rule: .minimumCount(1)
    ) { $0[relationship: "tags"].minimumCount = 1 },
    row(
      "greatest count", .maximumCountChanged(from: 0, to: 3),
      "Person.tags: the maximum count is now 3; existing objects with more than 3 members violate "
        + "the rule", .lightweightUnlessRulesBreak, rule: .maximumCount(3)
    ) { $0[relationship: "tags"].maximumCount = 3 },
    row(
      "transient", .becameTransient,
      "Person.tags: becomes transient, its links are dropped (lightweight)", loss: "Person.tags"
    ) { $0[relationship: "tags"].isTransient = true },
    row(
      "version hash modifier", .versionHashModifierChanged(from: nil, to: "2"),
      "Person.tags: the version hash modifier is now 2 (lightweight)"
    ) { $0[relationship: "tags"].versionHashModifier = "2" },
    row("user info", .userInfoChanged, "Person.tags: the user info changes", .nothingStored) {
      $0[relationship: "tags"].userInfo = ["a": "b"]
    },
  ]

  @Test("Changes of relationships are described", arguments: rows)
  func names(row: EvolutionRow) { row.check() }

  @Test("Relaxed rules cannot be violated by existing objects")
  func whatIsRelaxedBreaksNothing() {
    let old = EvolutionFixture.changed {
      $0[entity: "Person"][relationship: "tags"].minimumCount = 2
      $0[entity: "Person"][relationship: "tags"].maximumCount = 3
      $0[entity: "Person"][relationship: "employer"].isOptional = false
      $0[entity: "Person"][relationship: "friends"].destination = "Employee"
    }
    let difference = old.difference(to: EvolutionFixture.model)
    #expect(
      difference.description == """
        Person.employer: becomes optional
        Person.friends: the destination changes from Employee to Person (lightweight)
        Person.tags: the minimum count changes from 2 to 0
        Person.tags: the maximum count 3 is removed
        """)
    #expect(difference.classification == .lightweight)
  }

  @Test("A to-one relationship can become to-many without loss")
  func oneLinkIsAListOfOne() {
    let old = EvolutionFixture.changed {
      $0[entity: "Person"][relationship: "tags"].isToMany = false
      $0[entity: "Person"][relationship: "tags"].isOrdered = false
    }
    let difference = old.difference(to: EvolutionFixture.model)
    #expect(difference.description == "Person.tags: becomes to-many (one pass over the objects)")
    #expect(difference.changes[0].kind == .relationship(.becameToMany))
    #expect(difference.classification == .lightweight)
  }

  @Test("The links of two inverse relationships are lost only if both are removed")
  func linksStayWithTheRelationshipBack() {
    let new = EvolutionFixture.changed {
      $0[entity: "Company"].removeRelationship("staff")
      $0[entity: "Person"][relationship: "employer"].inverse = nil
    }
    let difference = EvolutionFixture.model.difference(to: new)
    #expect(
      difference.description == """
        Person.employer: the inverse staff is removed (lightweight)
        Company.staff: removed (lightweight)
        """)
    #expect(difference.losses.isEmpty)
    let back = new.difference(to: EvolutionFixture.model)
    #expect(
      back.description == """
        Person.employer: the inverse is now staff (lightweight)
        Company.staff: added (one pass over the objects)
        """)
    let other = EvolutionFixture.changed {
      $0[entity: "Person"].removeRelationship("employer")
      $0[entity: "Company"][relationship: "staff"].inverse = nil
    }
    #expect(
      EvolutionFixture.model.difference(to: other).description == """
        Person.employer: removed (lightweight)
        Company.staff: the inverse employer is removed (one pass over the objects)
        """)
  }

  @Test("Links of relationships that become inverses may contradict each other")
  func relationshipsThatBecomeInversesMayContradictEachOther() {
    let old = EvolutionFixture.changed {
      $0[entity: "Person"][relationship: "employer"].inverse = nil
      $0[entity: "Company"][relationship: "staff"].inverse = nil
    }
    let difference = old.difference(to: EvolutionFixture.model)
    #expect(
      difference.description == """
        Person.employer: the inverse is now staff; existing links without a counterpart in staff \
        violate the rule (one pass over the objects)
        Company.staff: the inverse is now employer; existing links without a counterpart in \
        employer violate the rule (one pass over the objects)
        """)
    #expect(difference.changes.map(\.rule) == [.inverse("staff"), .inverse("employer")])
  }

  @Test("Renaming an inverse or a destination is not a change of the relationship")
  func renamedInversesAndDestinationsAreTheSame() {
    let new = EvolutionFixture.changed {
      $0[entity: "Person"][relationship: "employer"].destination = "Firm"
      $0[entity: "Person"][relationship: "employer"].inverse = "people"
      $0[entity: "Company"][relationship: "staff"].renamingIdentifier = "staff"
      $0[entity: "Company"][relationship: "staff"].name = "people"
      $0[entity: "Company"].renamingIdentifier = "Company"
      $0[entity: "Company"].name = "Firm"
    }
    #expect(
      EvolutionFixture.model.difference(to: new).description == """
        Firm: renamed from Company (lightweight)
        Firm.people: renamed from Company.staff (lightweight)
        """)
  }
}
