/// The evaluation of terms.
extension PlainEvaluator {
  func value(_ term: PlainTerm) -> PlainValue {
    switch term {
    case .constant(let value): return value
    case .path(let steps): return follow(steps[...], from: .object(candidate))
    case .variable(let name, let steps): return follow(steps[...], from: variables[name] ?? .null)
    case .list(let terms): return .list(terms.map(value))
    case .behind(let base, let steps): return follow(steps[...], from: value(base))
    case .infix(let left, let infix, let right):
      return PlainArithmetic.exact(term)
        ?? PlainArithmetic.value(value(left), infix, value(right))
    case .prefix(.negate, let inner):
      return PlainArithmetic.exact(term) ?? PlainArithmetic.negated(value(inner))
    case .prefix(.complement, let term):
      return PlainArithmetic.bits(value(term)).map { .integer(~$0) } ?? .null
    case .call(let function, let terms): return function.value(terms.map(value))
    case .cast(let term, let cast): return cast.value(value(term))
    case .ternary(let condition, let first, let second):
      return value(holds(condition) ? first : second)
    case .subquery(let base, let name, let condition):
      var inner = self
      return .list(
        elements(value(base)).filter { member in
          inner.variables[name] = member
          return inner.holds(condition)
        })
    case .element(let base, let position): return element(elements(value(base)), position)
    }
  }

  private func element(_ members: [PlainValue], _ position: PlainTerm.Position) -> PlainValue {
    switch position {
    case .size: return .integer(Int64(members.count))
    case .first: return members.first ?? .null
    case .last: return members.last ?? .null
    case .at(let index):
      guard case .integer(let position) = value(index), position >= 0,
        position < Int64(members.count)
      else { return .null }
      return members[Int(position)]
    }
  }

  /// Follows a path. A path through null yields null, or an empty list if it continues over a
  /// to-many relationship. A path over to-many relationships yields a flat list that includes
  /// nulls.
  private func follow(_ steps: ArraySlice<PlainStep>, from start: PlainValue) -> PlainValue {
    guard let step = steps.first else { return start }
    let rest = steps.dropFirst()
    if case .operation(let operation) = step {
      let operand = rest.prefix { if case .operation = $0 { false } else { true } }
      let gathered = elements(follow(operand, from: start))
      return follow(rest.dropFirst(operand.count), from: operation.value(gathered))
    }
    if case .list(let members) = start {
      let gathered = members.flatMap { member -> [PlainValue] in
        let result = follow([step], from: member)
        return step.isToMany ? elements(result) : [result]
      }
      return follow(rest, from: .list(gathered))
    }
    if case .part(let name) = step {
      guard case .composite(let parts) = start else { return follow(rest, from: .null) }
      return follow(rest, from: parts[name] ?? .null)
    }
    guard case .object(let key) = start else {
      return follow(rest, from: step.isToMany ? .list([]) : .null)
    }
    let next: PlainValue =
      switch step {
      case .attribute(let name): graph.value(name, of: key)
      case .toOne(let name): graph.target(name, of: key).map(PlainValue.object) ?? .null
      case .toMany(let name): .list(graph.members(name, of: key).map(PlainValue.object))
      case .objectID, .operation, .part: start
      case .entityName:
        .text(graph.objects[key].map { graph.model.entities[$0.entity].name } ?? "")
      }
    return follow(rest, from: next)
  }
}

extension PlainOperation {
  func value(_ members: [PlainValue]) -> PlainValue {
    switch self {
    case .count: .integer(Int64(members.count))
    case .sum: PlainStatistics.sum(members)
    case .average: PlainStatistics.average(members)
    case .least: PlainStatistics.extreme(members, -1)
    case .greatest: PlainStatistics.extreme(members, 1)
    case .union: .list(members.filter { !$0.isNull })
    case .distinctUnion: .list(PlainStatistics.distinct(members.filter { !$0.isNull }))
    }
  }
}
