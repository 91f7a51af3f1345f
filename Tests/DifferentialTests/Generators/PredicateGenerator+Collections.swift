/// Predicates on the members of to-many relationships.
extension PredicateGenerator {
  /// Returns a path over one or more to-many relationships, and the entity of its members.
  func members(
    in scope: Scope, upTo most: Int = 2
  ) -> (term: PlainTerm, entity: Int)? {
    let origin = origin(in: scope)
    var (steps, target) = way(from: origin.entity)
    var count = 0
    for _ in 0..<(dice.chance(75) ? 1 : most) {
      guard let next = dice.some(model.relationships(target).filter(\.isToMany)) else { break }
      if count > 0, dice.chance(30) {
        let between = way(from: target, upTo: 1)
        guard let last = dice.some(model.relationships(between.entity).filter(\.isToMany)) else {
          break
        }
        steps += between.steps + [.toMany(last.name)]
        target = last.destination
      } else {
        steps.append(.toMany(next.name))
        target = next.destination
      }
      count += 1
    }
    return count > 0 ? (term(origin.name, steps), target) : nil
  }

  /// Returns a term extended by steps.
  func extend(_ base: PlainTerm, _ steps: [PlainStep]) -> PlainTerm {
    switch base {
    case .path(let start): .path(start + steps)
    case .variable(let name, let start): .variable(name, start + steps)
    default: .behind(base, steps)
    }
  }

  /// Returns a subquery for the members that match a condition.
  func subquery(in scope: Scope) -> (term: PlainTerm, entity: Int)? {
    guard scope.variables.count < 2, let members = members(in: scope) else { return nil }
    // Shadows an outer variable at times.
    let name = dice.one(["x", "x", "y\(scope.variables.count)"])
    var inner = scope
    inner.variables.removeAll { $0.name == name }
    inner.variables.append((name, members.entity))
    let condition = predicate(in: inner, depth: dice.one([0, 0, 1]))
    return (.subquery(members.term, name, condition), members.entity)
  }

  /// Returns a collection of objects.
  func collection(in scope: Scope) -> (term: PlainTerm, entity: Int)? {
    dice.chance(20) ? subquery(in: scope) : members(in: scope)
  }

  /// Returns the values of an attribute of the members of a collection.
  func gathered(
    in scope: Scope, where fits: (PlainModel.Kind) -> Bool
  ) -> (term: PlainTerm, attribute: PlainModel.Attribute)? {
    guard let collection = collection(in: scope) else { return nil }
    let way = way(from: collection.entity, upTo: 1)
    guard let attribute = dice.some(model.attributes(way.entity).filter { fits($0.kind) }) else {
      return nil
    }
    return (extend(collection.term, way.steps + [.attribute(attribute.name)]), attribute)
  }

  // MARK: Comparisons

  func quantified(in scope: Scope) -> PlainComparison? {
    let qualifier = dice.one(PlainComparison.Qualifier.allCases)
    var comparison: PlainComparison
    switch dice.int(0...9) {
    case 0:
      guard let number = attributePath(in: scope, where: { $0.family == .number }) else {
        return nil
      }
      comparison = PlainComparison(
        left: list((0..<dice.int(0...3)).map { _ in values.value(.integer16) }),
        test: dice.one([.equal, .less, .greaterOrEqual, .notEqual]), right: number.term)
    case 1...2:
      guard let collection = collection(in: scope) else { return nil }
      let way = way(from: collection.entity, upTo: 1)
      comparison = objects(comparing: extend(collection.term, way.steps), in: scope)
    default:
      guard let (term, attribute) = gathered(in: scope, where: { _ in true }) else { return nil }
      comparison = self.comparison(of: term, attribute, staysLeft: true)
      if dice.chance(15), comparison.test == .equal || comparison.test == .less,
        let other = attributePath(in: scope, where: { $0.family == attribute.kind.family })
      {
        comparison.right = other.term
      }
    }
    comparison.qualifier = qualifier
    return comparison
  }

  /// Returns a test of whether a value is among the members of a collection.
  func membership(in scope: Scope) -> PlainComparison? {
    var (element, members): (PlainTerm, PlainTerm)
    if dice.chance(50) {
      guard let collection = collection(in: scope) else { return nil }
      let origin = origin(in: scope)
      element =
        dice.chance(60)
        ? .constant(dice.some(keys).map(PlainValue.object) ?? .null)
        : term(origin.name, way(from: origin.entity).steps)
      members = collection.term
    } else {
      guard let (term, attribute) = gathered(in: scope, where: { _ in true }) else { return nil }
      element = .constant(constant(for: attribute))
      if dice.chance(30), let path = attributePath(in: scope, where: { $0 == attribute.kind }) {
        element = path.term
      }
      members = term
    }
    if dice.chance(15), let other = collection(in: scope) {
      members = .infix(members, dice.one([.union, .intersect, .minus]), other.term)
    }
    return dice.chance(50)
      ? PlainComparison(left: element, test: dice.one([.in, .in, .notIn]), right: members)
      : PlainComparison(left: members, test: .contains, right: element)
  }
}
