import ArborBrowser
import ArborModel

/// A picture of a schema as SVG: a box for each entity, and a line for each relationship and each
/// parent. Differences have a sign and a color, which a legend explains.
struct SchemaPicture {
  private struct Box {
    let x: Int
    let y: Int
    let entity: SchemaDifference.Entity
    var height: Int { SchemaPicture.height(of: entity) }
  }

  private static let width = 260
  private static let gap = 90
  private static let lineHeight = 20
  private static let headHeight = 34
  private static let top = 60

  let title: String
  let schema: SchemaDifference

  private static func height(of entity: SchemaDifference.Entity) -> Int {
    headHeight + entity.parts.count * lineHeight + 10
  }

  private static func middle(ofPart index: Int) -> Int {
    headHeight + 9 + index * lineHeight
  }

  /// Returns the boxes in rows of about as many columns as there are rows.
  private var boxes: [Box] {
    let columns = max(1, Int(Double(schema.entities.count).squareRoot().rounded(.up)))
    var boxes: [Box] = []
    var y = Self.top
    for start in stride(from: 0, to: schema.entities.count, by: columns) {
      let row = schema.entities[start..<min(start + columns, schema.entities.count)]
      for (column, entity) in row.enumerated() {
        boxes.append(Box(x: Self.gap + column * (Self.width + Self.gap), y: y, entity: entity))
      }
      y += (row.map(Self.height).max() ?? 0) + Self.gap
    }
    return boxes
  }

  var svg: String {
    let boxes = boxes
    let right = (boxes.map(\.x).max() ?? 0) + Self.width + Self.gap
    let bottom = (boxes.map { $0.y + $0.height }.max() ?? Self.top) + Self.gap / 2
    let byName = Dictionary(
      boxes.map { ($0.entity.name, $0) }, uniquingKeysWith: { first, _ in first })
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(right) \(bottom)" \
      width="\(right)" height="\(bottom)" role="img" font-family="system-ui, sans-serif">
      """,
      "<title>\(SpaceMap.escaped(title))</title>", Self.style,
      text(title, x: Self.gap, y: 24, "head"),
    ]
    if !schema.isEmpty { lines.append(legend) }
    // Below the boxes.
    for box in boxes { lines += edges(of: box, byName) }
    for box in boxes { lines.append(drawing(box)) }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }

  private var legend: String {
    SchemaDifference.Mark.allCases.enumerated().map { index, mark in
      text("\(mark.sign) \(mark.rawValue)", x: Self.gap + index * 110, y: 46, mark.rawValue)
    }.joined(separator: "\n")
  }

  private func drawing(_ box: Box) -> String {
    let entity = box.entity
    let mark = entity.mark
    let name = (mark.map { "\($0.sign) " } ?? "") + entity.name
    var lines = [
      "<g class=\"box \(mark?.rawValue ?? "")\" transform=\"translate(\(box.x) \(box.y))\">",
      "<title>\(SpaceMap.escaped(([entity.name] + entity.notes).joined(separator: "\n")))</title>",
      "<rect width=\"\(Self.width)\" height=\"\(box.height)\" rx=\"8\"/>",
      text(Self.cut(name, 26), x: 12, y: 22, entity.isAbstract ? "name abstract" : "name"),
    ]
    for (index, part) in entity.parts.enumerated() {
      let y = Self.headHeight + 14 + index * Self.lineHeight
      let sign = part.mark.map { "\($0.sign) " } ?? ""
      lines.append("<g class=\"\(part.mark?.rawValue ?? "same")\">")
      if !part.notes.isEmpty {
        lines.append("<title>\(SpaceMap.escaped(part.notes.joined(separator: "\n")))</title>")
      }
      lines.append(text(Self.cut(sign + part.name, 18), x: 12, y: y, "part"))
      lines.append(text(Self.cut(part.type, 16), x: Self.width - 12, y: y, "type"))
      lines.append("</g>")
    }
    return (lines + ["</g>"]).joined(separator: "\n")
  }

  /// Returns the lines from an entity to its parent and to the destinations of its relationships.
  private func edges(of box: Box, _ boxes: [String: Box]) -> [String] {
    var edges: [String] = []
    if let parent = box.entity.parent.flatMap({ boxes[$0] }) {
      let (x, y) = (box.x + Self.width / 2, box.y)
      let end = (x: parent.x + Self.width / 2, y: parent.y + parent.height)
      edges.append(
        "<path class=\"inherits\" d=\"M\(x),\(y) C\(x),\(y - 50) \(end.x),\(end.y + 50) "
          + "\(end.x),\(end.y)\"/>")
    }
    for (index, part) in box.entity.parts.enumerated() {
      guard let relationship = part.relationship, let target = boxes[relationship.destination]
      else { continue }
      let inverse = target.entity.parts.firstIndex {
        $0.name == relationship.inverse && $0.relationship?.inverse == part.name
      }
      // A relationship and its inverse are one line.
      if let inverse,
        (target.entity.name, target.entity.parts[inverse].name) < (box.entity.name, part.name)
      {
        continue
      }
      let mark = part.mark ?? inverse.flatMap { target.entity.parts[$0].mark }
      let y = box.y + Self.middle(ofPart: index)
      let end = target.y + (inverse.map(Self.middle) ?? Self.headHeight / 2)
      let isRight = target.x > box.x
      let (start, goal) = (
        box.x + (isRight ? Self.width : 0), target.x + (target.x < box.x ? Self.width : 0)
      )
      let bend = isRight ? 60 : -60
      let other = target.x == box.x ? bend : -bend
      edges.append(
        "<path class=\"edge \(mark?.rawValue ?? "")\" d=\"M\(start),\(y) "
          + "C\(start + bend),\(y) \(goal + other),\(end) \(goal),\(end)\"/>")
    }
    return edges
  }

  private func text(_ text: String, x: Int, y: Int, _ style: String) -> String {
    "<text class=\"\(style)\" x=\"\(x)\" y=\"\(y)\">\(SpaceMap.escaped(text))</text>"
  }

  private static func cut(_ text: String, _ most: Int) -> String {
    text.count > most ? text.prefix(most - 1) + "…" : text
  }

  private static let style = """
    <style>
    svg { background: #fff } text { font-size: 12.5px; fill: #17201b }
    .head { font-size: 16px; font-weight: 600 } .name { font-size: 14px; font-weight: 650 }
    .abstract { font-style: italic } .type { text-anchor: end; fill: #56635b }
    rect { fill: #fff; stroke: #b9c4bc; stroke-width: 1.5 }
    path { fill: none; stroke: #7d8c82; stroke-width: 1.5 } .inherits { stroke-dasharray: 6 4 }
    .added rect { stroke: #17673f } .removed rect { stroke: #a3231b; stroke-dasharray: 5 4 }
    .changed rect { stroke: #7a4b00 } .same text { fill: #56635b }
    text.added, .added > text { fill: #17673f } text.changed, .changed > text { fill: #7a4b00 }
    text.removed, .removed > text { fill: #a3231b }
    path.added { stroke: #17673f } path.changed { stroke: #7a4b00 }
    path.removed { stroke: #a3231b; stroke-dasharray: 3 3 }
    </style>
    """
}
