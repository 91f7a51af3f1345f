import ArborModel
import Testing

@Suite struct ModelComparisonIndexesTests {
  static let byName = FetchIndexDescription(name: "byName", elements: [.init("name")])
  static let unique = FetchIndexDescription(
    name: "once", elements: [.init("note"), .init("age", isAscending: false)],
    partialIndexPredicate: "age > 3", isUnique: true)

  static func row(
    _ description: String, _ kind: ModelDifference.IndexChange, _ words: String,
    _ classification: ModelDifference.Classification = .lightweight,
    rule: ModelDifference.Rule? = nil,
    _ make: @escaping @Sendable (inout EntityDescription) -> Void
  ) -> EvolutionRow {
    EvolutionRow(
      description, [.index(kind)], [words], classification, rules: rule.map { [$0] } ?? []
    ) { make(&$0[entity: "Person"]) }
  }

  static let rows: [EvolutionRow] = [
    row(
      "index added", .added(byName), "Person: the index byName is added: (name) (builds an index)"
    ) { $0.fetchIndexes = [byName] },
    row(
      "mark added",
      .added(FetchIndexDescription(name: "age", elements: [.init("age")])),
      "Person: the index age is added: (age) (builds an index)"
    ) { $0[attribute: "age"].isIndexed = true },
    row(
      "unique index added", .added(unique),
      "Person: the index once is added: unique (note, -age) where age > 3; existing objects with "
        + "the same note, age violate the rule (builds an index)", .lightweightUnlessRulesBreak,
      rule: .unique(["note", "age"])
    ) { $0.fetchIndexes = [unique] },
    row(
      "uniqueness added", .uniquenessAdded(["name"]),
      "Person: (name) becomes unique; existing objects with the same name violate the rule "
        + "(builds an index)", .lightweightUnlessRulesBreak, rule: .unique(["name"])
    ) { $0.uniquenessConstraints = [["name"]] },
  ]

  @Test("Changes of indexes are described", arguments: rows)
  func names(row: EvolutionRow) { row.check() }

  static func difference(
    _ old: @Sendable (inout EntityDescription) -> Void,
    _ new: @Sendable (inout EntityDescription) -> Void
  ) -> ModelDifference {
    EvolutionFixture.changed { old(&$0[entity: "Person"]) }.difference(
      to: EvolutionFixture.changed { new(&$0[entity: "Person"]) })
  }

  @Test("Removed indexes and constraints are described")
  func namesWhatIsRemoved() {
    let difference = Self.difference({
      $0.fetchIndexes = [Self.byName]
      $0.uniquenessConstraints = [["note", "age"]]
      $0[attribute: "age"].isIndexed = true
    }) { _ in }
    #expect(
      difference.description == """
        Person: (note, age) is no longer unique (lightweight)
        Person: the index byName is removed (lightweight)
        Person: the index age is removed (lightweight)
        """)
    #expect(
      difference.changes.map(\.kind) == [
        .index(.uniquenessRemoved(["note", "age"])), .index(.removed(name: "byName")),
        .index(.removed(name: "age")),
      ])
    #expect(difference.classification == .lightweight && difference.losses.isEmpty)
  }

  @Test("An index with different columns is rebuilt")
  func namesAnIndexThatIsMadeOfSomethingElse() {
    var folded = Self.byName
    folded.elements[0].kind = .folded
    let difference = Self.difference({ $0.fetchIndexes = [Self.byName] }) { [folded] in
      $0.fetchIndexes = [folded]
    }
    #expect(
      difference.description
        == "Person: the index byName changes from (name) to (folded name) (builds an index)")
    #expect(difference.changes[0].kind == .index(.changed(from: Self.byName, to: folded)))
  }

  @Test("An index is not rebuilt if only its uniqueness is removed")
  func entriesStayWhereOnlyUniquenessGoes() {
    var relaxed = Self.unique
    relaxed.isUnique = false
    let difference = Self.difference({ $0.fetchIndexes = [Self.unique] }) { [relaxed] in
      $0.fetchIndexes = [relaxed]
    }
    #expect(
      difference.description
        == "Person: the index once changes from unique (note, -age) where age > 3 to (note, -age) "
        + "where age > 3 (lightweight)")
    let back = Self.difference({ [relaxed] in $0.fetchIndexes = [relaxed] }) {
      $0.fetchIndexes = [Self.unique]
    }
    #expect(back.classification == .lightweightUnlessRulesBreak)
  }

  @Test("Reordering a uniqueness constraint rebuilds its index")
  func theOrderOfAConstraintIsThatOfItsIndex() {
    let difference = Self.difference({ $0.uniquenessConstraints = [["name", "age"]] }) {
      $0.uniquenessConstraints = [["age", "name"]]
    }
    #expect(
      difference.description
        == "Person: the unique (name, age) becomes (age, name) (builds an index)")
    #expect(difference.changes[0].rule == nil)
  }

  @Test("Indexes follow renamed properties")
  func indexesFollowTheirProperties() {
    let renamed = Self.difference({
      $0[attribute: "age"].isIndexed = true
      $0.uniquenessConstraints = [["name", "age"]]
      $0.fetchIndexes = [
        FetchIndexDescription(
          name: "words", elements: [.init("name", kind: .text), .init("note", kind: .text)])
      ]
    }) {
      $0[attribute: "age"].isIndexed = true
      $0[attribute: "age"].renamingIdentifier = "age"
      $0[attribute: "age"].name = "years"
      $0[attribute: "note"].renamingIdentifier = "note"
      $0[attribute: "note"].name = "remark"
      $0.uniquenessConstraints = [["name", "years"]]
      $0.fetchIndexes = [
        FetchIndexDescription(
          name: "words", elements: [.init("name", kind: .text), .init("remark", kind: .text)])
      ]
    }
    #expect(
      renamed.description == """
        Person.years: renamed from Person.age (lightweight)
        Person.remark: renamed from Person.note (lightweight)
        Person: the index words.remark is renamed from words.note (lightweight)
        """)
    #expect(
      renamed.changes.last?.kind
        == .index(.renamed(name: "words.remark", from: "words.note")))
  }

  @Test("An index is rebuilt if its column belongs to a different property of the same name")
  func anIndexGoesWithItsColumn() {
    let difference = Self.difference({ $0.fetchIndexes = [Self.byName] }) {
      $0[attribute: "name"].renamingIdentifier = "other"
      $0[attribute: "name"].name = "label"
      $0.add(AttributeDescription(name: "name", type: .string, renamingIdentifier: "note"))
      $0.removeAttribute("note")
      $0.fetchIndexes = [Self.byName]
    }
    #expect(
      difference.changes.last?.description
        == "Person: the index byName changes from (name) to (name) (builds an index)")
  }

  @Test("An index is rebuilt if the values of its attribute change")
  func valuesThatChangeFillTheirIndexesAnew() {
    let difference = Self.difference({
      $0[attribute: "age"].isIndexed = true
      $0[attribute: "note"].isIndexed = true
    }) {
      $0[attribute: "age"].isIndexed = true
      $0[attribute: "age"].type = .integer64
      $0[attribute: "note"].isIndexed = true
      $0[attribute: "note"].isOptional = false
      $0[attribute: "note"].defaultValue = "-"
    }
    #expect(
      difference.description == """
        Person.age: the type changes from integer16 to integer64 (lightweight)
        Person.note: becomes mandatory, nil becomes "-" (lightweight)
        Person.note: the default is now "-"
        Person: the index age is rebuilt (builds an index)
        Person: the index note is rebuilt (builds an index)
        """)
  }

  @Test("An index is rebuilt if objects of a subentity leave it")
  func objectsThatComeAndGoFillIndexesAnew() {
    let indexed = EvolutionFixture.changed { $0[entity: "Person"].fetchIndexes = [Self.byName] }
    var without = indexed
    without.entities.removeAll { $0.name == "Employee" }
    #expect(
      indexed.difference(to: without).description == """
        Person: the index byName is rebuilt (builds an index)
        Employee: removed, its objects are dropped (lightweight)
        """)
    #expect(
      without.difference(to: indexed).description == "Employee: added (lightweight)")
  }

  @Test("Only objects that join a unique index may violate it")
  func onlyObjectsThatJoinMayRepeatUniqueValues() {
    let unique = EvolutionFixture.changed { $0[entity: "Tag"].uniquenessConstraints = [["label"]] }
    var joined = unique
    joined[entity: "Mark"].parent = "Tag"
    var apart = joined
    apart[entity: "Mark"].parent = nil
    apart[entity: "Mark"].add(AttributeDescription(name: "label", type: .string))
    #expect(
      apart.difference(to: joined).changes.last?.description
        == "Mark: inherits from Tag (lightweight)")
    #expect(
      apart.difference(to: joined).description.contains(
        "Tag: the index label is rebuilt; existing objects with the same label violate the rule "
          + "(builds an index)"))
    #expect(
      joined.difference(to: apart).description.contains(
        "Tag: the index label is rebuilt (builds an index)"))
  }

  @Test("Index options without effect are not part of the difference")
  func indexesThatAreNotKeptAreNone() {
    let difference = Self.difference({ _ in }) {
      $0.fetchIndexes = [FetchIndexDescription(name: "i", elements: [.init("home")])]
      $0[attribute: "home"].isIndexed = true
    }
    #expect(difference.description == "")
  }
}
