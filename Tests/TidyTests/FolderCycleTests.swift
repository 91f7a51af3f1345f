import Testing

/// Within a target, the folders must not depend on each other cyclically.
@Suite("Cycles between folders") struct FolderCycleTests {
  /// The folders that may depend on each other: a schema contains the conditions of its indexes and
  /// the derivations of its attributes, which are predicates and expressions over the schema.
  static let allowed = [["Predicates", "Schema"]]

  @Test("Folders of the model have only the allowed cycles")
  func theFoldersOfTheModelFollowOneAnother() {
    let graph = TypeGraph(SourceTree.swiftFiles(in: ["Sources/ArborModel"]))
    #expect(graph.folderKnots == Self.allowed)
  }

  @Test("The rule finds cycles between folders")
  func findsWhatItForbids() {
    let graph = TypeGraph([
      SourceFile(path: "Sources/T/A/One.swift", text: "package final class One { var b: Two? }"),
      SourceFile(
        path: "Sources/T/B/Two.swift", text: "struct Two { let c: [Three] }\nextension One {}"),
      SourceFile(path: "Sources/T/C/Three.swift", text: "enum Three { case a(One.Three) } // Four"),
      SourceFile(path: "Sources/T/D/Four.swift", text: "private struct One {}\nlet four = Three()"),
    ])
    #expect(graph.uses == [[1], [0, 2], [0], [2]])
    #expect(graph.folderKnots == [["A", "B", "C"]])
    #expect(TypeGraph.knots([[1], [2], [1], [0]]) == [[1, 2]])
    #expect(
      TypeGraph.declaredTypes(in: "@frozen public enum E: Int {}\n  struct Inner {}") == ["E"])
    #expect(TypeGraph.typeNames(in: "let a: Int? = .B(C.D, e)") == ["Int", "C"])
  }
}
