import ArborModel
import Testing

@Suite struct ModelComparisonEntitiesTests {
  static let rows: [EvolutionRow] = [
    EvolutionRow(
      "added", [.entity(.added)], ["Badge: added (lightweight)"]
    ) { $0.entities.append(EntityDescription(name: "Badge")) },
    EvolutionRow(
      "removed", [.relationship(.removed(keptIn: [])), .entity(.removed)],
      [
        "Person.tags: removed, its links are dropped (lightweight)",
        "Tag: removed, its objects are dropped (lightweight)",
      ], losses: ["Person.tags", "Tag"]
    ) {
      $0.entities.removeLast()
      $0[entity: "Person"].removeRelationship("tags")
    },
    EvolutionRow(
      "renamed", [.entity(.renamed(from: "Tag"))], ["Label: renamed from Tag (lightweight)"]
    ) {
      $0[entity: "Person"][relationship: "tags"].destination = "Label"
      $0.entities[3].name = "Label"
      $0.entities[3].renamingIdentifier = "Tag"
    },
    EvolutionRow(
      "class name", [.entity(.classNameChanged(from: nil, to: "Mark"))],
      ["Tag: the class is now Mark"], .nothingStored
    ) { $0[entity: "Tag"].className = "Mark" },
    EvolutionRow(
      "abstract", [.entity(.becameAbstract)],
      ["Person: becomes abstract, without code its objects are dropped (needs code)"], .custom,
      losses: ["Person"]
    ) { $0[entity: "Person"].isAbstract = true },
    EvolutionRow(
      "parent given",
      [
        .entity(.parentChanged(from: nil, to: "Tag")),
        .attribute(.inherited(from: "Tag", .missing)),
      ],
      [
        "Company: inherits from Tag (lightweight)",
        "Company.label: inherited from Tag, mandatory without a default; existing objects "
          + "without a value violate the rule (lightweight)",
      ], .lightweightUnlessRulesBreak, rules: [.mandatory]
    ) { $0[entity: "Company"].parent = "Tag" },
    EvolutionRow(
      "version hash modifier",
      [.entity(.versionHashModifierChanged(from: nil, to: "2"))],
      ["Tag: the version hash modifier is now 2 (lightweight)"]
    ) { $0[entity: "Tag"].versionHashModifier = "2" },
    EvolutionRow(
      "fetched properties", [.entity(.fetchedPropertiesChanged)],
      ["Tag: the fetched properties change"], .nothingStored
    ) {
      $0[entity: "Tag"].fetchedProperties = [
        FetchedPropertyDescription(
          name: "p", request: FetchRequestTemplate(name: "p", entity: "Person"))
      ]
    },
    EvolutionRow(
      "user info", [.entity(.userInfoChanged)], ["Tag: the user info changes"], .nothingStored
    ) { $0[entity: "Tag"].userInfo = ["a": "b"] },
    EvolutionRow(
      "configurations",
      [.model(.configurationChanged(name: "Local", .added))],
      ["the configuration Local is added"], .nothingStored
    ) { $0.configurations = ["Local": ["Tag"]] },
    EvolutionRow(
      "requests", [.model(.fetchRequestChanged(name: "all", .added))],
      ["the request all is added"], .nothingStored
    ) { $0.fetchRequestTemplates = [FetchRequestTemplate(name: "all", entity: "Tag")] },
    EvolutionRow(
      "version identifier", [.model(.versionIdentifierChanged(from: "", to: "2"))],
      ["the version identifier is now 2"], .nothingStored
    ) { $0.versionIdentifier = "2" },
  ]

  @Test("Changes of entities are described", arguments: rows)
  func names(row: EvolutionRow) { row.check() }

  @Test("Changed and removed parents are described")
  func namesParentsThatChangeOrGo() {
    let without = EvolutionFixture.changed { $0[entity: "Employee"].parent = nil }
    let difference = EvolutionFixture.model.difference(to: without)
    #expect(
      difference.changes[0].description
        == "Employee: no longer inherits from Person; relationships to Person that contain "
        + "existing objects violate the rule (lightweight)")
    #expect(difference.changes[0].rule == .noLongerKind(of: ["Person"]))
    // Everything that the entity inherited is removed.
    #expect(
      difference.losses.map(\.name) == [
        "Employee.name", "Employee.age", "Employee.note", "Employee.photo", "Employee.archive",
        "Employee.home", "Employee.employer", "Employee.friends", "Employee.tags",
      ])
    let elsewhere = EvolutionFixture.changed { $0[entity: "Employee"].parent = "Tag" }
    #expect(
      without.difference(to: elsewhere).description == """
        Employee: inherits from Tag (lightweight)
        Employee.label: inherited from Tag, mandatory without a default; existing objects \
        without a value violate the rule (lightweight)
        """)
    let change = EvolutionFixture.model.difference(to: elsewhere).changes[0]
    #expect(change.kind == .entity(.parentChanged(from: "Person", to: "Tag")))
    #expect(change.description.hasPrefix("Employee: the parent changes from Person to Tag; "))
  }

  @Test("Removing an abstract entity loses no objects")
  func anAbstractEntityHasNoObjectsToLose() {
    let old = EvolutionFixture.changed {
      $0[entity: "Base"].isAbstract = true
      $0[entity: "Tag"].isAbstract = true
    }
    let difference = old.difference(to: EvolutionFixture.model)
    #expect(
      difference.description == """
        Tag: becomes concrete (lightweight)
        Base: removed (lightweight)
        """)
    #expect(difference.losses.isEmpty)
  }

  @Test("Changed and removed requests and configurations are described")
  func namesEachRequestAndConfigurationThatDiffers() {
    let old = EvolutionFixture.changed {
      $0.configurations = ["A": ["Tag"], "B": ["Tag"], "C": []]
      $0.fetchRequestTemplates = [
        FetchRequestTemplate(name: "a", entity: "Tag"),
        FetchRequestTemplate(name: "b", entity: "Tag"),
      ]
    }
    let new = EvolutionFixture.changed {
      $0.configurations = ["A": ["Tag"], "B": ["Person"]]
      $0.fetchRequestTemplates = [FetchRequestTemplate(name: "a", entity: "Tag", fetchLimit: 3)]
    }
    #expect(
      old.difference(to: new).description == """
        the configuration B changes
        the configuration C is removed
        the request a changes
        the request b is removed
        """)
  }
}
