internal import ArborModel
internal import ArborObjects

/// A schema as a class diagram in Mermaid. The signs of differences are those that Mermaid shows as
/// the visibility of members, and a note explains them.
package struct MermaidDiagram {
  private let schema: SchemaDifference
  /// The names of the classes of entities.
  private let ids: [String: String]

  package init(_ schema: SchemaDifference) {
    self.schema = schema
    ids = Dictionary(
      schema.entities.enumerated().map { ($1.name, "E\($0 + 1)") },
      uniquingKeysWith: { first, _ in first })
  }

  package var text: String {
    var lines = ["classDiagram"]
    if !schema.isEmpty {
      let marks = SchemaDifference.Mark.allCases.map { "\(Self.sign($0)) \($0.rawValue)" }
      lines.append("  note \"\(marks.joined(separator: ", "))\"")
    }
    for (index, entity) in schema.entities.enumerated() { lines += box(entity, "E\(index + 1)") }
    var drawn: Set<[String]> = []
    for (index, entity) in schema.entities.enumerated() {
      if let parent = entity.parent.flatMap({ ids[$0] }) {
        lines.append("  \(parent) <|-- E\(index + 1)")
      }
      lines += entity.parts.compactMap { line($0, of: entity, "E\(index + 1)", &drawn) }
    }
    return lines.joined(separator: "\n")
  }

  private func box(_ entity: SchemaDifference.Entity, _ id: String) -> [String] {
    let members = entity.parts.filter { $0.relationship == nil }.map { part in
      "    \(part.mark.map(Self.sign) ?? "")\(Self.word(part.type)) \(Self.word(part.name))"
    }
    return ["  class \(id)[\"\(Self.label(entity.name, entity.mark))\"] {"]
      + (entity.isAbstract ? ["    <<abstract>>"] : []) + members + ["  }"]
  }

  /// Returns the line of a relationship, or `nil` if that of its inverse is already drawn, which is
  /// the same.
  private func line(
    _ part: SchemaDifference.Part, of entity: SchemaDifference.Entity, _ id: String,
    _ drawn: inout Set<[String]>
  ) -> String? {
    guard let relationship = part.relationship, let target = ids[relationship.destination] else {
      return nil
    }
    let end = "\(Self.count(relationship)) \(target) : \(Self.label(part.name, part.mark))"
    guard
      let inverse = schema.entities.first(where: { $0.name == relationship.destination })?.parts
        .first(where: { $0.name == relationship.inverse && $0.relationship != nil })
    else { return "  \(id) --> \(end)" }
    let names = ["\(entity.name).\(part.name)", "\(relationship.destination).\(inverse.name)"]
    guard drawn.insert(names.sorted()).inserted else { return nil }
    return "  \(id) \(inverse.relationship.map(Self.count) ?? "") -- \(end)"
      + (names[0] == names[1] ? "" : " / \(Self.label(inverse.name, inverse.mark))")
  }

  private static func count(_ relationship: RelationshipDescription) -> String {
    relationship.isToMany ? "\"*\"" : "\"1\""
  }

  private static func label(_ name: String, _ mark: SchemaDifference.Mark?) -> String {
    (mark.map { "\(sign($0)) " } ?? "") + plain(name)
  }

  /// Returns the sign in ASCII, which Mermaid needs.
  private static func sign(_ mark: SchemaDifference.Mark) -> String {
    mark == .removed ? "-" : mark.sign
  }

  /// Returns a text without the characters that have a meaning in Mermaid.
  private static func plain(_ text: String) -> String {
    TerminalText.escaped(text).unicodeScalars.map { scalar in
      let isPlain = scalar.properties.isAlphabetic || "0123456789_ ".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "#\(scalar.value);"
    }.joined()
  }

  /// Returns a name as Mermaid takes one for a member.
  private static func word(_ text: String) -> String {
    String(
      TerminalText.escaped(text).map {
        $0.isLetter || $0.isNumber || "_?[]".contains($0) ? $0 : "_"
      })
  }
}
