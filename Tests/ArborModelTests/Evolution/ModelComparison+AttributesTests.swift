import ArborModel
import Testing

@Suite struct ModelComparisonAttributesTests {
  typealias Bounds = ModelDifference.Bounds

  static func row(
    _ description: String, _ kind: ModelDifference.AttributeChange, _ words: String,
    _ classification: ModelDifference.Classification = .lightweight, loss: String? = nil,
    rule: ModelDifference.Rule? = nil,
    _ make: @escaping @Sendable (inout EntityDescription) -> Void
  ) -> EvolutionRow {
    EvolutionRow(
      description, [.attribute(kind)], [words], classification, losses: loss.map { [$0] } ?? [],
      rules: rule.map { [$0] } ?? []
    ) { make(&$0[entity: "Person"]) }
  }

  static let moreAndLess: [EvolutionRow] = [
    row(
      "added: optional", .added(.null),
      "Person.nick: added, existing objects have nil (lightweight)"
    ) { $0.add(AttributeDescription(name: "nick", type: .string, isOptional: true)) },
    row(
      "added: optional with default", .added(.value("x")),
      "Person.nick: added, existing objects have \"x\" (lightweight)"
    ) {
      $0.add(
        AttributeDescription(name: "nick", type: .string, isOptional: true, defaultValue: "x"))
    },
    row(
      "added: mandatory with default", .added(.value(7)),
      "Person.rank: added, existing objects have 7 (lightweight)"
    ) { $0.add(AttributeDescription(name: "rank", type: .integer16, defaultValue: 7)) },
    row(
      "added: mandatory without default", .added(.missing),
      "Person.rank: added, mandatory without a default; existing objects without a value "
        + "violate the rule (lightweight)",
      .lightweightUnlessRulesBreak, rule: .mandatory
    ) { $0.add(AttributeDescription(name: "rank", type: .integer16)) },
    row(
      "added: derived", .added(.computed),
      "Person.upper: added, computed for existing objects (one pass over the objects)"
    ) {
      $0.add(
        AttributeDescription(
          name: "upper", type: .string, isOptional: true, derivation: "uppercase:(name)"))
    },
    row(
      "added: transient", .added(.notStored), "Person.now: added, not stored (lightweight)"
    ) { $0.add(AttributeDescription(name: "now", type: .date, isTransient: true)) },
    row(
      "removed", .removed(keptIn: []),
      "Person.age: removed, its values are dropped (lightweight)", loss: "Person.age"
    ) { $0.removeAttribute("age") },
    row(
      "renamed", .renamed(from: .init("Person", "age")),
      "Person.years: renamed from Person.age (lightweight)"
    ) {
      $0[attribute: "age"].renamingIdentifier = "age"
      $0[attribute: "age"].name = "years"
    },
    row(
      "a relationship becomes an attribute",
      .replacesRelationship(.init("Person", "tags")),
      "Person.tags: replaces the relationship Person.tags, without code its links are dropped "
        + "(needs code)", .custom, loss: "Person.tags"
    ) {
      $0.removeRelationship("tags")
      $0.add(AttributeDescription(name: "tags", type: .string, isOptional: true))
    },
  ]

  static let types: [EvolutionRow] = [
    row(
      "wider number", .typeChanged(from: .integer16, to: .double, .widening),
      "Person.age: the type changes from integer16 to double (lightweight)"
    ) { $0[attribute: "age"].type = .double },
    row(
      "another number", .typeChanged(from: .integer16, to: .integer32, .widening),
      "Person.age: the type changes from integer16 to integer32 (lightweight)"
    ) { $0[attribute: "age"].type = .integer32 },
    row(
      "no number", .typeChanged(from: .integer16, to: .string, .custom),
      "Person.age: the type changes from integer16 to string, without code its values are dropped "
        + "(needs code)", .custom, loss: "Person.age"
    ) { $0[attribute: "age"].type = .string },
    row(
      "the transformer", .transformerChanged(from: "Old", to: "New"),
      "Person.archive: the transformer changes from Old to New (lightweight)"
    ) { $0[attribute: "archive"].type = .transformable("New") },
    row(
      "a transformed value becomes its bytes",
      .typeChanged(from: .transformable("Old"), to: .binary, .identity),
      "Person.archive: the type changes from transformable(Old) to binary (lightweight)"
    ) { $0[attribute: "archive"].type = .binary },
    row(
      "the value class", .valueClassNameChanged(from: nil, to: "Photo"),
      "Person.archive: the value class is now Photo", .nothingStored
    ) { $0[attribute: "archive"].valueClassName = "Photo" },
  ]

  static let rules: [EvolutionRow] = [
    row(
      "mandatory becomes optional", .becameOptional, "Person.name: becomes optional (lightweight)"
    ) { $0[attribute: "name"].isOptional = true },
    EvolutionRow(
      "optional becomes mandatory with default",
      [
        .attribute(.becameMandatory(.value("-"))),
        .attribute(.defaultChanged(from: .null, to: "-")),
      ],
      [
        "Person.note: becomes mandatory, nil becomes \"-\" (lightweight)",
        "Person.note: the default is now \"-\"",
      ]
    ) {
      $0[entity: "Person"][attribute: "note"].isOptional = false
      $0[entity: "Person"][attribute: "note"].defaultValue = "-"
    },
    row(
      "optional becomes mandatory without default", .becameMandatory(.missing),
      "Person.note: becomes mandatory without a default; existing objects without a value violate "
        + "the rule (lightweight)", .lightweightUnlessRulesBreak, rule: .mandatory
    ) { $0[attribute: "note"].isOptional = false },
    row(
      "the default", .defaultChanged(from: .null, to: "x"),
      "Person.note: the default is now \"x\"", .nothingStored
    ) { $0[attribute: "note"].defaultValue = "x" },
    row(
      "becomes derived", .derivationChanged(from: nil, to: "uppercase:(name)"),
      "Person.note: the derivation is now uppercase:(name), its values are dropped "
        + "(one pass over the objects)", loss: "Person.note"
    ) { $0[attribute: "note"].derivation = "uppercase:(name)" },
    row(
      "becomes transient", .becameTransient,
      "Person.note: becomes transient, its values are dropped (lightweight)", loss: "Person.note"
    ) { $0[attribute: "note"].isTransient = true },
    row(
      "external storage", .externalStorageChanged(isAllowed: true),
      "Person.photo: large values may be stored outside records (lightweight)"
    ) { $0[attribute: "photo"].allowsExternalStorage = true },
    row(
      "kept in the history", .preservationChanged(isPreserved: true),
      "Person.note: preserved in the history on deletion", .nothingStored
    ) { $0[attribute: "note"].isPreservedOnDeletion = true },
    row(
      "a pattern", .patternChanged(from: nil, to: "[a-z]+"),
      "Person.note: the pattern is now [a-z]+; existing values that do not match [a-z]+ violate "
        + "the rule", .lightweightUnlessRulesBreak, rule: .pattern("[a-z]+")
    ) { $0[attribute: "note"].regularExpression = "[a-z]+" },
    row(
      "the version hash modifier", .versionHashModifierChanged(from: nil, to: "2"),
      "Person.note: the version hash modifier is now 2 (lightweight)"
    ) { $0[attribute: "note"].versionHashModifier = "2" },
    row("user info", .userInfoChanged, "Person.note: the user info changes", .nothingStored) {
      $0[attribute: "note"].userInfo = ["a": "b"]
    },
  ]

  @Test("Added and removed attributes are described", arguments: moreAndLess)
  func namesWhatIsAddedAndRemoved(row: EvolutionRow) { row.check() }
  @Test("Changes of attribute types are described", arguments: types)
  func namesTypes(row: EvolutionRow) { row.check() }
  @Test("Changes of storage and rules are described", arguments: rules)
  func namesStorageAndRules(row: EvolutionRow) { row.check() }

  /// Reversing a change of storage is a change of its own; derived values are kept.
  @Test("Reversed changes of storage are described")
  func theReverseOfStorageChanges() {
    let old = EvolutionFixture.changed {
      $0[entity: "Person"][attribute: "note"].derivation = "uppercase:(name)"
      $0[entity: "Person"][attribute: "age"].isTransient = true
      $0[entity: "Person"][attribute: "photo"].allowsExternalStorage = true
    }
    let difference = old.difference(to: EvolutionFixture.model)
    #expect(
      difference.description == """
        Person.age: becomes stored, existing objects have nil (lightweight)
        Person.note: the derivation uppercase:(name) is removed (lightweight)
        Person.photo: all values are stored in records (lightweight)
        """)
    #expect(difference.losses.isEmpty && difference.classification == .lightweight)
  }

  @Test("Only narrower bounds may be violated")
  func onlyNarrowerBoundsMayBreak() {
    func difference(_ old: (PropertyValue, PropertyValue), _ new: (PropertyValue, PropertyValue))
      -> ModelDifference
    {
      func model(_ bounds: (PropertyValue, PropertyValue)) -> ManagedObjectModel {
        EvolutionFixture.changed { [bounds] in
          $0[entity: "Person"][attribute: "age"].minimum = bounds.0
          $0[entity: "Person"][attribute: "age"].maximum = bounds.1
        }
      }
      return model(old).difference(to: model(new))
    }
    for (old, new, words) in [
      (
        (.null, .null), (1, .null), "no bounds to at least 1; existing values outside of at least 1"
      ),
      ((1, 9), (1, 8), "1 to 9 to 1 to 8; existing values outside of 1 to 8"),
      ((.null, 9), (2, 9), "at most 9 to 2 to 9; existing values outside of 2 to 9"),
    ] as [((PropertyValue, PropertyValue), (PropertyValue, PropertyValue), String)] {
      let difference = difference(old, new)
      #expect(difference.classification == .lightweightUnlessRulesBreak)
      #expect(
        difference.description == "Person.age: the bounds change from \(words) violate the rule")
      guard case .bounds(let bounds)? = difference.changes.first?.rule else {
        Issue.record("no rule")
        continue
      }
      #expect(bounds.minimum == new.0 && bounds.maximum == new.1)
    }
    for (old, new) in [((1, 9), (0, 9)), ((1, 9), (.null, .null)), ((.null, 9), (.null, 10))]
      as [((PropertyValue, PropertyValue), (PropertyValue, PropertyValue))]
    {
      #expect(difference(old, new).classification == .nothingStored)
      #expect(difference(old, new).changes.count == 1)
    }
  }

  @Test("Changes in the parts of composites are described")
  func partsOfCompositesHaveTheirNames() {
    let new = EvolutionFixture.changed {
      $0.composites[0].attributes = [
        AttributeDescription(
          name: "code", type: .string, isOptional: true, renamingIdentifier: "zip"),
        AttributeDescription(name: "city", type: .string),
      ]
      $0.composites.append(CompositeDescription(name: "Point", attributes: []))
    }
    let difference = EvolutionFixture.model.difference(to: new)
    #expect(
      difference.description == """
        the part Address.code is renamed from Address.zip (one pass over the objects)
        the type of the part Address.code changes from integer32 to string, without code its \
        values are dropped (needs code)
        the part Address.city is added, mandatory without a default; existing objects without \
        a value violate the rule (one pass over the objects)
        the composite type Point is added
        """)
    #expect(difference.losses.map(\.name) == ["Address.zip"])
    #expect(
      new.difference(to: EvolutionFixture.model).changes.map(\.description).suffix(2) == [
        "the part Address.city is removed, its values are dropped (one pass over the objects)",
        "the composite type Point is removed",
      ])
  }

  @Test("A renamed composite type with the same parts is described as a change of type")
  func aCompositeTypeIsItsParts() {
    let renamed = EvolutionFixture.changed {
      $0.composites[0].name = "Location"
      $0[entity: "Person"][attribute: "home"].type = .composite("Location")
    }
    let change = EvolutionFixture.model.difference(to: renamed).changes[0]
    #expect(
      change.description
        == "Person.home: the type changes from composite(Address) to composite(Location)")
  }
}
