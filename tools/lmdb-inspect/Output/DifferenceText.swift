import ArborBrowser

/// The differences of two models as text: a block for each entity that differs, and a line for each
/// property of it that does.
struct DifferenceText {
  let difference: SchemaDifference

  var text: String {
    guard !difference.isEmpty else { return "The models are equal." }
    let marks = SchemaDifference.Mark.allCases.map { "\($0.sign) \($0.rawValue)" }
    var blocks = [marks.joined(separator: "   ")]
    blocks += difference.entities.filter { $0.mark != nil }.map(block)
    if !difference.others.isEmpty {
      blocks.append((["~ model"] + difference.others.map { "    \($0)" }).joined(separator: "\n"))
    }
    return blocks.joined(separator: "\n\n")
  }

  private func block(_ entity: SchemaDifference.Entity) -> String {
    let kind = entity.isAbstract ? "abstract entity" : "entity"
    let parent = entity.parent.map { ": \($0)" } ?? ""
    var lines = ["\(entity.mark?.sign ?? " ") \(kind) \(entity.name)\(parent)"]
    lines += entity.notes.map { "    \($0)" }
    var table = TextTable([])
    for part in entity.parts {
      guard let mark = part.mark else { continue }
      table.add(["  \(mark.sign) \(part.name)", part.type, part.notes.joined(separator: "; ")])
    }
    if !table.text.isEmpty { lines.append(table.text) }
    return lines.joined(separator: "\n")
  }
}
