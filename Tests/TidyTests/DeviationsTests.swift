import Testing

/// The article names an existing test for every deviation of the predicate language.
@Suite("Tests of documented deviations") struct DeviationsTests {
  private static let article = "Sources/ArborData/ArborData.docc/Deviations.md"

  /// The list items in the article's section on predicates.
  private static var lines: [Substring] {
    let text = SourceTree.file(article).text
    let section = text.split(separator: "\n## ").first { $0.hasPrefix("Predicates") } ?? ""
    return section.split(separator: "\n").filter { $0.hasPrefix("- ") }
  }

  @Test("Every deviation names a test")
  func everyLineNamesATest() {
    #expect(Self.lines.count > 10)
    for line in Self.lines { #expect(!Self.tests(in: line).isEmpty, "\(line)") }
  }

  @Test("Every test that a deviation names exists")
  func everyTestExists() {
    let files = SourceTree.swiftFiles(in: ["Tests"])
    for line in Self.lines {
      for (suite, test) in Self.tests(in: line) {
        let isThere = files.contains { file in
          file.text.contains("struct \(suite) ") && file.text.contains("func \(test)(")
        }
        #expect(isThere, "\(suite).\(test)")
      }
    }
  }

  /// Returns the tests named in the parentheses at the end: `(`Suite.test`, `Suite.other`)`.
  private static func tests(in line: Substring) -> [(suite: Substring, test: Substring)] {
    guard let start = line.lastIndex(of: "("), line.hasSuffix("`)") else { return [] }
    return line[start...].split(separator: "`").compactMap { piece in
      let names = piece.split(separator: ".")
      return names.count == 2 ? (names[0], names[1]) : nil
    }
  }
}
