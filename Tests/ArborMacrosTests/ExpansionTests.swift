import TestSupport
import Testing

/// The expansions of `@Entity`, as seen by the compiler.
@Suite("The expansions of the macros") struct ExpansionTests {
  /// Returns the added members and accessors of a class, with normalized whitespace.
  private func expansion(of source: String) throws -> (members: String, accessors: [String]) {
    let expansions = try RefusedByCompiler.expansions(of: source)
    let members = expansions.filter { $0.name.hasSuffix("EntityfMm_") }.map(\.text)
    let accessors = expansions.filter { $0.name.hasSuffix("EntityPropertyfMa_") }.map(\.text)
    return (
      members.joined(separator: "\n"),
      accessors.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }.sorted()
    )
  }

  @Test("The expansion equals the handwritten form of a class")
  func aClassBecomesTheFormThatIsWrittenByHand() throws {
    let expansion = try expansion(of: Self.company)
    #expect(expansion.members == Self.companyMembers)
    #expect(
      expansion.accessors == [
        "{ get { _attribute(0) } set { _setAttribute(0, newValue) } }",
        "{ get { _attribute(1) } set { _setAttribute(1, newValue) } }",
        "{ get { _attribute(2) } set { _setAttribute(2, newValue) } }",
        "{ get { _attribute(3) } }",
        "{ get { _toMany(0) } set { _setToMany(0, newValue) } _modify { var change = "
          + "_changeToMany(0, Set<Employee>.self); defer { change.finish() }; yield "
          + "&change.members } }",
        "{ get { _toOne(1) } set { _setToOne(1, newValue) } }",
        "{ get { _transformed(4) } set { _setTransformed(4, newValue) } }",
      ])
  }

  private static let company = """
    import ArborMacros
    @Entity final class Company: ManagedObject {
      @Attribute(.unique) var companyID: Int64 = 0
      var companyName: String = ""
      var nick: String?
      @Attribute(.derived("employees.@count")) var size: Int
      @Attribute(.transformable("PNG"), .externalStorage) var logo: Image?
      @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
      @Relationship(.mandatory) private(set) var owner: Person?
      @Transient var isSelected = false
      let made = 1
      var isLarge: Bool { size > 100 }
      override func validate(_ value: PropertyValue, forKey key: String) throws {}
      override func willCommit() {}
      func importValue(_ value: JSONValue) {}
      #if DEBUG
        override func awakeFromFetch() {}
      #endif
    }
    """

  private static let companyMembers = """
    override class var entityDescription: EntityDescription {
        describedEntity
    }

    override class var entityName: String {
        "Company"
    }

    override class var attributeCount: Int {
        5
    }

    override class var relationshipCount: Int {
        2
    }

    private static let describedEntity = EntityDescription(
      name: "Company", className: "Company",
      attributes: [
        AttributeDescription("companyID", Int64.self, default: 0),
        AttributeDescription("companyName", String.self, default: ""),
        AttributeDescription("nick", String?.self),
        AttributeDescription("size", Int.self, .derived("employees.@count")),
        AttributeDescription(transformed: "logo", .transformable("PNG"), .externalStorage),
      ],
      relationships: [
        RelationshipDescription(
          "employees", Set<Employee>.self, of: Company.self, inverse: "company", at: \\.company,
          deleteRule: .cascade),
        RelationshipDescription("owner", Person?.self, .mandatory),
      ],
      uniquenessConstraints: [["companyID"]])

    override class var propertyNames: [AnyKeyPath: String] {
      [
        \\Company.companyID: "companyID",
        \\Company.companyName: "companyName",
        \\Company.nick: "nick",
        \\Company.size: "size",
        \\Company.logo: "logo",
        \\Company.employees: "employees",
        \\Company.owner: "owner",
      ]
    }

    override class var overriddenHooks: OverriddenHooks {
      OverriddenHooks(.validate, .awakeFromFetch, of: Company.self)
    }
    """

  @Test("The slots of a subclass follow those of its superclass")
  func aSubclassCountsFromWhereItsSuperclassEnds() throws {
    let expansion = try expansion(of: Self.type)
    #expect(expansion.members == Self.typeMembers)
    #expect(
      expansion.accessors == [
        "{ get { _attribute(Office.Person.attributeCount + 0) } "
          + "set { _setAttribute(Office.Person.attributeCount + 0, newValue) } }",
        "{ get { _attribute(Office.Person.attributeCount + 1) } "
          + "set { _setAttribute(Office.Person.attributeCount + 1, newValue) } }",
        "{ get { _orderedToMany(Office.Person.relationshipCount + 1) } "
          + "set { _setOrderedToMany(Office.Person.relationshipCount + 1, newValue) } "
          + "_modify { var change = _changeOrderedToMany(Office.Person.relationshipCount + 1, "
          + "[Task].self); defer { change.finish() }; yield &change.members } }",
        "{ get { _toManyView(Office.Person.relationshipCount + 0) } }",
      ])
  }

  private static let type = """
    import ArborData
    import ArborMacros
    import Foundation
    enum Office { open class Person: ManagedObject {} }
    let notes = [String: String]()
    @Entity("Staff", isAbstract: true, uniquenessConstraints: [["a", "b"]], userInfo: notes)
    open class `Type`: Office.Person {
      @Attribute(.unique, .bounds(1...9)) var `class`: Int! = nil
      var id: UUID = .init()
      @Relationship(inverse: "self") var all: ToMany<Task>
      @Relationship var line: [Task]
    }
    """

  private static let typeMembers = """
    public override class var entityDescription: EntityDescription {
        describedEntity
    }

    public override class var entityName: String {
        "Staff"
    }

    public override class var attributeCount: Int {
        Office.Person.attributeCount + 2
    }

    public override class var relationshipCount: Int {
        Office.Person.relationshipCount + 2
    }

    private static let describedEntity = EntityDescription(
      name: "Staff", className: "Type", isAbstract: true,
      attributes: [
        AttributeDescription("class", Int?.self, .bounds(1 ... 9)),
        AttributeDescription("id", UUID.self),
      ],
      relationships: [
        RelationshipDescription(
          "all", ToMany<Task>.self, of: `Type`.self, inverse: "self", at: \\.`self`),
        RelationshipDescription("line", [Task].self),
      ],
      uniquenessConstraints: [["class"]] + [["a", "b"]],
      userInfo: notes)

    public override class var propertyNames: [AnyKeyPath: String] {
      [\\`Type`.`class`: "class", \\`Type`.id: "id", \\`Type`.all: "all", \\`Type`.line: "line"]
    }

    public override class var overriddenHooks: OverriddenHooks {
      OverriddenHooks(of: `Type`.self, inheriting: Office.Person.self)
    }

    public override class func setInitialValues(of object: ManagedObject) {
      super.setInitialValues(of: object)
      object._setAttribute(Office.Person.attributeCount + 1, (.init()) as UUID)
    }
    """
}
