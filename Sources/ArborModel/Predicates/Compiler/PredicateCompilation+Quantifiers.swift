/// Quantifiers, counts and memberships. They don't need to read entire collections.
extension PredicateCompilation {
  /// A closure that counts the elements of a collection, up to a maximum beyond which the result
  /// doesn't change.
  typealias Counter = (RecordView, ObjectNumber, (any RecordResolver)?, _ most: Int) -> Int

  /// Compiles ANY or ALL.
  func compile(
    _ quantifier: BoundQuantifier, _ collection: BoundCollection, _ node: BoundNode
  ) throws(ArborError) -> CompiledNode {
    let isAll = quantifier == .all
    if !isAll, let node = contains(collection, node) { return node }
    let owner = chain(collection.scope, collection.hops)
    let relationship = collection.relationship
    let (own, codes) = (frame, try codes(node, of: collection.target))
    let range = isAll ? nil : try correlatedRange(.collection(collection), collection.target, node)
    return .code(cost: 1000) { record, number, resolver in
      guard let resolver, let owner = owner.target(record, number, resolver) else { return isAll }
      own.hold(record, number)
      let found = range?.members(record, number, resolver, upTo: 1)
      if let found, range?.isWhole ?? false { return !found.isEmpty }
      let members = found ?? resolver.members(of: owner, relationship)
      if members.isEmpty { return isAll }
      own.hold(record, number)
      for member in members {
        guard let next = resolver.record(of: member), let code = codes[member] else { continue }
        if code.closure(next, member, resolver) != isAll { return !isAll }
      }
      return isAll
    }
  }

  /// Returns the code for `ANY members == object`, which is a lookup, or `nil` for any other
  /// condition.
  private func contains(_ collection: BoundCollection, _ node: BoundNode) -> CompiledNode? {
    guard case .comparison(let comparison) = node, comparison.comparison == .equal,
      case .path(let path) = comparison.left, path.scope == 0, path.hops.isEmpty,
      case .object = path.leaf, let wanted = constant(comparison.right)
    else { return nil }
    guard let object = environment.object(wanted) else { return .constant(false) }
    return contains(collection) { _, _, _ in object }
  }

  private func contains(
    _ collection: BoundCollection, _ object: @escaping ObjectReader
  ) -> CompiledNode {
    let owner = chain(collection.scope, collection.hops)
    let relationship = collection.relationship
    return .code(cost: 150) { record, number, resolver in
      guard let resolver, let object = object(record, number, resolver),
        let owner = owner.target(record, number, resolver)
      else { return false }
      return resolver.contains(object, in: relationship, of: owner)
    }
  }

  /// Returns the code for `object IN members`, in either order, or `nil` for any other comparison.
  func membership(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode? {
    let sides: (element: BoundExpression, collection: BoundExpression)
    switch comparison.comparison {
    case .in: sides = (comparison.left, comparison.right)
    case .contains: sides = (comparison.right, comparison.left)
    default: return nil
    }
    guard sides.collection.isObjectCollection else { return nil }
    let object: ObjectReader
    if let constant = constant(sides.element) {
      guard let wanted = environment.object(constant) else { return .constant(false) }
      object = { _, _, _ in wanted }
    } else if case .path(let path) = sides.element {
      guard path.leaf.isObject else { return .constant(false) }
      object = self.object(path)
    } else {
      let environment = environment
      let element = try reader(sides.element)
      object = { environment.object(element($0, $1, $2)) }
    }
    if case .collection(let collection) = sides.collection { return contains(collection, object) }
    let members = try objects(sides.collection)
    return .code(cost: 2000) { record, number, resolver in
      guard let object = object(record, number, resolver) else { return false }
      return members(record, number, resolver).contains(object)
    }
  }

  // MARK: Counts

  /// Returns the code for a comparison of a count with a constant. Counting stops as soon as the
  /// result is known.
  func count(
    _ operand: BoundExpression, _ comparison: ComparisonOperator, _ constant: PropertyValue
  ) throws(ArborError) -> CompiledNode? {
    switch comparison {
    case .notEqual: return try count(operand, .equal, constant)?.negated
    case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .between: break
    default: return nil
    }
    let interval = WholeNumbers.interval(comparison, constant)
    guard case .closed(let lower, let upper) = interval.intersection(.closed(0, .max)) else {
      return .constant(false)
    }
    let counter = try counter(operand)
    let most = Int(upper == .max ? lower : upper + 1)
    return .code(cost: 200) { record, number, resolver in
      let count = Int64(counter(record, number, resolver, most))
      return count >= lower && count <= upper
    }
  }

  func counter(_ expression: BoundExpression) throws(ArborError) -> Counter {
    // Counting a relationship directly is as cheap as a memo lookup.
    if case .collection = expression { return try plainCounter(expression) }
    return try remembering(remembers ? MemoRoot(expression) : nil) { (plain) throws(ArborError) in
      try plain.plainCounter(expression)
    }
  }

  private func plainCounter(_ expression: BoundExpression) throws(ArborError) -> Counter {
    switch expression {
    case .collection(let collection):
      let owner = chain(collection.scope, collection.hops)
      let relationship = collection.relationship
      return { record, number, resolver, _ in
        guard let resolver, let owner = owner.target(record, number, resolver) else { return 0 }
        return resolver.memberCount(of: owner, relationship)
      }
    case .subquery(let base, let entity, let node): return try acceptedCounter(base, entity, node)
    case .filter(let base, let slot, let node):
      let filtered = try filter(base, slot, node)
      return { record, number, resolver, _ in
        guard case .list(let elements) = filtered(record, number, resolver) else { return 0 }
        return elements.count
      }
    case _ where expression.isObjectCollection:
      let members = try objects(expression)
      return { record, number, resolver, _ in members(record, number, resolver).count }
    default:
      let value = try reader(expression)
      let now = environment.now
      return { record, number, resolver, _ in
        let counted = PredicateFunction.count.value(of: [value(record, number, resolver)], now: now)
        return counted.wholeNumber.map { Int($0) } ?? 0
      }
    }
  }

  /// Returns a counter of a collection's objects that satisfy a predicate.
  private func acceptedCounter(
    _ base: BoundExpression, _ entity: EntitySchema, _ node: BoundNode
  ) throws(ArborError) -> Counter {
    let members = try objects(base)
    let (own, codes) = (frame, try codes(node, of: entity))
    let range = try correlatedRange(base, entity, node)
    return { record, number, resolver, most in
      own.hold(record, number)
      let found = range?.members(record, number, resolver, upTo: most)
      if let found, range?.isWhole ?? false { return found.count }
      let members = found ?? members(record, number, resolver)
      own.hold(record, number)
      var count = 0
      for member in members where codes.accepts(member, resolver) {
        count += 1
        if count >= most { break }
      }
      return count
    }
  }
}

extension BoundPath.Leaf {
  /// Whether the value is an object.
  var isObject: Bool {
    switch self {
    case .object, .toOne: true
    case .attribute, .entityName: false
    }
  }
}
