/// A regular expression as a tree: what it matches is found by trying everything, what it reads as
/// is ICU's syntax.
indirect enum PlainPattern {
  /// One character of ASCII without a meaning of its own.
  case character(Character)
  case any
  case oneOf([Character], isNegated: Bool)
  case sequence([PlainPattern])
  case either([PlainPattern])
  /// At least, at most (nil: any number).
  case times(PlainPattern, Int, Int?)

  var text: String {
    switch self {
    case .character(let character): String(character)
    case .any: "."
    case .oneOf(let characters, let isNegated): "[\(isNegated ? "^" : "")\(String(characters))]"
    case .sequence(let parts): parts.map(\.text).joined()
    case .either(let parts): "(" + parts.map(\.text).joined(separator: "|") + ")"
    case .times(let part, 0, 1): grouped(part) + "?"
    case .times(let part, 0, nil): grouped(part) + "*"
    case .times(let part, 1, nil): grouped(part) + "+"
    case .times(let part, let least, let most):
      grouped(part) + "{\(least),\(most.map(String.init) ?? "")}"
    }
  }

  private func grouped(_ part: PlainPattern) -> String {
    if case .sequence = part { "(?:\(part.text))" } else { part.text }
  }

  /// Whether the pattern matches the whole text.
  func matches(_ text: String, ignoringCase: Bool) -> Bool {
    ends(Array(text.unicodeScalars), from: 0, ignoringCase).contains(text.unicodeScalars.count)
  }

  /// Where matches that begin at a place end.
  private func ends(_ text: [Unicode.Scalar], from start: Int, _ ignoringCase: Bool) -> Set<Int> {
    func same(_ scalar: Unicode.Scalar, _ character: Character) -> Bool {
      let wanted = character.unicodeScalars.first
      guard ignoringCase, scalar.isASCII else { return scalar == wanted }
      return String(scalar).lowercased() == String(character).lowercased()
    }
    switch self {
    case .character(let character):
      return start < text.count && same(text[start], character) ? [start + 1] : []
    case .any:
      return start < text.count && !Self.endsLine(text[start]) ? [start + 1] : []
    case .oneOf(let characters, let isNegated):
      guard start < text.count else { return [] }
      let isIn = characters.contains { same(text[start], $0) }
      return isIn != isNegated ? [start + 1] : []
    case .sequence(let parts):
      return parts.reduce([start]) { places, part in
        Set(places.flatMap { part.ends(text, from: $0, ignoringCase) })
      }
    case .either(let parts):
      return Set(parts.flatMap { $0.ends(text, from: start, ignoringCase) })
    case .times(let part, let least, let most):
      var found: Set<Int> = least == 0 ? [start] : []
      var places: Set<Int> = [start]
      var count = 0
      while !places.isEmpty, count < (most ?? text.count + least + 1) {
        count += 1
        places = Set(places.flatMap { part.ends(text, from: $0, ignoringCase) })
        if count >= least { found.formUnion(places) }
      }
      return found
    }
  }

  private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
    [0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029].contains(scalar.value)
  }
}
