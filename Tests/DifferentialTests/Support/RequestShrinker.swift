/// A reducer that finds a smallest variant of a request that still fails.
struct RequestShrinker {
  let fails: (PlainRequest) -> Bool

  func shrink(_ request: PlainRequest) -> PlainRequest {
    var smallest = request
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for candidate in smaller(smallest) where fails(candidate) {
        smallest = candidate
        isSmaller = true
        break
      }
    }
    return smallest
  }

  private func smaller(_ request: PlainRequest) -> [PlainRequest] {
    var candidates: [PlainRequest] = []
    func add(_ change: (inout PlainRequest) -> Void) {
      var candidate = request
      change(&candidate)
      candidates.append(candidate)
    }
    if let predicate = request.predicate {
      add { $0.predicate = nil }
      for part in Self.smaller(predicate) { add { $0.predicate = part } }
    }
    for index in request.sortKeys.indices { add { $0.sortKeys.remove(at: index) } }
    if request.group != nil { add { $0.group = nil } }
    if request.offset > 0 { add { $0.offset = 0 } }
    if request.limit > 0 { add { $0.limit = 0 } }
    if !request.includesPendingChanges { add { $0.includesPendingChanges = true } }
    if !request.includesSubentities { add { $0.includesSubentities = true } }
    return candidates
  }

  static func smaller(_ predicate: PlainPredicate) -> [PlainPredicate] {
    switch predicate {
    case .truth, .bare: return []
    case .comparison(let comparison): return smaller(comparison).map(PlainPredicate.comparison)
    case .not(let inner): return [inner] + smaller(inner).map(PlainPredicate.not)
    case .and(let parts): return smaller(parts, PlainPredicate.and)
    case .or(let parts): return smaller(parts, PlainPredicate.or)
    }
  }

  private static func smaller(
    _ parts: [PlainPredicate], _ join: ([PlainPredicate]) -> PlainPredicate
  ) -> [PlainPredicate] {
    var candidates = parts
    for index in parts.indices {
      var rest = parts
      rest.remove(at: index)
      if rest.count > 1 { candidates.append(join(rest)) }
      for part in smaller(parts[index]) {
        var changed = parts
        changed[index] = part
        candidates.append(join(changed))
      }
    }
    return candidates
  }

  private static func smaller(_ comparison: PlainComparison) -> [PlainComparison] {
    var candidates: [PlainComparison] = []
    func add(_ change: (inout PlainComparison) -> Void) {
      var candidate = comparison
      change(&candidate)
      candidates.append(candidate)
    }
    if comparison.options.isLocalized { add { $0.options.isLocalized = false } }
    if comparison.options.foldsCase { add { $0.options.foldsCase = false } }
    if comparison.options.foldsDiacritics { add { $0.options.foldsDiacritics = false } }
    if comparison.test != .between, comparison.pattern == nil {
      for right in smaller(comparison.right) { add { $0.right = right } }
      for left in smaller(comparison.left) { add { $0.left = left } }
    }
    return candidates
  }

  private static func smaller(_ term: PlainTerm) -> [PlainTerm] {
    switch term {
    case .list(let terms):
      withoutOne(terms).map(PlainTerm.list) + withOneSmaller(terms, PlainTerm.list)
    case .constant(.list(let values)): withoutOne(values).map { .constant(.list($0)) }
    case .constant, .path, .variable: []
    case .behind(let base, let steps): smaller(base).map { .behind($0, steps) }
    case .infix(let left, let infix, let right):
      [left, right] + smaller(left).map { .infix($0, infix, right) }
        + smaller(right).map { .infix(left, infix, $0) }
    case .prefix(let sign, let inner): [inner] + smaller(inner).map { .prefix(sign, $0) }
    case .call(let function, let terms):
      terms + withoutOne(terms).filter { !$0.isEmpty }.map { .call(function, $0) }
        + withOneSmaller(terms) { .call(function, $0) }
    case .cast(let inner, let cast): smaller(inner).map { .cast($0, cast) }
    case .ternary(let condition, let first, let second):
      [first, second] + smaller(condition).map { .ternary($0, first, second) }
        + smaller(first).map { .ternary(condition, $0, second) }
        + smaller(second).map { .ternary(condition, first, $0) }
    case .subquery(let base, let name, let condition):
      smaller(condition).map { .subquery(base, name, $0) }
    case .element(let base, let position): smaller(base).map { .element($0, position) }
    }
  }

  private static func withoutOne<T>(_ elements: [T]) -> [[T]] {
    elements.indices.map { index in
      var rest = elements
      rest.remove(at: index)
      return rest
    }
  }

  private static func withOneSmaller(
    _ terms: [PlainTerm], _ join: ([PlainTerm]) -> PlainTerm
  ) -> [PlainTerm] {
    terms.indices.flatMap { index in
      smaller(terms[index]).map { part in
        var changed = terms
        changed[index] = part
        return join(changed)
      }
    }
  }
}
