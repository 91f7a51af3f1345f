/// Makes a request that fails as small as it can be while it fails.
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
    for place in request.sortKeys.indices { add { $0.sortKeys.remove(at: place) } }
    if request.offset > 0 { add { $0.offset = 0 } }
    if request.limit > 0 { add { $0.limit = 0 } }
    return candidates
  }

  static func smaller(_ predicate: PlainPredicate) -> [PlainPredicate] {
    switch predicate {
    case .truth: return []
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
    for place in parts.indices {
      var rest = parts
      rest.remove(at: place)
      if rest.count > 1 { candidates.append(join(rest)) }
      for part in smaller(parts[place]) {
        var changed = parts
        changed[place] = part
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
      terms.indices.map { place in
        var rest = terms
        rest.remove(at: place)
        return .list(rest)
      }
    case .constant(.list(let values)):
      values.indices.map { place in
        var rest = values
        rest.remove(at: place)
        return .constant(.list(rest))
      }
    default: []
    }
  }
}
