import Foundation
import TestSupport
import Testing

/// The code in the guides compiles, and the code marked as invalid does not.
@Suite("The code in the guides") struct ArticleTests {
  static let articles = [
    "TypedClasses", "Concurrency", "LiveResults", "ComingFromCoreData",
    "ComingFromSwiftData", "ComingFromGRDB", "Importing", "PredicateLanguage", "Servers",
    "ErrorsAndValidation", "SchemaEvolution", "MoreThanOneMachine", "Services",
    "Operations", "QueryPlanning", "Browser", "Indexes", "DerivedAttributes",
    "DecimalsNumbersAndDates", "ModelChanges", "Integrity", "FullTextSearch", "Syncing",
    "SharedStores", "PostgreSQL", "Undo", "Testing", "ArborData", "ImportNotes", "Damage",
    "Merging", "Fetching", "Queues", "EditForms", "Seeding", "Exporting",
  ]

  /// Articles with the same imports share one run of the compiler.
  @Test("The code in the guides compiles")
  func theCodeCompiles() throws {
    let articles = try Self.articles.map { name in
      (name: name, blocks: try Self.blocks(of: name).filter { !Self.isRefused($0) })
    }
    for article in articles { #expect(!article.blocks.isEmpty, "\(article.name)") }
    for group in Dictionary(grouping: articles, by: { Program.imports(of: $0.blocks) }).values {
      var program = Program()
      for article in group { program.add(article.blocks) }
      let problems = try RefusedByCompiler.problems(in: program.text, followingData: true)
      let errors = problems.filter { $0.severity == "error" }.map { problem in
        "\(program.number(of: problem).map { group[$0].name } ?? "?"): \(problem)"
      }
      #expect(errors == [])
    }
  }

  /// In closures and tasks, `error` has the type of the thrown error only after `do throws(…)`. The
  /// pattern that works everywhere without it, `catch let error as ArborError where …`, crashes the
  /// compiler (Swift 6.3.1, pass MandatoryAllocBoxToStack, signal 6 or 11, or an endless loop) if its
  /// body contains a `try`. Reduced:
  ///
  /// ```swift
  /// struct Failure: Error { var code = 1 }
  /// func commit() throws(Failure) {}
  /// func take() throws -> Int {
  ///   var count = 0
  ///   do { try commit() } catch let error as Failure where error.code == 1 {
  ///     count = 1
  ///     try commit()
  ///   }
  ///   return count
  /// }
  /// ```
  @Test("Code that catches errors compiles in functions, closures and tasks")
  func catchesCompileEverywhere() throws {
    let blocks =
      try Self.articles.flatMap { name in try Self.blocks(of: name).filter { !Self.isRefused($0) } }
      + Self.documentedBlocks()
    let catching = blocks.filter { $0.contains(" catch {") || $0.contains(" catch let ") }
    #expect(catching.count > 5)
    for block in catching { #expect(!block.contains(/catch let \w+ as ArborError/), "\(block)") }
    var program = Program()
    for block in catching { program.add([block], in: Program.Place.allCases) }
    let problems = try RefusedByCompiler.problems(in: program.text, followingData: true)
    let errors = problems.filter { $0.severity == "error" }.map { problem in
      "\(program.number(of: problem).map { catching[$0] } ?? "?"): \(problem)"
    }
    #expect(errors == [])
  }

  /// The compiler diagnoses data races only in code without type errors, so blocks that it did not
  /// reject together with the others are compiled once more by themselves.
  @Test("The code that the guides mark as invalid does not compile")
  func whatTheySayDoesNotCompileDoesNot() throws {
    var left = try Self.articles.flatMap { article in
      try Self.blocks(of: article).filter(Self.isRefused)
    }
    #expect(left.count > 3)
    while !left.isEmpty {
      var program = Program()
      for block in left { program.add([block]) }
      let problems = try RefusedByCompiler.problems(in: program.text, followingData: true)
      let refused = Set(problems.filter { $0.severity == "error" }.compactMap(program.number))
      guard !refused.isEmpty else { break }
      left = left.enumerated().filter { !refused.contains($0.offset) }.map(\.element)
    }
    #expect(left == [])
  }

  @Test("Every guide is linked from the front page, and every link has a target")
  func everyGuideIsLinked() throws {
    let front = try Self.text(of: "ArborData")
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".md") && $0 != "ArborData.md" }.map { $0.dropLast(3) }
    #expect(names.count > 8)
    for name in names { #expect(front.contains("<doc:\(name)>"), "\(name)") }
    for article in names {
      for link in try Self.text(of: String(article)).matches(of: /<doc:(\w+)>/) {
        #expect(names.contains(link.output.1), "\(article) leads to \(link.output.1)")
      }
    }
  }

  // MARK: Texts

  private static let folder = ReadmeTests.root.appending(path: "Sources/ArborData/ArborData.docc")

  private static func text(of article: String) throws -> String {
    try String(contentsOf: folder.appending(path: "\(article).md"), encoding: .utf8)
  }

  private static func blocks(of article: String) throws -> [String] {
    try text(of: article).components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
  }

  /// Returns the code blocks of the doc comments in the sources that contain a `catch`.
  private static func documentedBlocks() throws -> [String] {
    let sources = ReadmeTests.root.appending(path: "Sources")
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    var blocks: [String] = []
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains("catch") else { continue }
      let comments = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        .filter { $0.hasPrefix("///") }.map { $0.dropFirst(4) }.joined(separator: "\n")
      blocks += comments.components(separatedBy: "```swift\n").dropFirst()
        .compactMap { $0.components(separatedBy: "```").first }.filter { $0.contains("catch {") }
    }
    return blocks
  }

  private static func isRefused(_ block: String) -> Bool {
    block.hasPrefix("// Does not compile")
  }
}

/// Code of several guides as one program, because starting the compiler takes longer than
/// compiling.
private struct Program {
  /// The kind of code that contains a block.
  enum Place: CaseIterable {
    case function, closure, task

    var opening: String {
      switch self {
      case .function: ""
      case .closure: "let _: () async throws -> Void = {\n"
      // The isolated function and its task share the values that aren't sendable.
      case .task: "@MainActor func begin(\(Program.parameters)) { Task {\n"
      }
    }

    var closing: String {
      switch self {
      case .function: ""
      case .closure: "}\n"
      case .task: "} }\n"
      }
    }
  }

  private(set) var text =
    "import ArborData\nimport ArborMacros\nimport Foundation\nimport Observation\n"
  private var parts: [Range<Int>] = []

  /// Adds blocks that belong together, in a namespace of their own.
  ///
  /// Blocks that contain declarations are used as they are. Others become bodies of functions whose
  /// parameters are the values that the guides refer to.
  mutating func add(_ blocks: [String], in places: [Place] = [.function]) {
    text += Self.imports(of: blocks).map { "\($0)\n" }.joined()
    let first = text.count { $0 == "\n" } + 1
    text += "enum Part\(parts.count) {\n"
    if !blocks.contains(where: { $0.contains("class Employee:") }) { text += Self.classes }
    for (number, block) in blocks.enumerated() {
      let lines = Self.lines(of: block).filter { !Self.isImport($0) }.joined(separator: "\n")
      let words = ["@Entity", "final class", "actor ", "enum ", "func "]
      let declares = words.contains { word in
        lines.split(separator: "\n").contains { $0.hasPrefix(word) }
      }
      guard !declares else {
        text += lines
        continue
      }
      for place in places {
        text += "func \(place)\(number)(\(Self.parameters)) async throws {\n"
        text += place.opening + lines + place.closing + "}\n"
      }
    }
    text += "}\n"
    parts.append(first..<text.count { $0 == "\n" } + 1)
  }

  /// Returns the index of the part that contains a problem, or `nil` if no part does.
  func number(of problem: RefusedByCompiler.Problem) -> Int? {
    parts.firstIndex { $0.contains(problem.line ?? 0) }
  }

  /// Returns the import lines of the blocks, without duplicates.
  static func imports(of blocks: [String]) -> [Substring] {
    Set(blocks.flatMap(lines(of:)).filter(isImport)).sorted()
  }

  private static func lines(of block: String) -> [Substring] {
    block.split(separator: "\n", omittingEmptySubsequences: false)
  }

  private static func isImport(_ line: Substring) -> Bool { line.hasPrefix("import ") }

  fileprivate static let parameters = """
    _ store: PersistentStore, _ manager: DataManager, _ context: ManagedObjectContext, \
    _ employee: Employee, _ model: ManagedObjectModel, _ url: URL, _ json: JSONValue, \
    _ options: StoreOptions, _ v6: ManagedObjectModel, _ v7: ManagedObjectModel, \
    _ v8: ManagedObjectModel, _ v9: ManagedObjectModel
    """

  private static let classes = """
    @Entity final class Company: ManagedObject {
      var name: String = ""
      @Relationship(inverse: "company") var employees: Set<Employee>
    }
    @Entity final class Employee: ManagedObject {
      var name: String = ""
      @Attribute(.indexed) var age: Int = 18
      @Relationship(inverse: "employees") var company: Company?
    }

    """
}
