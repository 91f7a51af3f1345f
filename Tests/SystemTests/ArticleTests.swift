import Foundation
import TestSupport
import Testing

/// The code of the guides compiles, and what they say does not compile does not.
@Suite struct ArticleTests {
  static let articles = [
    "TypedClasses", "Concurrency", "LiveResults", "ComingFromSwiftData", "ComingFromGRDB",
    "Importing",
  ]

  @Test(arguments: articles) func theCodeCompiles(article: String) throws {
    let blocks = try Self.blocks(of: article)
    #expect(!blocks.isEmpty)
    let refused = blocks.filter(Self.isRefused)
    let problems = try RefusedByCompiler.problems(
      in: Self.program(blocks.filter { !Self.isRefused($0) }), followingData: true)
    #expect(problems.filter { $0.severity == "error" }.map(\.description) == [])
    for block in refused {
      let found = try RefusedByCompiler.problems(in: Self.program([block]), followingData: true)
      #expect(found.contains { $0.severity == "error" }, "\(block)")
    }
  }

  @Test func everyGuideIsLinked() throws {
    let front = try Self.text(of: "ArborData")
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".md") && $0 != "ArborData.md" }.map { $0.dropLast(3) }
    #expect(names.count > 8)
    for name in names { #expect(front.contains("<doc:\(name)>"), "\(name)") }
    for article in Self.articles {
      for link in try Self.text(of: article).matches(of: /<doc:(\w+)>/) {
        #expect(names.contains(link.output.1), "\(article) leads to \(link.output.1)")
      }
    }
  }

  // MARK: Programs

  private static let folder = ReadmeTests.root.appending(path: "Sources/ArborData/ArborData.docc")

  private static func text(of article: String) throws -> String {
    try String(contentsOf: folder.appending(path: "\(article).md"), encoding: .utf8)
  }

  private static func blocks(of article: String) throws -> [String] {
    try text(of: article).components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
  }

  private static func isRefused(_ block: String) -> Bool {
    block.hasPrefix("// Does not compile")
  }

  /// Blocks that declare something stand by themselves; others are the bodies of functions that
  /// have what the guides talk about.
  private static func program(_ blocks: [String]) -> String {
    var text = "import ArborData\nimport ArborMacros\nimport Foundation\nimport Observation\n"
    if !blocks.contains(where: { $0.contains("class Employee:") }) { text += classes }
    for (number, block) in blocks.enumerated() {
      let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
      let declares = ["@Entity", "final class", "actor ", "enum ", "func "].contains { word in
        lines.split(separator: "\n").contains { $0.hasPrefix(word) }
      }
      text += declares ? lines : "func block\(number)(\(parameters)) async throws {\n\(lines)}\n"
    }
    return text
  }

  private static let parameters = """
    _ store: PersistentStore, _ manager: DataManager, _ context: ManagedObjectContext, \
    _ employee: Employee, _ url: URL, _ json: JSONValue
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
