import ArborModel
import Testing

@Suite struct MigrationOutlineTests {
  private func outline(
    dropping names: Set<String>? = [], _ change: EvolutionFixture.Change
  ) -> MigrationOutline {
    MigrationOutline(
      EvolutionFixture.model.difference(to: EvolutionFixture.changed(change)), dropping: names)
  }

  @Test("Steps are ordered and grouped by entity")
  func ordersStepsAndGathersThemByEntity() {
    let outline = outline(dropping: ["Person.photo", "Person.zip"]) {
      $0[entity: "Company"].uniquenessConstraints = [["title"]]
      $0[entity: "Tag"][attribute: "label"].type = .integer32
      $0[entity: "Person"].removeAttribute("photo")
      $0[entity: "Person"].removeAttribute("age")
      $0[entity: "Person"][relationship: "tags"].isOrdered = false
      $0[entity: "Person"][relationship: "friends"].isOrdered = true
      $0[entity: "Person"].add(AttributeDescription(name: "rank", type: .integer16))
    }
    #expect(
      outline.description == """
        1. Update the model catalog:
           Person.rank: added, mandatory without a default; existing objects without a value \
        violate the rule
           Person.age: removed, its values are dropped
           Person.photo: removed, its values are dropped
        2. Run code for the objects of Tag:
           Tag.label: the type changes from string to integer32, without code its values are dropped
        3. Pass over the objects of Person:
           Person.friends: becomes ordered
           Person.tags: becomes unordered, its order is dropped
        4. Build indexes of Company:
           Company: (title) becomes unique; existing objects with the same title violate the rule
        Dropped: Person.photo.
        Would be dropped, but not listed: Person.age, Person.tags.
        Listed to be dropped, but not lost: Person.zip.
        Rules to check:
           Person.rank: existing objects without a value violate the rule
           Company: existing objects with the same title violate the rule
        """)
    #expect(!outline.isPermitted)
    #expect(
      outline.steps.map(\.work) == [
        .catalog, .code(entity: "Tag"), .pass(entity: "Person"), .indexBuild(entity: "Company"),
      ])
  }

  @Test(
    "A lossy change requires no code if the loss is permitted",
    arguments: [["Tag.label"] as Set<String>, nil])
  func whatMayBeDroppedNeedsNoCode(names: Set<String>?) {
    let outline = outline(dropping: names) {
      $0[entity: "Tag"][attribute: "label"].type = .integer32
    }
    #expect(outline.isPermitted)
    #expect(outline.steps.map(\.work) == [.catalog])
    #expect(outline.dropped.map(\.name) == ["Tag.label"] && outline.unnamed.isEmpty)
  }

  @Test("A change that doesn't affect the stored form needs no steps")
  func nothingStoredIsNoStep() {
    let outline = outline { $0[entity: "Tag"].className = "Mark" }
    #expect(outline.steps.isEmpty && outline.isPermitted)
    #expect(outline.description == "No stored data changes.")
  }

  @Test("Changes of composites are steps without an entity")
  func compositesBelongToNoEntity() {
    let outline = outline { $0.composites[0].attributes[0].type = .string }
    #expect(!outline.isPermitted)
    #expect(
      outline.description == """
        1. Run code for the values of composite types:
           the type of the part Address.zip changes from integer32 to string, without code its \
        values are dropped
        """)
  }
}

extension MigrationOutline {
  /// Whether the store can be migrated without code and without dropping anything unnamed.
  fileprivate var isPermitted: Bool {
    unnamed.isEmpty
      && !steps.contains { step in
        if case .code = step.work { true } else { false }
      }
  }
}
