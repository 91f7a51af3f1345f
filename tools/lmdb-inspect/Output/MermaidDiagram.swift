import ArborBrowser
import ArborModel

/// A schema as a class diagram in Mermaid. The signs of differences are those that Mermaid shows as
/// the visibility of members, and a note explains them.
struct MermaidDiagram {
  let schema: SchemaDifference

  var text: String {
    let ids = Dictionary(
      schema.entities.enumerated().map { ($1.name, "E\($0 + 1)") },
      uniquingKeysWith: { first, _ in first })
    var lines = ["classDiagram"]
    if !schema.isEmpty {
      let marks = SchemaDifference.Mark.allCases.map { "\(Self.sign($0)) \($0.rawValue)" }
      lines.append("  note \"\(marks.joined(separator: ", "))\"")
    }
    for (index, entity) in schema.entities.enumerated() { lines += box(entity, "E\(index + 1)") }
    for (index, entity) in schema.entities.enumerated() {
      if let parent = entity.parent.flatMap({ ids[$0] }) {
        lines.append("  \(parent) <|-- E\(index + 1)")
      }
      lines += entity.parts.compactMap { line($0, from: "E\(index + 1)", ids) }
    }
    return lines.joined(separator: "\n")
  }

  private func box(_ entity: SchemaDifference.Entity, _ id: String) -> [String] {
    let mark = entity.mark.map { "\(Self.sign($0)) " } ?? ""
    let members = entity.parts.filter { $0.relationship == nil }.map { part in
      "    \(part.mark.map(Self.sign) ?? "")\(Self.word(part.type)) \(Self.word(part.name))"
    }
    return ["  class \(id)[\"\(mark)\(Self.plain(entity.name))\"] {"]
      + (entity.isAbstract ? ["    <<abstract>>"] : []) + members + ["  }"]
  }

  private func line(
    _ part: SchemaDifference.Part, from id: String, _ ids: [String: String]
  ) -> String? {
    guard let relationship = part.relationship, let target = ids[relationship.destination] else {
      return nil
    }
    let mark = part.mark.map { "\(Self.sign($0)) " } ?? ""
    let many = relationship.isToMany ? "*" : "1"
    return "  \(id) --> \"\(many)\" \(target) : \(mark)\(Self.plain(part.name))"
  }

  /// Returns the sign in ASCII, which Mermaid needs.
  private static func sign(_ mark: SchemaDifference.Mark) -> String {
    mark == .removed ? "-" : mark.sign
  }

  /// Returns a text without the characters that have a meaning in Mermaid.
  private static func plain(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let isPlain = scalar.properties.isAlphabetic || "0123456789_ ".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "#\(scalar.value);"
    }.joined()
  }

  /// Returns a name as Mermaid takes one for a member.
  private static func word(_ text: String) -> String {
    String(
      text.map { $0.isLetter || $0.isNumber || "_?[]".contains($0) ? $0 : "_" })
  }
}
