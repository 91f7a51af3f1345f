/// A generator of random requests: a predicate, an order and a window.
struct RequestGenerator {
  let predicates: PredicateGenerator

  init(dice: Dice, graph: PlainGraph) {
    predicates = PredicateGenerator(dice: dice, graph: graph)
  }

  private var dice: Dice { predicates.dice }
  private var model: PlainModel { predicates.model }

  func request() -> PlainRequest {
    let entity = dice.int(0...(model.entities.count - 1))
    var request = PlainRequest(entity: entity)
    request.includesSubentities = !dice.chance(15)
    if !dice.chance(3) {
      request.predicate = predicate(in: PredicateGenerator.Scope(entity: entity))
    }
    if dice.chance(25) {
      request.sortKeys = indexedKeys(on: entity)
    } else {
      for _ in 0..<dice.one([0, 0, 1, 1, 2, 3]) { request.sortKeys.append(sortKey(on: entity)) }
    }
    if dice.chance(8) {
      request.group = PlainRequest.GroupLimit(
        count: dice.int(1...3), key: groupKey(on: entity),
        sortKeys: (0..<dice.int(0...2)).map { _ in sortKey(on: entity) })
    }
    request.includesPendingChanges = !dice.chance(4)
    if dice.chance(40) { request.limit = dice.int(1...8) }
    if dice.chance(25) { request.offset = dice.int(1...6) }
    return request
  }

  /// Returns a predicate; a third of them can be answered by one or more indexes.
  private func predicate(in scope: PredicateGenerator.Scope) -> PlainPredicate {
    guard dice.chance(35), let first = predicates.indexed(in: scope) else {
      return predicates.predicate(in: scope)
    }
    guard dice.chance(35), let second = predicates.indexed(in: scope) else { return first }
    return dice.chance(60) ? .or([first, second]) : .and([first, second])
  }

  /// Returns the order of an index or of its last columns, possibly reversed.
  private func indexedKeys(on entity: Int) -> [PlainRequest.SortKey] {
    let indexes = model.lineage(entity).flatMap { model.entities[$0].indexes }
    guard let index = dice.some(indexes) else { return [] }
    let (isReversed, names) = (dice.chance(40), model.attributes(entity).map(\.name))
    let binary = model.attributes(entity).filter { $0.kind == .bytes }.map(\.name)
    if index.columns.contains(where: { binary.contains($0.property) }) { return [] }
    return index.columns.suffix(dice.int(1...index.columns.count)).map { column in
      let step: PlainStep =
        names.contains(column.property) ? .attribute(column.property) : .toOne(column.property)
      return PlainRequest.SortKey(
        path: [step], isAscending: column.isAscending != isReversed,
        foldsCase: column.order == .folded, foldsDiacritics: column.order == .folded)
    }
  }

  /// Returns a key for grouping, which compares exact values.
  private func groupKey(on entity: Int) -> PlainRequest.SortKey {
    let key = sortKey(on: entity)
    return PlainRequest.SortKey(path: key.path, isAscending: true, term: key.term)
  }

  /// Returns a computed term whose value is exact regardless of the order of evaluation.
  private func computed(on entity: Int) -> PlainTerm? {
    let scope = PredicateGenerator.Scope(entity: entity)
    switch dice.int(0...4) {
    case 0:
      let kinds: [PlainModel.Kind] = [.integer16, .integer32, .boolean, .double]
      guard let path = predicates.attributePath(in: scope, where: { kinds.contains($0) }) else {
        return nil
      }
      return .infix(
        path.term, dice.one([.add, .subtract, .multiply]),
        .constant(dice.one([.integer(2), .integer(-3), .double(0.5), .null])))
    case 1: return predicates.text(in: scope, depth: 2)
    case 2:
      return predicates.collection(in: scope).map {
        predicates.extend($0.term, [.operation(.count)])
      }
    case 3: return predicates.date(in: scope, depth: 1)
    // This may be a part of a composite.
    default: return predicates.attributePath(in: scope, where: { $0 != .bytes })?.term
    }
  }

  private func sortKey(on entity: Int) -> PlainRequest.SortKey {
    if dice.chance(15), let term = computed(on: entity) {
      return PlainRequest.SortKey(path: [], isAscending: dice.chance(60), term: term)
    }
    let way = predicates.way(from: entity)
    var key = PlainRequest.SortKey(path: way.steps, isAscending: dice.chance(60))
    // Binary data has no order.
    let attributes = model.attributes(way.entity).filter { $0.kind != .bytes }
    if key.path.isEmpty || dice.chance(85), let attribute = dice.some(attributes) {
      key.path.append(.attribute(attribute.name))
      if attribute.kind == .text {
        key.foldsCase = dice.chance(30)
        key.foldsDiacritics = dice.chance(30)
        if attribute.hasWords {
          key.isLocalized = dice.chance(40)
          key.isNumeric = dice.chance(40)
        }
      }
    }
    return key
  }
}
