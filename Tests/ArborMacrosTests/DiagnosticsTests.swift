import TestSupport
import Testing

/// The macros diagnose code that would compile but not work.
@Suite("The diagnostics of the macros") struct DiagnosticsTests {
  struct Case: Sendable {
    let code: String
    let message: String
    /// The fix-it's replacement.
    var fix: String?

    init(_ code: String, _ message: String, fix: String? = nil) {
      self.code = code
      self.message = message
      self.fix = fix
    }
  }

  static let classes = [
    Case("@Entity struct @ {}", "can only be attached to a class"),
    Case("@Entity actor @ {}", "can only be attached to a class"),
    Case(
      "@Entity class @ {}", "must inherit from ManagedObject", fix: "inherit from ManagedObject"),
    Case("@Entity class @<T>: ManagedObject {}", "generic class"),
    Case("@Entity @MainActor class @: ManagedObject {}", "belong to their context"),
    Case("@Entity @OtherActor class @: ManagedObject {}", "Remove @OtherActor from the class"),
    Case("@Entity(String()) class @: ManagedObject {}", "Use a string literal"),
    Case(
      "class @: ManagedObject { @Attribute var a: Int { 1 } }", "@Attribute has no effect without"),
  ]

  /// Cases that the compiler diagnoses only during code generation, which requires that there are
  /// no other errors.
  static let lateClasses = [
    Case("@Entity enum @ { case a }", "can only be attached to a class"),
    Case("@Entity extension Int {}", "can only be attached to a class"),
  ]

  static let properties = [
    Case("var age = 18", "cannot infer the type", fix: "add the type 'Int'"),
    Case("var size = -1.5", "cannot infer the type", fix: "add the type 'Double'"),
    Case("var name = \"\"", "cannot infer the type", fix: "add the type 'String'"),
    Case("var flag = true", "cannot infer the type", fix: "add the type 'Bool'"),
    Case("var other = other()", "cannot infer the type"),
    Case("var id = UUID()", "cannot infer the type", fix: "add the type 'UUID'"),
    Case("var rank = Rank.low", "cannot infer the type", fix: "add the type 'Rank'"),
    Case("init() { fatalError() }", "create objects with 'context.insert(@.self)'"),
    Case("convenience init(a: Int) { fatalError() }", "cannot have its own initializer"),
    Case("var size: Int128 = 0", "stores every value of type 'Int128' exactly"),
    Case("var size: UInt128?", "stores every value of type 'UInt128' exactly"),
    Case("var age: Int = 18 { didSet { } }", "property observers are not called"),
    Case("var age: Int = 18 { willSet { } }", "property observers are not called"),
    Case("lazy var age: Int = 18", "cannot be lazy"),
    Case("weak var other: Other?", "cannot be weak"),
    Case("unowned var other: Other", "cannot be unowned"),
    Case("var a: Int = 1, b: Int = 2", "must be declared separately", fix: "split the declaration"),
    Case("var (a, b): (Int, Int) = (1, 2)", "cannot be a tuple pattern"),
    Case("var context: String", "'context' is a member of ManagedObject"),
    Case("var isFault: Bool = false", "'isFault' is a member of ManagedObject"),
    Case("@Attribute var age: Int { 1 }", "Remove @Attribute"),
    Case("@Attribute let age: Int = 1", "Remove @Attribute"),
    Case("@Relationship static var all: [Other] { [] }", "Remove @Relationship"),
    Case("@Attribute @Transient var age: Int = 1", "only be an attribute, a relationship"),
    Case("@Transient var age: Int", "Give the transient variable 'age' an initial value"),
    Case("@Attribute(options) var age: Int = 1", "cannot evaluate the option 'options'"),
    Case(
      "@Attribute(.transformable(\"P\")) var a: Other", "transformed attribute 'a' starts as nil"),
    Case(
      "@Attribute(.transformable(\"P\")) var a: Other? = .none",
      "transformed attribute 'a' starts as nil"),
    Case("@Relationship(inverse: text) var other: Other?", "must be a string literal"),
    Case("@Relationship var others: Set<Other> = []", "Remove the initial value"),
    Case(
      "@Relationship var other: Other? = nil", "starts empty", fix: "remove the initial value"),
    Case(
      "@Relationship var others: Set<Other>?", "empty rather than nil",
      fix: "make it non-optional"),
    Case("@Relationship var others: [Other]?", "empty rather than nil"),
    Case("@Relationship var other: Other", "Make it optional", fix: "make it optional"),
    Case(
      "@Relationship var parts: Parts",
      "If 'Parts' is an alias of a collection, write the collection, such as 'Set<Part>'.",
      fix: "make it optional"),
    Case("@Relationship var others: [String: Other]", "cannot find the destination"),
    Case("@Relationship var others: Staff<Other>", "cannot find the destination"),
    Case("var others: Set<Other>", "Add @Relationship to 'others'"),
    Case("var others: ToMany<Other>", "Add @Relationship to 'others'"),
    Case("\n#if true\nvar age: Int = 1\n#endif\n", "'age' would not be stored"),
  ]

  /// Cases that depend on types, which the compiler diagnoses in the expansion.
  static let typed = [
    Case("@Relationship(inverse: \"mani\") var one: Other?", "has no member 'mani'"),
    Case("@Relationship(inverse: \"name\") var one: Other?", "'String' conform to"),
    Case("@Relationship(inverse: \"other\") var one: Other?", "types '@' and"),
    Case("var plain: Unknown", "Unknown"),
    Case("var one: Other?", "it is a relationship; add @Relationship"),
    Case("var one: Other", "add @Relationship, and make it optional"),
    Case("var many: [Other]", "it is a relationship; add @Relationship"),
  ]

  static let accepted = [
    "@Transient lazy var a = 1", "@Transient var a = 1 { didSet {} }", "@Transient var a: Int?",
    "static var a: Int { 1 }", "let a = 1", "var a: Int { 1 }", "var a: Int { get { 1 } set {} }",
    "struct B { var a = 1 }", "func a() { let b = 1; _ = b }", "@Relationship var a: Other!",
    "@Relationship var a: Optional<Other>", "@Relationship var a: Swift.Set<Other>",
    "@Relationship var a: Array<Other>", "@ArborMacros.Relationship var a: ToMany<Other>",
    "var a: Int! = nil", "fileprivate(set) var a: Optional<Int> = nil", "var `default`: Int = 0",
    "@Attribute(.transformable(\"P\")) var a: Unknown?",
    "@Attribute(.bounds(0...9)) var a: Int = 0",
    "required init(_ construction: ObjectConstruction) { super.init(construction) }",
    "var a: UUID = UUID()",
    "static let all = 3; var a: Int = all", "var a: Date = .now", "var a: Date! = Date()",
    "var a: [Int] = { [1] }()", "var a: Set<String> = []",
  ]

  private static let prelude = """
    import ArborData
    import ArborMacros
    import Foundation
    struct Unknown {}
    let text = "", options = AttributeOption.indexed
    @globalActor actor OtherActor { static let shared = OtherActor() }
    @Entity class Other: ManagedObject {
      var name: String = ""
      @Relationship(inverse: "other") var other: Other?
    }

    """

  /// Returns a program with a class per case, and the line ranges of the classes.
  private static func program(_ classes: [String]) -> (text: String, lines: [ClosedRange<Int>]) {
    var text = prelude
    var lines: [ClosedRange<Int>] = []
    for (number, declaration) in classes.enumerated() {
      let first = text.count { $0 == "\n" } + 1
      text +=
        declaration.replacing("@ ", with: "C\(number) ").replacing("@:", with: "C\(number):")
        .replacing("@<", with: "C\(number)<") + "\n"
      lines.append(first...text.count { $0 == "\n" })
    }
    return (text, lines)
  }

  private static func check(
    _ cases: [Case], _ declarations: [String], followingData: Bool = false
  ) throws {
    let program = program(declarations)
    let problems = try RefusedByCompiler.problems(in: program.text, followingData: followingData)
    for (number, (lines, test)) in zip(program.lines, cases).enumerated() {
      let message = test.message.replacing("@.", with: "C\(number).")
      let own = problems.filter { lines.contains($0.line ?? 0) }
      #expect(
        own.contains { $0.severity == "error" && $0.message.contains(message) },
        "\(test) \(own)")
      if let fix = test.fix {
        #expect(own.contains { $0.severity == "note" && $0.message == fix }, "\(test) \(own)")
      }
    }
  }

  @Test("A class that cannot be an entity is diagnosed")
  func whatIsNoEntityIsRefused() throws {
    try Self.check(Self.classes, Self.classes.map(\.code))
    try Self.check(Self.lateClasses, Self.lateClasses.map(\.code), followingData: true)
  }

  @Test("Properties that would compile but not be stored correctly are diagnosed")
  func whatSwiftWouldSilentlyGetWrongIsRefused() throws {
    try Self.check(
      Self.properties, Self.properties.map { "@Entity class @: ManagedObject { \($0.code) }" })
  }

  @Test("The compiler checks the types of properties")
  func typesAreCheckedByTheCompiler() throws {
    let program = Self.program(
      Self.typed.map { "@Entity class @: ManagedObject { \($0.code) }" })
    let problems = try RefusedByCompiler.problems(in: program.text)
    for (number, test) in Self.typed.enumerated() {
      let message = test.message.replacing("@'", with: "C\(number)'")
      // Errors in an expansion have line numbers of the expansion.
      let count = problems.count { $0.severity == "error" && $0.message.contains(message) }
      let expected = Self.typed.count { $0.message == test.message }
      #expect(count >= expected, "\(test) \(problems)")
    }
  }

  @Test("Valid classes and properties are accepted")
  func everythingElseIsAccepted() throws {
    let declarations = Self.accepted.map { "@Entity class @: ManagedObject { \($0) }" }
    let problems = try RefusedByCompiler.problems(in: Self.program(declarations).text)
    #expect(problems.map(\.description) == [])
  }

  /// Access levels, positions, and names that the library itself uses.
  private static let kinds = """
    public import ArborData
    internal import ArborMacros
    @Entity public final class Open: ManagedObject {
      public var name: String = ""
      @Relationship(inverse: "many") public internal(set) var one: Base?
    }
    @Entity open class Base: ManagedObject {
      open var title: String = ""
      @Relationship(inverse: "one") public var many: Set<Open>
    }
    @Entity public class Sub: Base {
      public var more: Int = 2
      override public var title: String { get { super.title } set { super.title = newValue } }
    }
    @Entity private final class Own: ManagedObject {
      @Relationship(inverse: "other") var other: Own?
    }
    struct Outer {
      @Entity final class Inner: ManagedObject {
        @Relationship(inverse: "all") var one: Inner?
        @Relationship(inverse: "one") var all: ToMany<Inner>
      }
    }
    func count() -> Int {
      @Entity final class Local: ManagedObject { @Relationship(inverse: "one") var one: Local? }
      return Local.attributeCount
    }
    @Entity final class Attribute: ManagedObject { @Relationship(inverse: "all") var one: Entity? }
    @Entity final class Entity: ManagedObject { @Relationship(inverse: "one") var all: [Attribute] }
    """

  @Test("Every kind of class is accepted")
  func everyKindOfClassIsAccepted() throws {
    let problems = try RefusedByCompiler.problems(
      in: Self.kinds,
      features: ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"])
    #expect(problems.map(\.description) == [])
  }
}
