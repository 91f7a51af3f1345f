import ArborModel
import Testing

/// Properties that move within the entity hierarchy, and entities that move with their properties.
@Suite struct PropertyPairingTests {
  static func entity(
    _ name: String, below parent: String? = nil, isAbstract: Bool = false,
    _ attributes: String...,
    relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    EntityDescription(
      name: name, isAbstract: isAbstract, parent: parent,
      attributes: attributes.map {
        AttributeDescription(name: $0, type: .string, isOptional: true)
      }, relationships: relationships)
  }

  static func lines(_ old: [EntityDescription], _ new: [EntityDescription]) -> [String] {
    let (old, new) = (ManagedObjectModel(entities: old), ManagedObjectModel(entities: new))
    #expect(old.difference(to: old).isEmpty && new.difference(to: new).isEmpty)
    return old.difference(to: new).changes.map(\.description)
  }

  @Test("An attribute moves to its parent entity and back")
  func upToAParent() {
    let old = [Self.entity("Base", isAbstract: true), Self.entity("A", below: "Base", "x")]
    let new = [Self.entity("Base", isAbstract: true, "x"), Self.entity("A", below: "Base")]
    #expect(Self.lines(old, new) == ["Base.x: moved from A.x (lightweight)"])
    #expect(Self.lines(new, old) == ["A.x: moved from Base.x (lightweight)"])
  }

  @Test("An attribute moves from one of several children to the parent and back")
  func upFromOneChildOfSeveral() {
    let old = [
      Self.entity("Base"), Self.entity("A", below: "Base", "x"), Self.entity("B", below: "Base"),
    ]
    let new = [
      Self.entity("Base", "x"), Self.entity("A", below: "Base"), Self.entity("B", below: "Base"),
    ]
    #expect(
      Self.lines(old, new) == [
        "Base.x: moved from A.x (lightweight)",
        "Base.x: added to more objects, existing objects have nil (lightweight)",
      ])
    #expect(
      Self.lines(new, old) == [
        "Base.x: removed except in A, its values are dropped (lightweight)",
        "A.x: moved from Base.x (lightweight)",
      ])
  }

  @Test("An attribute moves from all children to a new parent")
  func upFromAllChildrenIntoANewParent() {
    let old = [Self.entity("A", "x", "y"), Self.entity("B", "x")]
    let new = [
      Self.entity("Base", "x"), Self.entity("A", below: "Base", "y"),
      Self.entity("B", below: "Base"),
    ]
    #expect(
      Self.lines(old, new) == [
        "Base: added (lightweight)",
        "Base.x: moved from A.x (lightweight)", "Base.x: moved from B.x (lightweight)",
        "A: inherits from Base (lightweight)", "B: inherits from Base (lightweight)",
      ])
    #expect(
      Self.lines(new, old) == [
        "A: no longer inherits from Base (lightweight)", "A.x: moved from Base.x (lightweight)",
        "B: no longer inherits from Base (lightweight)", "B.x: moved from Base.x (lightweight)",
        "Base: removed, its objects are dropped (lightweight)",
      ])
  }

  @Test("A moved attribute may also be renamed and change its type")
  func renamedAndConvertedOnTheWay() {
    let old = [Self.entity("Base", isAbstract: true), Self.entity("A", below: "Base", "x")]
    var base = Self.entity("Base", isAbstract: true, "z")
    base.attributes[0].renamingIdentifier = "x"
    base.attributes[0].type = .integer16
    #expect(
      Self.lines(old, [base, Self.entity("A", below: "Base")]) == [
        "Base.z: moved from A.x (lightweight)",
        "Base.z: the type changes from string to integer16, without code its values are dropped "
          + "(needs code)",
      ])
  }

  @Test("An inherited attribute moves from one parent to another")
  func fromOneParentToAnother() {
    let old = [Self.entity("P", isAbstract: true, "x", "y"), Self.entity("A", below: "P")]
    let new = [Self.entity("Q", isAbstract: true, "x", "z"), Self.entity("A", below: "Q")]
    #expect(
      Self.lines(old, new) == [
        "Q: added (lightweight)", "Q.x: moved from P.x (lightweight)",
        "Q.z: added, existing objects have nil (lightweight)",
        "A: the parent changes from P to Q (lightweight)", "P: removed (lightweight)",
        "P.y: removed, its values are dropped (lightweight)",
      ])
  }

  @Test("Inherited attributes are lost for an entity that leaves its parent")
  func whatAParentKeepsForOthersGoesForTheEntityThatLeaves() {
    let tail = [Self.entity("B", below: "A"), Self.entity("C", below: "P")]
    let old = [Self.entity("P", "x", "y"), Self.entity("A", below: "P", "own")] + tail
    let new = [Self.entity("P", "x", "y"), Self.entity("A", "x", "own")] + tail
    #expect(
      Self.lines(old, new) == [
        "A: no longer inherits from P (lightweight)", "A.x: moved from P.x (lightweight)",
        "A.y: no longer inherited from P, its values are dropped (lightweight)",
      ])
    #expect(
      Self.lines(new, old) == [
        "P.x: moved from A.x (lightweight)", "A: inherits from P (lightweight)",
        "A.y: inherited from P, existing objects have nil (lightweight)",
      ])
  }

  @Test("Inserting an entity between a parent and its child affects no property")
  func aParentBetweenChangesNothingElse() {
    let old = [Self.entity("P", "x"), Self.entity("A", below: "P", "y")]
    let new = [
      Self.entity("P", "x"), Self.entity("M", below: "P"), Self.entity("A", below: "M", "y"),
    ]
    #expect(
      Self.lines(old, new) == [
        "M: added (lightweight)", "A: the parent changes from P to M (lightweight)",
      ])
  }

  @Test("Relationships move like attributes")
  func relationshipsMoveLikewise() {
    let link = RelationshipDescription(name: "r", destination: "A", isToMany: true)
    let old = [Self.entity("P"), Self.entity("A", below: "P", relationships: [link])]
    let new = [Self.entity("P", relationships: [link]), Self.entity("A", below: "P")]
    #expect(
      Self.lines(old, new) == [
        "P.r: moved from A.r (lightweight)", "P.r: added to more objects (lightweight)",
      ])
    #expect(
      Self.lines(new, old) == [
        "P.r: removed except in A, its links are dropped (lightweight)",
        "A.r: moved from P.r (lightweight)",
      ])
  }

  @Test("Attributes of the same name in unrelated entities are different ones")
  func namesAlikeInUnrelatedEntitiesAreNoMove() {
    let old = [Self.entity("A", "x"), Self.entity("B")]
    let new = [Self.entity("A"), Self.entity("B", "x")]
    #expect(
      Self.lines(old, new) == [
        "A.x: removed, its values are dropped (lightweight)",
        "B.x: added, existing objects have nil (lightweight)",
      ])
  }

  @Test("Invalid models can be compared")
  func modelsThatBreakRulesAreCompared() {
    let cycle = [
      Self.entity("A", below: "B", "x", "x"), Self.entity("B", below: "A", "y"),
      Self.entity("B", below: "gone", "y"),
      Self.entity(
        "C", relationships: [RelationshipDescription(name: "r", destination: "?", inverse: "?")]),
    ]
    #expect(Self.lines(cycle, cycle).isEmpty)
    #expect(!Self.lines(cycle, [Self.entity("A")]).isEmpty)
    #expect(!Self.lines([Self.entity("A")], cycle).isEmpty)
  }
}
