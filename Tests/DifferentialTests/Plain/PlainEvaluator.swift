import Foundation

/// An evaluator of predicates on one object that follows the documented rules.
struct PlainEvaluator {
  let graph: PlainGraph
  let candidate: Int
  var variables: [String: PlainValue] = [:]

  init(_ graph: PlainGraph, candidate: Int) {
    self.graph = graph
    self.candidate = candidate
  }

  func holds(_ predicate: PlainPredicate) -> Bool {
    switch predicate {
    case .truth(let flag): flag
    case .not(let inner): !holds(inner)
    case .and(let parts): parts.allSatisfy(holds)
    case .or(let parts): parts.contains(where: holds)
    case .comparison(let comparison): holds(comparison)
    case .bare(let term): value(term).compared(to: .boolean(true)) == 0
    }
  }

  private func holds(_ comparison: PlainComparison) -> Bool {
    let right = value(comparison.right)
    guard let qualifier = comparison.qualifier else {
      return compare(value(comparison.left), comparison, right)
    }
    let members = elements(value(comparison.left))
    let isFulfilled = { compare($0, comparison, right) }
    switch qualifier {
    case .any, .some: return members.contains(where: isFulfilled)
    case .all: return members.allSatisfy(isFulfilled)
    case .none: return !members.contains(where: isFulfilled)
    }
  }

  func elements(_ value: PlainValue) -> [PlainValue] {
    if case .list(let members) = value { members } else { [] }
  }

  // MARK: Comparing

  private func compare(
    _ left: PlainValue, _ comparison: PlainComparison, _ right: PlainValue
  ) -> Bool {
    let options = comparison.options
    switch comparison.test {
    case .equal: return isEqual(left, right, options)
    case .notEqual: return !isEqual(left, right, options)
    case .less: return order(left, right, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(left, right, options).map { $0 <= 0 } ?? false
    case .greater: return order(left, right, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(left, right, options).map { $0 >= 0 } ?? false
    case .between:
      let bounds = elements(right)
      guard bounds.count == 2 else { return false }
      return order(left, bounds[0], options).map { $0 >= 0 } ?? false
        && order(left, bounds[1], options).map { $0 <= 0 } ?? false
    case .in: return contains(right, left, options)
    case .notIn: return !contains(right, left, options)
    case .contains: return contains(left, right, options)
    case .beginsWith, .endsWith, .like, .matches, .tokenMatches:
      guard case .text(let text) = left, case .text(let other) = right else { return false }
      return isText(text, comparison, other)
    }
  }

  private func isText(_ text: String, _ comparison: PlainComparison, _ other: String) -> Bool {
    var options = comparison.options
    if comparison.test == .matches {
      // The regular expression handles case itself.
      let ignoresCase = options.foldsCase
      options.foldsCase = false
      return comparison.pattern?.matches(options.fold(text), ignoringCase: ignoresCase) ?? false
    }
    if options.isLocalized, comparison.test == .beginsWith || comparison.test == .endsWith {
      return options.finds(
        other, in: text,
        comparison.test == .beginsWith ? .anchored : [.anchored, .backwards])
    }
    let (folded, part) = (options.fold(text), options.fold(other))
    switch comparison.test {
    case .tokenMatches: return PlainWords.matches(text, other)
    case .beginsWith: return PlainText.begins(folded, with: part)
    case .endsWith: return PlainText.ends(folded, with: part)
    default: return PlainText.isLike(folded, part)
    }
  }

  private func isEqual(
    _ left: PlainValue, _ right: PlainValue, _ options: PlainComparison.Options
  ) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)):
      return options.compare(left, right) == 0
    case (.list(let left), .list(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { isEqual($0, $1, options) }
    default:
      return !left.isNaN && !right.isNaN && left.compared(to: right) == 0
    }
  }

  /// Returns `nil` if the values have no order.
  private func order(
    _ left: PlainValue, _ right: PlainValue, _ options: PlainComparison.Options
  ) -> Int? {
    guard left.family == right.family, !left.isNaN, !right.isNaN else { return nil }
    switch (left, right) {
    case (.null, _), (.object, _), (.list, _): return nil
    case (.text(let left), .text(let right)):
      return options.compare(left, right)
    default: return left.compared(to: right)
    }
  }

  private func contains(
    _ whole: PlainValue, _ part: PlainValue, _ options: PlainComparison.Options
  ) -> Bool {
    switch (whole, part) {
    case (.list(let members), _): members.contains { isEqual($0, part, options) }
    case (.composite(let parts), _): parts.values.contains { isEqual($0, part, options) }
    case (.text(let text), .text(let part)) where options.wantsWords:
      PlainWords.contain(text, part, options)
    case (.text(let text), .text(let part)) where options.isLocalized:
      options.finds(part, in: text)
    case (.text(let text), .text(let part)):
      PlainText.isPart(options.fold(part), of: options.fold(text))
    default: false
    }
  }
}

extension PlainComparison.Options {
  /// Returns -1, 0 or 1.
  fileprivate func compare(_ left: String, _ right: String) -> Int {
    guard isLocalized else { return PlainText.compare(fold(left), fold(right)) }
    return PlainText.collate(
      left, right, case: foldsCase, diacritics: foldsDiacritics, localized: true, numeric: false)
  }

  fileprivate func finds(
    _ part: String, in text: String, _ anchoring: String.CompareOptions = []
  ) -> Bool {
    PlainText.finds(part, in: text, case: foldsCase, diacritics: foldsDiacritics, anchoring)
  }
}
