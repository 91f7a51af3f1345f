/// A generator of random requests for rows, groups and aggregates.
struct RowGenerator {
  let requests: RequestGenerator

  private var predicates: PredicateGenerator { requests.predicates }
  private var dice: Dice { predicates.dice }

  func rows() -> PlainRows {
    var request = requests.request()
    request.sortKeys = []
    request.includesPendingChanges = true
    var rows = PlainRows(request: request, columns: [])
    let scope = PredicateGenerator.Scope(entity: request.entity)
    if dice.chance(50) {
      rows.columns = (0..<dice.int(1...3)).map { _ in .term(term(in: scope)) }
    } else {
      group(&rows, scope)
    }
    rows.isDistinct = dice.chance(40)
    let columns = rows.columns.indices.filter { isOrdered(rows.columns[$0]) }
    rows.order = dice.few(columns, upTo: 2).map { ($0, dice.chance(60)) }
    // Rows that compare as equal follow the order of the objects, so that order must be the
    // default.
    if !rows.order.isEmpty { rows.request.group = nil }
    return rows
  }

  /// Returns whether rows can be sorted by a column, which excludes lists.
  private func isOrdered(_ column: PlainRows.Column) -> Bool {
    if case .figure(.mode, _, _) = column { false } else { true }
  }

  /// Returns a term with one value per object. A function of it would be one per group.
  private func term(in scope: PredicateGenerator.Scope) -> PlainTerm {
    let attribute = predicates.attributePath(in: scope, orPart: false)
    switch dice.int(0...9) {
    case 0:
      guard
        let path = predicates.attributePath(
          in: scope, orPart: false, where: { $0.family == .number })
      else {
        break
      }
      return .infix(
        path.term, dice.one([.add, .subtract, .multiply, .divide]),
        .constant(dice.one([.integer(2), .integer(-3), .double(0.5), .null])))
    case 1:
      guard let path = predicates.attributePath(in: scope, orPart: false, where: { $0 == .text })
      else { break }
      if dice.chance(30) { return .infix(path.term, .add, .constant(.text(" – "))) }
      return .call(dice.one([.uppercase, .lowercase, .length, .canonical, .concat]), [path.term])
    case 2:
      let way = predicates.way(from: scope.entity)
      return .path(way.steps.isEmpty ? [.objectID] : way.steps)
    case 3:
      guard let collection = predicates.collection(in: scope) else { break }
      return predicates.extend(collection.term, [.operation(.count)])
    default: break
    }
    return attribute?.term ?? .path([.objectID])
  }

  private func group(_ rows: inout PlainRows, _ scope: PredicateGenerator.Scope) {
    var groups: [[PlainStep]] = []
    for _ in 0..<dice.int(0...2) {
      guard case .path(let steps)? = predicates.attributePath(in: scope, orPart: false)?.term,
        !groups.contains(where: { $0.map(\.text) == steps.map(\.text) })
      else { continue }
      groups.append(steps)
    }
    rows.groups = groups
    rows.columns = groups.map { .term(.path($0)) }
    for _ in 0..<dice.int(1...2) { rows.columns.append(figure(in: scope)) }
    if dice.chance(30) {
      rows.columns.append(.figure(.count, path: nil, isDistinct: false))
      rows.having = (rows.columns.count - 1, Int64(dice.int(0...4)))
    }
  }

  private func figure(in scope: PredicateGenerator.Scope) -> PlainRows.Column {
    let function: PlainFunction = dice.one([.sum, .count, .min, .max, .average, .median, .mode])
    let isOfAnything = [.count, .min, .max, .mode].contains(function)
    // The sums of other kinds depend on the order of their terms if they exceed decimals or 64
    // bits.
    let kinds: [PlainModel.Kind] = [.integer16, .integer32, .boolean]
    guard
      case .path(let steps)? = predicates.attributePath(
        in: scope, orPart: false, where: { isOfAnything || kinds.contains($0) })?.term
    else { return .figure(.count, path: nil, isDistinct: false) }
    return .figure(function, path: steps, isDistinct: dice.chance(20))
  }
}
