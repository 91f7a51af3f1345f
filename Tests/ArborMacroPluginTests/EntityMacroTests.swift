import Testing

@Suite struct EntityMacroTests {
  @Test func aClassBecomesTheFormThatIsWrittenByHand() {
    let expansion = Expansion(
      of: """
        @Entity final class Company: ManagedObject {
          @Attribute(.unique) var companyID: Int64 = 0
          var companyName: String = ""
          var nick: String?
          @Attribute(.derived("employees.@count")) var size: Int
          @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
          @Relationship(.mandatory) private(set) var owner: Person?
          @Transient var isSelected = false
          let made = 1
          var isLarge: Bool { size > 100 }
        }
        """)
    #expect(expansion.messages == [])
    #expect(
      expansion.text == Self.company)
  }

  @Test func aSubclassCountsFromWhereItsSuperclassEnds() {
    let expansion = Expansion(
      of: """
        @Entity("Staff", isAbstract: true, uniqueness: [["a", "b"]], userInfo: notes)
        open class `Type`: Office.Person {
          @Attribute(.unique, .bounds(1...9)) var `class`: Int! = nil
          @Relationship(inverse: "self") var all: ToMany<Task>
        }
        """)
    #expect(expansion.messages == [])
    #expect(
      expansion.text == Self.staff)
  }

  @Test func markersAloneAreRefused() {
    let expansion = Expansion(of: "class A: ManagedObject { @Attribute(.unique) var id: Int = 0 }")
    #expect(expansion.messages.map { $0.contains("@Attribute says something") } == [true])
  }

  private static let company = """
    final class Company: ManagedObject {
      var companyID: Int64 {
        get {
          attribute(0)
        }
        set {
          setAttribute(0, newValue)
        }
      }
      var companyName: String {
        get {
          attribute(1)
        }
        set {
          setAttribute(1, newValue)
        }
      }
      var nick: String? {
        get {
          attribute(2)
        }
        set {
          setAttribute(2, newValue)
        }
      }
      var size: Int {
        get {
          attribute(3)
        }
      }
      var employees: Set<Employee> {
        get {
          toMany(0)
        }
        set {
          setToMany(0, newValue)
        }
      }
      private(set) var owner: Person? {
        get {
          toOne(1)
        }
        set {
          setToOne(1, newValue)
        }
      }
      var isSelected = false
      let made = 1
      var isLarge: Bool { size > 100 }

      override class var entityDescription: EntityDescription {
        describedEntity
      }

      override class var entityName: String {
        "Company"
      }

      override class var attributeCount: Int {
        4
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
        ],
        relationships: [
          RelationshipDescription(
            "employees", Set<Employee>.self, of: Company.self, inverse: "company", at: \\.company,
            deleteRule: .cascade),
          RelationshipDescription("owner", Person?.self, .mandatory),
        ],
        uniquenessConstraints: [["companyID"]])
    }
    """

  private static let staff = """
    open class `Type`: Office.Person {
      var `class`: Int! {
        get {
          attribute(Office.Person.attributeCount + 0)
        }
        set {
          setAttribute(Office.Person.attributeCount + 0, newValue)
        }
      }
      var all: ToMany<Task> {
        get {
          toManyView(Office.Person.relationshipCount + 0)
        }
      }

      public override class var entityDescription: EntityDescription {
        describedEntity
      }

      public override class var entityName: String {
        "Staff"
      }

      public override class var attributeCount: Int {
        Office.Person.attributeCount + 1
      }

      public override class var relationshipCount: Int {
        Office.Person.relationshipCount + 1
      }

      private static let describedEntity = EntityDescription(
        name: "Staff", className: "Type", isAbstract: true,
        attributes: [
          AttributeDescription("class", Int?.self, .bounds(1 ... 9))
        ],
        relationships: [
          RelationshipDescription(
            "all", ToMany<Task>.self, of: `Type`.self, inverse: "self", at: \\.`self`)
        ],
        uniquenessConstraints: [["class"]] + [["a", "b"]],
        userInfo: notes)
    }
    """
}
