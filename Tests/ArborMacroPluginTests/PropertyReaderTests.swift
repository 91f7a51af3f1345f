import Testing

@Suite struct PropertyReaderTests {
  private func expansion(_ property: String) -> Expansion {
    Expansion(of: "@Entity class A: ManagedObject {\n  \(property)\n}")
  }

  @Test(arguments: [
    ("var age = 18", "sees no more than the text"),
    ("var age: Int = 18 { didSet { } }", "observers see no change"),
    ("var age: Int = 18 { willSet { } }", "observers see no change"),
    ("lazy var age: Int = 18", "can not be lazy"),
    ("weak var other: A?", "can not be weak"),
    ("unowned var other: A", "can not be unowned"),
    ("var a: Int = 1, b: Int = 2", "a line of its own"),
    ("var (a, b): (Int, Int) = (1, 2)", "has one name"),
    ("var context: String = \"\"", "'context' is a member of ManagedObject"),
    ("var `self`: String = \"\"", "'self' is a member of ManagedObject"),
    ("@Attribute var age: Int { 1 }", "remove @Attribute"),
    ("@Attribute let age: Int = 1", "remove @Attribute"),
    ("@Relationship static var all: [A] = []", "remove @Relationship"),
    ("@Attribute @Transient var age: Int = 1", "one of an attribute, a relationship"),
    ("@Transient var age: Int", "give the transient 'age' an initial value"),
    ("@Attribute(options) var age: Int = 1", "write 'options' as"),
    ("@Attribute(.transformable(\"PNG\")) var a: Image", "The transformed 'a'"),
    ("@Attribute(.transformable(\"PNG\")) var a: Image? = .none", "The transformed 'a'"),
    ("@Relationship(inverse: name) var other: A?", "named by a plain text"),
    ("@Relationship(inverse: \"\\(name)\") var other: A?", "named by a plain text"),
    ("@Relationship(inverse: \\A.others) var other: A?", "named by a plain text"),
    ("@Relationship var others: Set<A> = []", "remove the initial value"),
    ("@Relationship var other: A? = nil", "remove the initial value"),
    ("@Relationship var others: Set<A>?", "remove the question mark"),
    ("@Relationship var others: [A]?", "remove the question mark"),
    ("@Relationship var other: A", "add a question mark"),
    ("@Relationship var others: [String: A]", "does not know what"),
    ("@Relationship var others: Staff<A>", "does not know what"),
    ("var others: Set<A>", "write @Relationship before 'others'"),
    ("var others: ToMany<A>", "write @Relationship before 'others'"),
  ])
  func whatSwiftWouldSilentlyGetWrongIsRefused(property: String, message: String) {
    let expansion = expansion(property)
    #expect(expansion.messages.count == 1)
    #expect(expansion.messages.first?.contains(message) == true, "\(expansion.messages)")
    #expect(!expansion.text.contains("@EntityProperty"))
  }

  @Test(arguments: [
    ("var age = 18", "age: Int = 18"),
    ("var size = -1.5", "size: Double = -1.5"),
    ("var name = \"\"", "name: String = \"\""),
    ("var flag = true", "flag: Bool = true"),
    ("@Relationship(inverse: \\A.others) var other: A?", "\"others\""),
    ("@Relationship var others: Set<A> = []", "others: Set<A>"),
    ("@Relationship var others: Set<A>?", "Set<A>"),
    ("@Relationship var other: A", "A?"),
  ])
  func anEditorOffersTheRightWay(property: String, fixed: String) {
    #expect(expansion(property).fixes == [fixed])
  }

  @Test(arguments: [
    "@Transient lazy var a = 1", "@Transient var a = 1 { didSet {} }", "@Transient var a: Int?",
    "static var a = 1", "class var a: Int { 1 }", "let a = 1", "var a: Int { 1 }",
    "var a: Int { get { 1 } set {} }", "override var a: Int { 1 }", "struct B { var a = 1 }",
    "func a() { var b = 1 }",
  ])
  func whatIsNotKeptIsLeftAlone(property: String) {
    let expansion = expansion(property)
    #expect(expansion.messages == [])
    #expect(expansion.text.contains("override class var attributeCount: Int {\n    0"))
  }

  @Test(arguments: [
    ("@Relationship var a: Optional<B>", "toOne(0)"),
    ("@Relationship var a: Office.B?", "toOne(0)"), ("@Relationship var a: B!", "toOne(0)"),
    ("@Relationship var a: Swift.Set<B>", "toMany(0)"),
    ("@Relationship var a: Array<Office.B>", "orderedToMany(0)"),
    ("@Relationship var a: [B]", "orderedToMany(0)"),
    ("@ArborMacros.Relationship var a: ArborObjects.ToMany<B>", "toManyView(0)"),
    ("@Attribute(.transformable(\"PNG\")) var a: Image?", "setTransformed(0, newValue)"),
    ("var a: Optional<Int> = nil", "attribute(0)"), ("public var a: [String] = []", "attribute(0)"),
  ])
  func everySpellingIsRead(property: String, accessor: String) {
    let expansion = expansion(property)
    #expect(expansion.messages == [])
    #expect(expansion.text.contains(accessor))
  }
}
