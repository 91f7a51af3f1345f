/// Computed terms.
extension PredicateGenerator {
  /// Returns a comparison of computed terms.
  func computed(in scope: Scope) -> PlainComparison {
    let orders: [PlainComparison.Test] = [
      .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]
    switch dice.int(0...11) {
    case 0...6:
      let left = number(in: scope, depth: 2)
      var comparison = PlainComparison(
        left: left, test: dice.one(orders), right: number(in: scope, depth: dice.int(0...1)))
      if dice.chance(15) {
        comparison.test = .between
        comparison.right = .list([number(in: scope, depth: 0), number(in: scope, depth: 0)])
      } else if dice.chance(10) {
        comparison.test = .in
        comparison.right = .list([number(in: scope, depth: 1), number(in: scope, depth: 0)])
      }
      return comparison
    case 7...8:
      var comparison = PlainComparison(
        left: text(in: scope, depth: 2), test: dice.one(orders + [.contains, .beginsWith]),
        right: text(in: scope, depth: dice.int(0...1)))
      comparison.options = options()
      return comparison
    case 9...10:
      return PlainComparison(
        left: date(in: scope, depth: 2), test: dice.one(orders),
        right: date(in: scope, depth: dice.int(0...1)))
    default: return lists(in: scope)
    }
  }

  /// Returns a comparison of lists, which are equal element by element.
  private func lists(in scope: Scope) -> PlainComparison {
    let left = PlainTerm.list([number(in: scope, depth: 0), text(in: scope, depth: 0)])
    let right: PlainTerm =
      dice.chance(50)
      ? list([values.value(.integer16), values.value(.text)])
      : .list([number(in: scope, depth: 0), text(in: scope, depth: 0)])
    return PlainComparison(left: left, test: dice.one([.equal, .notEqual]), right: right)
  }

  // MARK: Numbers

  func number(in scope: Scope, depth: Int) -> PlainTerm {
    if depth <= 0 {
      if dice.chance(55), let path = attributePath(in: scope, where: { $0.family == .number }) {
        return path.term
      }
      return .constant(dice.chance(4) ? .null : smallNumber())
    }
    switch dice.int(0...13) {
    case 0...3: return arithmetic(in: scope, depth)
    case 4:
      return .prefix(
        dice.one([.negate, .negate, .complement]), number(in: scope, depth: depth - 1))
    case 5:
      let function: PlainFunction = dice.one([
        .sqrt, .log, .ln, .exp, .floor, .ceiling, .abs, .trunc, .abs, .noindex,
      ])
      return .call(function, [number(in: scope, depth: depth - 1)])
    case 6: return .call(.length, [text(in: scope, depth: depth - 1)])
    case 7: return aggregate(in: scope)
    case 8...10: return aggregate(ofMembersIn: scope) ?? number(in: scope, depth: 0)
    case 11:
      return .ternary(
        predicate(in: scope, depth: 0), number(in: scope, depth: depth - 1),
        number(in: scope, depth: 0))
    case 12: return cast(in: scope, depth)
    default: return element(in: scope) ?? number(in: scope, depth: 0)
    }
  }

  private func smallNumber() -> PlainValue {
    dice.chance(75)
      ? dice.one([.integer(0), .integer(1), .integer(2), .integer(-3), .integer(7), .double(0.5)])
      : values.comparable(with: .integer32)
  }

  private func arithmetic(in scope: Scope, _ depth: Int) -> PlainTerm {
    let infix: PlainInfix = dice.one([
      .add, .add, .subtract, .subtract, .multiply, .multiply, .divide, .modulus, .power, .and, .or,
      .exclusiveOr, .left, .right,
    ])
    let rest = dice.int(0...(depth - 1))
    guard infix == .modulus else {
      return .infix(number(in: scope, depth: rest), infix, number(in: scope, depth: depth - 1))
    }
    // The remainder of decimals depends on their digits.
    return .infix(whole(in: scope), .modulus, whole(in: scope))
  }

  private func whole(in scope: Scope) -> PlainTerm {
    let kinds: [PlainModel.Kind] = [.integer16, .integer32, .integer64, .boolean]
    if dice.chance(60), let path = attributePath(in: scope, where: { kinds.contains($0) }) {
      return path.term
    }
    return .constant(values.value(dice.one(kinds)))
  }

  private func aggregate(in scope: Scope) -> PlainTerm {
    let terms = (0..<dice.int(1...3)).map { _ in number(in: scope, depth: 0) }
    let function: PlainFunction = dice.one([.sum, .count, .min, .max, .average, .median, .stddev])
    return .call(function, dice.chance(50) ? [.list(terms)] : terms)
  }

  /// Returns an aggregate such as `@count` or `@sum`, in one of its spellings.
  private func aggregate(ofMembersIn scope: Scope) -> PlainTerm? {
    if dice.chance(35) {
      guard let collection = collection(in: scope) else { return nil }
      switch dice.int(0...3) {
      case 0: return .call(.count, [collection.term])
      case 1: return .element(collection.term, .size)
      default: return extend(collection.term, [.operation(.count)])
      }
    }
    let operation = dice.one(PlainOperation.allCases)
    guard let (term, _) = gathered(in: scope, where: { $0.family == .number }) else { return nil }
    switch operation {
    case .union, .distinctUnion:
      let gathered = spelled(term, operation)
      return extend(gathered, [.operation(dice.one([.count, .sum, .greatest]))])
    case .count: return extend(term, [.operation(.count)])
    default:
      if dice.chance(25) {
        return .call(dice.one([.sum, .count, .min, .max, .average, .median, .stddev]), [term])
      }
      return spelled(term, operation)
    }
  }

  /// Returns an operation spelled as `rel.attr.@sum` or `rel.@sum.attr`.
  private func spelled(_ term: PlainTerm, _ operation: PlainOperation) -> PlainTerm {
    func moved(_ steps: [PlainStep]) -> [PlainStep] {
      guard dice.chance(60), let last = steps.lastIndex(where: \.isToMany) else {
        return steps + [.operation(operation)]
      }
      return steps[...last] + [.operation(operation)] + steps[(last + 1)...]
    }
    switch term {
    case .path(let steps): return .path(moved(steps))
    case .variable(let name, let steps): return .variable(name, moved(steps))
    case .behind(let base, let steps): return .behind(base, [.operation(operation)] + steps)
    default: return extend(term, [.operation(operation)])
    }
  }

  private func cast(in scope: Scope, _ depth: Int) -> PlainTerm {
    switch dice.int(0...3) {
    case 0: .cast(text(in: scope, depth: 0), dice.one([.number, .decimal]))
    case 1: .cast(date(in: scope, depth: depth - 1), .number)
    case 2: .infix(date(in: scope, depth: 0), .subtract, date(in: scope, depth: 0))
    default: .cast(whole(in: scope), dice.one([.number, .decimal]))
    }
  }

  /// Returns an element of a list or of the members' values.
  private func element(in scope: Scope) -> PlainTerm? {
    let position: PlainTerm.Position = dice.one([
      .first, .last, .at(.constant(.integer(Int64(dice.int(-1...3))))), .at(whole(in: scope)),
    ])
    if dice.chance(40) {
      let terms = (0..<dice.int(1...3)).map { _ in number(in: scope, depth: 0) }
      return .element(.list(terms), position)
    }
    if dice.chance(40), let collection = collection(in: scope),
      let attribute = dice.some(
        model.attributes(collection.entity).filter { $0.kind.family == .number })
    {
      return .behind(.element(collection.term, position), [.attribute(attribute.name)])
    }
    return gathered(in: scope, where: { $0.family == .number }).map {
      .element($0.term, position)
    }
  }

  // MARK: Texts and dates

  func text(in scope: Scope, depth: Int) -> PlainTerm {
    if depth > 0 {
      switch dice.int(0...7) {
      case 0...2:
        return .call(
          dice.one([.uppercase, .lowercase, .canonical]), [text(in: scope, depth: depth - 1)])
      case 3: return .cast(whole(in: scope), .text)
      case 4:
        return .infix(text(in: scope, depth: depth - 1), .add, text(in: scope, depth: 0))
      case 5:
        return .call(
          .concat, (0..<dice.int(1...3)).map { _ in text(in: scope, depth: depth - 1) })
      case 6: return joined(in: scope)
      default:
        return .ternary(
          predicate(in: scope, depth: 0), text(in: scope, depth: 0), text(in: scope, depth: 0))
      }
    }
    if dice.chance(65), let path = attributePath(in: scope, where: { $0 == .text }) {
      return path.term
    }
    return .constant(values.value(.text))
  }

  /// Returns a concatenation of the members' strings or of a list, with or without a separator.
  private func joined(in scope: Scope) -> PlainTerm {
    let members =
      gathered(in: scope, where: { $0 == .text })?.term
      ?? .list((0..<dice.int(1...3)).map { _ in text(in: scope, depth: 0) })
    return .call(.join, dice.chance(30) ? [members] : [members, text(in: scope, depth: 0)])
  }

  func date(in scope: Scope, depth: Int) -> PlainTerm {
    if depth > 0 {
      switch dice.int(0...5) {
      case 0...3:
        let seconds = dice.chance(50) ? PlainTerm.constant(smallNumber()) : whole(in: scope)
        return .infix(
          date(in: scope, depth: depth - 1), dice.one([.add, .subtract]), seconds)
      case 4: return .cast(whole(in: scope), .date)
      default:
        guard let term = gathered(in: scope, where: { $0 == .date })?.term else { break }
        return extend(term, [.operation(dice.one([.least, .greatest]))])
      }
    }
    if dice.chance(65), let path = attributePath(in: scope, where: { $0 == .date }) {
      return path.term
    }
    return .constant(values.value(.date))
  }
}
