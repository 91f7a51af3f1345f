/// A regular expression as a tree, which is matched by exhaustive search and rendered in ICU's
/// syntax.
indirect enum PlainPattern {
  /// An ASCII character without a special meaning.
  case character(Character)
  case any
  case oneOf([Character], isNegated: Bool)
  case sequence([PlainPattern])
  case either([PlainPattern])
  /// A repetition with a minimum and a maximum count; `nil` for no maximum.
  case times(PlainPattern, Int, Int?)

  /// Whether the pattern contains a repetition of more than one.
  var repeats: Bool {
    switch self {
    case .character, .any, .oneOf: false
    case .sequence(let parts), .either(let parts): parts.contains(where: \.repeats)
    case .times(let part, _, let most): most != 1 || part.repeats
    }
  }

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

  /// Returns whether the pattern matches the whole string.
  func matches(_ text: String, ignoringCase: Bool) -> Bool {
    ends(Array(text.unicodeScalars), from: [0], ignoringCase).contains(text.unicodeScalars.count)
  }

  /// Returns the end positions of all matches that begin at one of several positions.
  private func ends(
    _ text: [Unicode.Scalar], from starts: Set<Int>, _ ignoringCase: Bool
  ) -> Set<Int> {
    func same(_ scalar: Unicode.Scalar, _ character: Character) -> Bool {
      let wanted = character.unicodeScalars.first
      guard ignoringCase, scalar.isASCII else { return scalar == wanted }
      return String(scalar).lowercased() == String(character).lowercased()
    }
    func step(_ fits: (Unicode.Scalar) -> Bool) -> Set<Int> {
      Set(starts.filter { $0 < text.count && fits(text[$0]) }.map { $0 + 1 })
    }
    switch self {
    case .character(let character): return step { same($0, character) }
    case .any: return step { !Self.endsLine($0) }
    case .oneOf(let characters, let isNegated):
      return step { scalar in characters.contains { same(scalar, $0) } != isNegated }
    case .sequence(let parts):
      return parts.reduce(starts) { $1.ends(text, from: $0, ignoringCase) }
    case .either(let parts):
      return Set(parts.flatMap { $0.ends(text, from: starts, ignoringCase) })
    case .times(let part, let least, let most):
      var (found, positions): (Set<Int>, Set<Int>) = (least == 0 ? starts : [], starts)
      var count = 0
      while !positions.isEmpty, count < most ?? .max {
        count += 1
        positions = part.ends(text, from: positions, ignoringCase)
        guard count >= least else { continue }
        // Positions that were already reached lead to nothing new.
        if most == nil { positions.subtract(found) }
        found.formUnion(positions)
      }
      return found
    }
  }

  private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
    [0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029].contains(scalar.value)
  }
}
