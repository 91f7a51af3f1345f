/// A generator of random patterns for `LIKE` and `MATCHES`.
struct PatternGenerator {
  let dice: Dice

  func like() -> String {
    (0..<dice.int(0...4)).map { _ in
      dice.one(["*", "*", "?", "a", "b", "A", "e", "\u{E9}", "\\*", "\\?", "\\\\", "ss", "i", "x*"])
    }.joined()
  }

  /// Returns a full-text query.
  func words() -> String {
    (0..<dice.int(0...3)).map { _ in
      dice.one(["a", "b", "ab", "A", "\u{E9}", "e*", "a*", "item", "9", "xx*", "ss", "%", "*", "I"])
    }.joined(separator: dice.one([" ", ", ", "-"]))
  }

  func expression(depth: Int = 2) -> PlainPattern {
    if depth == 0 { return atom() }
    switch dice.int(0...5) {
    case 0: return atom()
    case 1:
      return .either((0..<dice.int(1...3)).map { _ in expression(depth: depth - 1) })
    case 2: return repeated(atom())
    case 3: return repeated(.either([atom(), expression(depth: depth - 1)]))
    default:
      return .sequence((0..<dice.int(0...3)).map { _ in expression(depth: depth - 1) })
    }
  }

  private func repeated(_ pattern: PlainPattern) -> PlainPattern {
    let (least, most): (Int, Int?) = dice.one([(0, 1), (0, nil), (1, nil), (1, 2), (2, nil)])
    // Nested repetitions, and unbounded ones of alternatives that match the same text, may exceed
    // the number of steps that a fetch allows.
    if pattern.repeats { return .times(pattern, 0, 1) }
    return if case .either = pattern {
      .times(pattern, least, most ?? least + 1)
    } else {
      .times(pattern, least, most)
    }
  }

  private func atom() -> PlainPattern {
    switch dice.int(0...5) {
    case 0: .any
    case 1: .oneOf(dice.one([["a"], ["a", "b"], ["e", "A"]]), isNegated: dice.chance(40))
    default: .character(dice.one(["a", "b", "A", "B", "c", "e", "i", " ", "x"]))
    }
  }
}
