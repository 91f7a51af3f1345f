import Testing

/// Within a target nothing but its folders' order keeps one topic from knowing all others. The
/// folders of the model follow one another, and few files of a target depend on each other in a
/// circle.
@Suite struct FolderCycleTests {
  /// The folders of the model that may use each other: a schema holds the conditions of its indexes
  /// and the derivations of its attributes, which are predicates and expressions about it.
  static let allowed = [["Predicates", "Schema"]]

  /// The most files of each target that may depend on each other in a circle.
  static let mostInAKnot = [
    "ArborErrors": 11, "ArborJSON": 11, "ArborModel": 11, "ArborModelFiles": 11,
    // The engine, its snapshots, and what it hands itself to; nothing else that it is made of
    // knows it.
    "ArborStore": 7,
    "ArborWork": 11, "ArborObjects": 11,
  ]

  @Test func theFoldersOfTheModelFollowOneAnother() {
    let graph = TypeGraph(SourceTree.swiftFiles(in: ["Sources/ArborModel"]))
    #expect(graph.folderKnots == Self.allowed)
  }

  @Test(arguments: mostInAKnot.keys.sorted())
  func knotsOfFilesAreSmall(target: String) throws {
    let most = try #require(Self.mostInAKnot[target])
    let graph = TypeGraph(SourceTree.swiftFiles(in: ["Sources/\(target)"]))
    #expect(graph.knots.filter { $0.count > most } == [])
  }

  @Test func findsWhatItForbids() {
    let graph = TypeGraph([
      SourceFile(path: "Sources/T/A/One.swift", text: "package final class One { var b: Two? }"),
      SourceFile(
        path: "Sources/T/B/Two.swift", text: "struct Two { let c: [Three] }\nextension One {}"),
      SourceFile(path: "Sources/T/C/Three.swift", text: "enum Three { case a(One.Three) } // Four"),
      SourceFile(path: "Sources/T/D/Four.swift", text: "private struct One {}\nlet four = Three()"),
    ])
    #expect(graph.uses == [[1], [0, 2], [0], [2]])
    #expect(graph.folderKnots == [["A", "B", "C"]])
    #expect(graph.knots.map(\.count) == [3])
    #expect(TypeGraph.knots([[1], [2], [1], [0]]) == [[1, 2]])
    #expect(
      TypeGraph.declaredTypes(in: "@frozen public enum E: Int {}\n  struct Inner {}") == ["E"])
    #expect(TypeGraph.typeNames(in: "let a: Int? = .B(C.D, e)") == ["Int", "C"])
  }
}
