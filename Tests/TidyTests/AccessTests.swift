import Testing

/// Rules for public API and for its thread safety.
@Suite("Rules for public declarations") struct AccessTests {
  @Test("The storage layers have no public declarations")
  func theEnginePublishesNothing() {
    for file in SourceTree.swiftFiles(in: ["Sources/ArborStore", "Sources/LMDB"]) {
      #expect(Self.publicLines(of: file.code) == [], "\(file.path)")
    }
  }

  /// Public types must not promise a thread safety that the compiler cannot check.
  @Test("No public type is unchecked Sendable")
  func noUncheckedSendableIsPublic() {
    let files = SourceTree.swiftFiles(in: ["Sources"])
    let types = files.reduce(into: Set<String>()) { $0.formUnion(Self.publicTypes(of: $1.code)) }
    for file in files {
      #expect(Self.uncheckedTypes(of: file.code, public: types) == [], "\(file.path)")
    }
  }

  @Test("The rules find violations")
  func findsWhatItForbids() {
    #expect(
      Self.publicLines(of: "package struct A {}\n  public var b = 1\nopen class C {}") == [2, 3])
    #expect(Self.publicLines(of: "let isPublic = opening; public import A") == [])
    let source = """
      public final class Open: @unchecked Sendable {}
      @_exported public import Other
      final class Closed: @unchecked Sendable {}
      public struct Late { }
      extension Late: @unchecked Sendable {}
      """
    #expect(Self.publicTypes(of: source) == ["Open", "Late"])
    #expect(Self.uncheckedTypes(of: source, public: ["Open", "Late"]) == ["Open", "Late"])
  }

  /// Returns the numbers of the lines with public declarations, other than imports.
  static func publicLines(of code: String) -> [Int] {
    code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .filter { _, line in
        guard line.contains("public") || line.contains("open") else { return false }
        let words = line.split(separator: " ")
        return words.contains { $0 == "public" || $0 == "open" || $0.hasPrefix("public(") }
          && !words.contains("import")
      }
      .map { $0.offset + 1 }
  }

  /// Returns the names of the types that a source declares as public or open.
  static func publicTypes(of code: String) -> [String] {
    headers(of: code).compactMap { header in
      isPublic(header) ? name(in: header) : nil
    }
  }

  /// Returns the names of the public types with an unchecked conformance to `Sendable`.
  static func uncheckedTypes(of code: String, public types: Set<String>) -> [String] {
    guard code.contains("@unchecked") else { return [] }
    return headers(of: code).compactMap { header in
      guard header.contains("@unchecked"), let name = name(in: header) else { return nil }
      return isPublic(header) || (header.contains("extension") && types.contains(name)) ? name : nil
    }
  }

  private static func isPublic(_ header: [Substring]) -> Bool {
    header.contains("public") || header.contains("open")
  }

  private static func name(in header: [Substring]) -> String? {
    let kinds: Set<Substring> = ["class", "struct", "enum", "actor", "extension", "protocol"]
    guard let kind = header.firstIndex(where: kinds.contains), kind + 1 < header.count else {
      return nil
    }
    return String(header[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
  }

  /// Returns the words before each opening brace, back to the end of the previous declaration,
  /// without imports.
  private static func headers(of code: String) -> [[Substring]] {
    let lines = code.split(separator: "\n", omittingEmptySubsequences: false)
    let code = lines.filter { !$0.contains("import ") }.joined(separator: "\n")
    return code.split(separator: "{", omittingEmptySubsequences: false).map { piece in
      let header = piece.split(whereSeparator: { "};".contains($0) }).last ?? ""
      return header.split(whereSeparator: { $0 == " " || $0 == "\n" })
    }
  }
}
