/// Random predicates that fit a model, with constants from its data so that they hit.
struct PredicateGenerator {
  let dice: Dice
  let graph: PlainGraph

  private var model: PlainModel { graph.model }
  private var values: ValueGenerator { ValueGenerator(dice: dice) }

  func predicate(on entity: Int, depth: Int? = nil) -> PlainPredicate {
    let depth = depth ?? dice.one([0, 0, 1, 1, 2, 3])
    guard depth > 0 else { return leaf(on: entity) }
    switch dice.int(0...9) {
    case 0...1: return .not(predicate(on: entity, depth: depth - 1))
    case 2...5: return .and(parts(on: entity, depth))
    case 6...8: return .or(parts(on: entity, depth))
    default: return leaf(on: entity)
    }
  }

  private func parts(on entity: Int, _ depth: Int) -> [PlainPredicate] {
    (0..<dice.int(2...3)).map { _ in predicate(on: entity, depth: dice.int(0...(depth - 1))) }
  }

  private func leaf(on entity: Int) -> PlainPredicate {
    switch dice.int(0...29) {
    case 0: return .truth(dice.chance(60))
    case 1: return .comparison(entityName(on: entity))
    case 2: return .comparison(constants())
    case 3...7: return .comparison(objects(on: entity))
    case 8...10: return .comparison(twoPaths(on: entity) ?? attribute(on: entity))
    default: return .comparison(attribute(on: entity))
    }
  }

  // MARK: Paths

  /// A way over to-one relationships, and where it ends.
  func way(from entity: Int, upTo most: Int = 2) -> (steps: [PlainStep], entity: Int) {
    var steps: [PlainStep] = []
    var place = entity
    for _ in 0..<(dice.chance(70) ? 0 : dice.int(1...most)) {
      let next = model.relationships(place).filter { !$0.isToMany }
      guard let relationship = dice.some(next) else { break }
      steps.append(.toOne(relationship.name))
      place = relationship.destination
    }
    return (steps, place)
  }

  /// A path to an attribute.
  func attributePath(
    from entity: Int, where fits: (PlainModel.Kind) -> Bool = { _ in true }
  ) -> (steps: [PlainStep], attribute: PlainModel.Attribute)? {
    let way = way(from: entity)
    guard let attribute = dice.some(model.attributes(way.entity).filter { fits($0.kind) }) else {
      return nil
    }
    return (way.steps + [.attribute(attribute.name)], attribute)
  }

  // MARK: Constants

  /// A value to compare an attribute with in order.
  private func constant(for attribute: PlainModel.Attribute) -> PlainValue {
    if dice.chance(5) { return .null }
    if dice.chance(60), let present = present(attribute), !present.isNull { return present }
    return values.comparable(with: attribute.kind)
  }

  /// What some object has as an attribute.
  private func present(_ attribute: PlainModel.Attribute) -> PlainValue? {
    let holders = graph.objects.values.filter { $0.values[attribute.name] != nil }.map(\.key)
    return dice.some(holders.sorted()).map { graph.value(attribute.name, of: $0) }
  }

  /// Part of a text that some object has.
  private func piece(of attribute: PlainModel.Attribute) -> PlainValue {
    guard case .text(let text) = constant(for: attribute) else { return .text("a") }
    let scalars = Array(text.unicodeScalars)
    if scalars.isEmpty || dice.chance(20) { return .text(text) }
    let start = dice.chance(50) ? 0 : dice.int(0...(scalars.count - 1))
    let end = dice.chance(40) ? scalars.count : dice.int(start...scalars.count)
    var part = String.UnicodeScalarView()
    part.append(contentsOf: scalars[start..<end])
    return .text(String(part))
  }

  func options() -> PlainComparison.Options {
    var options = PlainComparison.Options()
    guard dice.chance(50) else { return options }
    options.foldsCase = dice.chance(60)
    options.foldsDiacritics = dice.chance(60)
    if !options.foldsCase && !options.foldsDiacritics { options.isNormalized = dice.chance(20) }
    return options
  }

  // MARK: Comparisons

  private func attribute(on entity: Int) -> PlainComparison {
    guard let (steps, attribute) = attributePath(from: entity) else { return constants() }
    return comparison(of: .path(steps), attribute)
  }

  /// A comparison of what a term gives, values of an attribute's kind, with constants.
  func comparison(of term: PlainTerm, _ attribute: PlainModel.Attribute) -> PlainComparison {
    var comparison = PlainComparison(left: term, test: .equal, right: .constant(.null))
    if attribute.kind.family == .text {
      comparison.options = options()
      if dice.chance(50) { return textual(comparison, attribute) }
    }
    switch dice.int(0...19) {
    case 0...1:
      comparison.test = dice.one([.equal, .notEqual])
    case 2:
      comparison.test = dice.one([.equal, .notEqual])
      comparison.right = .constant(values.anything())
    case 3...8:
      comparison.test = dice.one([.equal, .notEqual])
      comparison.right = .constant(constant(for: attribute))
    case 9...14:
      comparison.test = dice.one([.less, .lessOrEqual, .greater, .greaterOrEqual])
      comparison.right = .constant(constant(for: attribute))
      if dice.chance(15) { swap(&comparison.left, &comparison.right) }
    case 15...16:
      comparison.test = .between
      comparison.right = list([constant(for: attribute), constant(for: attribute)])
    default:
      comparison.test = dice.one([.in, .in, .in, .contains])
      comparison.right = list(
        (0..<dice.int(0...4)).map { _ in
          dice.chance(90) ? constant(for: attribute) : values.anything()
        })
      if comparison.test == .contains { swap(&comparison.left, &comparison.right) }
    }
    return comparison
  }

  /// A list as a constant or of constants.
  private func list(_ values: [PlainValue]) -> PlainTerm {
    dice.chance(50) ? .constant(.list(values)) : .list(values.map(PlainTerm.constant))
  }

  private func textual(
    _ start: PlainComparison, _ attribute: PlainModel.Attribute
  ) -> PlainComparison {
    var comparison = start
    comparison.test = dice.one([.beginsWith, .endsWith, .contains, .in, .like, .matches])
    switch comparison.test {
    case .like:
      comparison.right = .constant(.text(PatternGenerator(dice: dice).like()))
    case .matches:
      let pattern = PatternGenerator(dice: dice).expression()
      comparison.pattern = pattern
      comparison.right = .constant(.text(pattern.text))
    default:
      comparison.right = .constant(dice.chance(4) ? .null : piece(of: attribute))
    }
    return comparison
  }

  private func twoPaths(on entity: Int) -> PlainComparison? {
    guard let (left, attribute) = attributePath(from: entity),
      let (right, _) = attributePath(
        from: entity, where: { $0.family == attribute.kind.family })
    else { return nil }
    var comparison = PlainComparison(
      left: .path(left),
      test: dice.one([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
      right: .path(right))
    if attribute.kind.family == .text {
      comparison.options = options()
      if dice.chance(40) {
        comparison.test = dice.one([.beginsWith, .endsWith, .contains, .like, .in])
      }
    } else if dice.chance(15) {
      comparison.test = .between
      comparison.right = .list([.path(right), .constant(constant(for: attribute))])
    }
    return comparison
  }

  private func objects(on entity: Int) -> PlainComparison {
    let way = way(from: entity)
    var left: PlainTerm = .path(way.steps)
    if dice.chance(20) { left = .path(way.steps + [.objectID]) }
    let candidates = graph.objects.keys.sorted()
    let chosen = dice.few(candidates, upTo: 3).map(PlainValue.object)
    if dice.chance(50) {
      let right: PlainTerm =
        dice.chance(25) ? .path(self.way(from: entity).steps) : .constant(chosen.first ?? .null)
      return PlainComparison(left: left, test: dice.one([.equal, .notEqual]), right: right)
    }
    return PlainComparison(
      left: left, test: .in, right: list(chosen + (dice.chance(20) ? [.null] : [])))
  }

  private func entityName(on entity: Int) -> PlainComparison {
    PlainComparison(
      left: .path(way(from: entity).steps + [.entityName]),
      test: dice.one([.equal, .notEqual, .beginsWith, .less]),
      right: .constant(.text(dice.one(["Zebra", "Ape", "Mole", "Bee", "Z", "M"]))))
  }

  private func constants() -> PlainComparison {
    PlainComparison(
      left: .constant(values.anything()), test: dice.one([.equal, .notEqual]),
      right: .constant(values.anything()))
  }

  // MARK: Requests

  func request() -> PlainRequest {
    let entity = dice.int(0...(model.entities.count - 1))
    var request = PlainRequest(entity: entity)
    request.includesSubentities = !dice.chance(15)
    if !dice.chance(3) { request.predicate = predicate(on: entity) }
    for _ in 0..<dice.one([0, 0, 1, 1, 2, 3]) { request.sortKeys.append(sortKey(on: entity)) }
    if dice.chance(40) { request.limit = dice.int(1...8) }
    if dice.chance(25) { request.offset = dice.int(1...6) }
    return request
  }

  private func sortKey(on entity: Int) -> PlainRequest.SortKey {
    let way = way(from: entity)
    var key = PlainRequest.SortKey(path: way.steps, isAscending: dice.chance(60))
    let attributes = model.attributes(way.entity)
    if key.path.isEmpty || dice.chance(85), let attribute = dice.some(attributes) {
      key.path.append(.attribute(attribute.name))
      if attribute.kind == .text {
        key.foldsCase = dice.chance(30)
        key.foldsDiacritics = dice.chance(30)
      }
    }
    return key
  }
}
