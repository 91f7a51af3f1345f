/// A generator of random predicates for a model, with constants from its data so that they match.
struct PredicateGenerator {
  /// The possible starts of a path: the fetched object, and the variables in scope.
  struct Scope {
    let entity: Int
    var variables: [(name: String, entity: Int)] = []
  }

  let dice: Dice
  let graph: PlainGraph
  /// The keys of objects, for constants.
  let keys: [Int]

  init(dice: Dice, graph: PlainGraph) {
    self.dice = dice
    self.graph = graph
    keys = graph.objects.keys.sorted()
  }

  var model: PlainModel { graph.model }
  var values: ValueGenerator { ValueGenerator(dice: dice) }

  func predicate(in scope: Scope, depth: Int? = nil) -> PlainPredicate {
    let depth = depth ?? dice.one([0, 0, 1, 1, 2, 3])
    guard depth > 0 else { return leaf(in: scope) }
    switch dice.int(0...9) {
    case 0...1: return .not(predicate(in: scope, depth: depth - 1))
    case 2...5: return .and(parts(in: scope, depth))
    case 6...8: return .or(parts(in: scope, depth))
    default: return leaf(in: scope)
    }
  }

  private func parts(in scope: Scope, _ depth: Int) -> [PlainPredicate] {
    (0..<dice.int(2...3)).map { _ in predicate(in: scope, depth: dice.int(0...(depth - 1))) }
  }

  private func leaf(in scope: Scope) -> PlainPredicate {
    switch dice.int(0...39) {
    case 0: .truth(dice.chance(60))
    case 1: .comparison(entityName(in: scope))
    case 2: .comparison(constants())
    case 3...6: .comparison(objects(in: scope))
    case 7...9: .comparison(twoPaths(in: scope) ?? attribute(in: scope))
    case 10...14: quantified(in: scope).map(PlainPredicate.comparison) ?? leaf(in: scope)
    case 15...20: .comparison(computed(in: scope))
    case 21...22: membership(in: scope).map(PlainPredicate.comparison) ?? leaf(in: scope)
    case 23: flag(in: scope)
    case 28: composite(in: scope).map(PlainPredicate.comparison) ?? leaf(in: scope)
    case 24...27 where scope.variables.isEmpty:
      indexed(in: scope) ?? .comparison(attribute(in: scope))
    default: .comparison(attribute(in: scope))
    }
  }

  /// Returns a condition on an object's own attributes, as used by partial indexes.
  func condition(on entity: Int) -> PlainPredicate {
    let parts = (0..<dice.int(1...2)).compactMap { _ in
      dice.some(model.attributes(entity)).map { attribute in
        let path = PlainTerm.path([.attribute(attribute.name)])
        var comparison = comparison(of: path, attribute)
        // Indexes don't support regular expressions.
        while comparison.test == .matches { comparison = self.comparison(of: path, attribute) }
        // Stored conditions must not depend on the locale.
        comparison.options.isLocalized = false
        return PlainPredicate.comparison(comparison)
      }
    }
    if parts.count == 1 { return parts[0] }
    return dice.chance(70) ? .and(parts) : .or(parts)
  }

  /// Returns a predicate that an index of the entity can answer: its condition, equalities of its
  /// first columns, and a comparison of the next one.
  func indexed(in scope: Scope) -> PlainPredicate? {
    let indexes = model.lineage(scope.entity).flatMap { model.entities[$0].indexes }
    guard let index = dice.some(indexes) else { return nil }
    var parts: [PlainPredicate] = []
    if let condition = index.condition { parts.append(condition) }
    let most = dice.int(0...index.columns.count)
    for (position, column) in index.columns.prefix(most).enumerated() {
      guard
        let attribute = model.attributes(scope.entity).first(where: { $0.name == column.property })
      else {
        parts.append(
          .comparison(objects(comparing: .path([.toOne(column.property)]), in: scope)))
        continue
      }
      let path = PlainTerm.path([.attribute(attribute.name)])
      var comparison = self.comparison(of: path, attribute)
      if position < most - 1 {
        comparison = PlainComparison(
          left: path, test: dice.one([.equal, .equal, .in]),
          right: .constant(constant(for: attribute)))
        if comparison.test == .in {
          comparison.right = list([constant(for: attribute), constant(for: attribute)])
        }
      }
      if column.order == .folded, comparison.test != .matches, dice.chance(70) {
        comparison.options = PlainComparison.Options(foldsCase: true, foldsDiacritics: true)
      }
      parts.append(.comparison(comparison))
    }
    if dice.chance(20) { parts.append(leaf(in: scope)) }
    if parts.isEmpty { return nil }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  // MARK: Paths

  /// Returns the start of a path; the name is `nil` for the fetched object.
  func origin(in scope: Scope) -> (name: String?, entity: Int) {
    guard !scope.variables.isEmpty, dice.chance(75) else { return (nil, scope.entity) }
    let variable = dice.one(scope.variables)
    return (variable.name, variable.entity)
  }

  func term(_ name: String?, _ steps: [PlainStep]) -> PlainTerm {
    name.map { .variable($0, steps) } ?? .path(steps)
  }

  /// Returns a path over to-one relationships, and its destination.
  func way(from entity: Int, upTo most: Int = 2) -> (steps: [PlainStep], entity: Int) {
    var steps: [PlainStep] = []
    var position = entity
    for _ in 0..<(dice.chance(70) ? 0 : dice.int(1...most)) {
      let next = model.relationships(position).filter { !$0.isToMany }
      guard let relationship = dice.some(next) else { break }
      steps.append(.toOne(relationship.name))
      position = relationship.destination
    }
    return (steps, position)
  }

  /// Returns a path to an attribute or, if `orPart` is set, to a part of a composite one.
  func attributePath(
    in scope: Scope, orPart: Bool = true, where fits: (PlainModel.Kind) -> Bool = { _ in true }
  ) -> (term: PlainTerm, attribute: PlainModel.Attribute)? {
    let origin = origin(in: scope)
    let way = way(from: origin.entity)
    let composites = orPart ? model.composites(way.entity) : []
    if dice.chance(30), let composite = dice.some(composites),
      let part = dice.some(composite.parts.filter { fits($0.kind) })
    {
      let steps = way.steps + [.attribute(composite.name), .part(part.name)]
      return (term(origin.name, steps), part)
    }
    guard let attribute = dice.some(model.attributes(way.entity).filter { fits($0.kind) }) else {
      return nil
    }
    return (term(origin.name, way.steps + [.attribute(attribute.name)]), attribute)
  }

  // MARK: Constants

  /// Returns a value to compare an attribute with.
  func constant(for attribute: PlainModel.Attribute) -> PlainValue {
    if dice.chance(5) { return .null }
    if dice.chance(60), let present = present(attribute), !present.isNull { return present }
    return values.comparable(with: attribute.kind)
  }

  /// Returns the value of an attribute of some object.
  private func present(_ attribute: PlainModel.Attribute) -> PlainValue? {
    let holders = keys.filter { graph.objects[$0]?.values[attribute.name] != nil }
    if let holder = dice.some(holders) { return graph.value(attribute.name, of: holder) }
    let parts = keys.flatMap { key in
      (graph.objects[key]?.values ?? [:]).sorted { $0.key < $1.key }.compactMap { entry in
        if case .composite(let parts) = entry.value { parts[attribute.name] } else { nil }
      }
    }
    return dice.some(parts)
  }

  /// Returns part of a string that some object has.
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
    options.isNormalized = dice.chance(20)
    if !options.isNormalized { options.isLocalized = dice.chance(15) }
    return options
  }

  // MARK: Comparisons

  private func attribute(in scope: Scope) -> PlainComparison {
    guard let (term, attribute) = attributePath(in: scope) else { return constants() }
    let wrapped = dice.chance(3) ? PlainTerm.call(.noindex, [term]) : term
    return comparison(of: wrapped, attribute)
  }

  /// Returns a comparison of a term, whose values have an attribute's kind, with constants.
  ///
  /// - Parameter staysLeft: Whether the term must be the left side.
  func comparison(
    of term: PlainTerm, _ attribute: PlainModel.Attribute, staysLeft: Bool = false
  ) -> PlainComparison {
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
      comparison.right = .constant(values.anything(beside: attribute.kind))
    case 3...8:
      comparison.test = dice.one([.equal, .notEqual])
      comparison.right = .constant(constant(for: attribute))
    case 9...14:
      comparison.test = dice.one([.less, .lessOrEqual, .greater, .greaterOrEqual])
      comparison.right = .constant(constant(for: attribute))
      if !staysLeft, dice.chance(15) { swap(&comparison.left, &comparison.right) }
    case 15...16:
      comparison.test = .between
      comparison.right = list([constant(for: attribute), constant(for: attribute)])
    default:
      comparison.test = dice.one([.in, .in, .in, .notIn, .contains])
      if staysLeft, comparison.test == .contains { comparison.test = .in }
      comparison.right = list(
        (0..<dice.int(0...4)).map { _ in
          dice.chance(90) ? constant(for: attribute) : values.anything(beside: attribute.kind)
        })
      if comparison.test == .contains { swap(&comparison.left, &comparison.right) }
    }
    return comparison
  }

  /// Returns a list as one constant or as a list of constants.
  func list(_ values: [PlainValue]) -> PlainTerm {
    dice.chance(50) ? .constant(.list(values)) : .list(values.map(PlainTerm.constant))
  }

  private func textual(
    _ start: PlainComparison, _ attribute: PlainModel.Attribute
  ) -> PlainComparison {
    var comparison = start
    comparison.test = dice.one([
      .beginsWith, .endsWith, .contains, .in, .like, .matches, .tokenMatches,
    ])
    switch comparison.test {
    case .like:
      comparison.right = .constant(.text(PatternGenerator(dice: dice).like()))
    case .matches:
      let pattern = PatternGenerator(dice: dice).expression()
      comparison.pattern = pattern
      comparison.right = .constant(.text(pattern.text))
    case .tokenMatches:
      comparison.options = PlainComparison.Options()
      comparison.right = .constant(.text(PatternGenerator(dice: dice).words()))
    case .contains where dice.chance(15):
      comparison.options.isNormalized = false
      comparison.options.wantsWords = true
      comparison.right = .constant(.text(PatternGenerator(dice: dice).words()))
    default:
      comparison.right = .constant(dice.chance(4) ? .null : piece(of: attribute))
    }
    return comparison
  }

  /// Returns a test of whether a composite is null or contains a value.
  private func composite(in scope: Scope) -> PlainComparison? {
    let origin = origin(in: scope)
    let way = way(from: origin.entity)
    guard let composite = dice.some(model.composites(way.entity)) else { return nil }
    let path = term(origin.name, way.steps + [.attribute(composite.name)])
    if dice.chance(50) {
      return PlainComparison(
        left: path, test: dice.one([.equal, .notEqual]), right: .constant(.null))
    }
    let part = dice.one(composite.parts)
    return PlainComparison(left: path, test: .contains, right: .constant(constant(for: part)))
  }

  private func twoPaths(in scope: Scope) -> PlainComparison? {
    guard let (left, attribute) = attributePath(in: scope),
      let (right, _) = attributePath(in: scope, where: { $0.family == attribute.kind.family })
    else { return nil }
    var comparison = PlainComparison(
      left: left,
      test: dice.one([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
      right: right)
    if attribute.kind.family == .text {
      comparison.options = options()
      if dice.chance(40) {
        comparison.test = dice.one([.beginsWith, .endsWith, .contains, .like, .in])
      }
    } else if dice.chance(15) {
      comparison.test = .between
      comparison.right = .list([right, .constant(constant(for: attribute))])
    }
    return comparison
  }

  private func objects(in scope: Scope) -> PlainComparison {
    let origin = origin(in: scope)
    let way = way(from: origin.entity)
    let left = term(origin.name, way.steps + (dice.chance(20) ? [.objectID] : []))
    return objects(comparing: left, in: scope)
  }

  /// Returns a comparison of an object with other objects.
  func objects(comparing left: PlainTerm, in scope: Scope) -> PlainComparison {
    let chosen = dice.few(keys, upTo: 3).map(PlainValue.object)
    if dice.chance(50) {
      let origin = origin(in: scope)
      let right: PlainTerm =
        dice.chance(25)
        ? term(origin.name, self.way(from: origin.entity).steps)
        : .constant(chosen.first ?? .null)
      return PlainComparison(left: left, test: dice.one([.equal, .notEqual]), right: right)
    }
    return PlainComparison(
      left: left, test: .in, right: list(chosen + (dice.chance(20) ? [.null] : [])))
  }

  private func entityName(in scope: Scope) -> PlainComparison {
    let origin = origin(in: scope)
    return PlainComparison(
      left: term(origin.name, way(from: origin.entity).steps + [.entityName]),
      test: dice.one([.equal, .notEqual, .beginsWith, .less]),
      right: .constant(.text(dice.one(["Zebra", "Ape", "Mole", "Bee", "Z", "M"]))))
  }

  func constants() -> PlainComparison {
    let kind = dice.one(PlainModel.Kind.allCases)
    return PlainComparison(
      left: .constant(values.value(kind)), test: dice.one([.equal, .notEqual]),
      right: .constant(values.anything(beside: kind)))
  }

  /// Returns a Boolean path used as a predicate.
  private func flag(in scope: Scope) -> PlainPredicate {
    guard let (term, _) = attributePath(in: scope, orPart: false, where: { $0 == .boolean }) else {
      return .truth(true)
    }
    return .bare(term)
  }
}
