/// A comparison of a key path with a constant, compiled for the property at the path's end.
struct PathComparison {
  var comparison: ComparisonOperator
  let options: ComparisonOptions
  var constant: PropertyValue
  let site: PredicateSite
  let environment: PredicateEnvironment

  /// Returns the same comparison with another operator and constant.
  private func with(_ comparison: ComparisonOperator, _ constant: PropertyValue) -> PathComparison {
    var other = self
    (other.comparison, other.constant) = (comparison, constant)
    return other
  }

  /// Returns the code for records of a concrete entity.
  func compile(
    _ hops: ArraySlice<RelationshipSchema>, _ leaf: BoundPath.Leaf, in entity: EntitySchema
  ) throws(ArborError) -> CompiledNode {
    guard let hop = hops.first else { return try compile(leaf, in: entity) }
    guard case .field(let index) = entity.relationships[hop.slot].storage else {
      return .constant(try holdsForNil())
    }
    let chain = HopChain(Array(hops), from: [entity], frame: nil, in: environment.schema)
    let ifNil = try holdsForNil()
    // The target can belong to any subentity of the destination, each of which has a layout of its
    // own.
    let codes = try EntityCodes(chain.family) { (target) throws(ArborError) in
      try compile(leaf, in: target).code
    }
    guard hops.count == 1 else {
      // A loop, because nested closures would use stack space for each hop.
      return .code(cost: 100 * hops.count) { record, number, resolver in
        guard let target = chain.object(record, number, resolver),
          let code = codes[target.number]?.closure
        else { return ifNil }
        return code(target.record, target.number, resolver)
      }
    }
    let field = entity.layout.fields[index]
    if let code = codes.single?.closure, let only = chain.family.first?.number {
      return .code(cost: 100) { record, _, resolver in
        // The code reads only records of this entity, whereas a forged file can refer to others.
        guard let target = record.reference(field), target.entity == only,
          let next = resolver?.record(of: target)
        else { return ifNil }
        return code(next, target, resolver)
      }
    }
    return .code(cost: 100) { record, _, resolver in
      guard let target = record.reference(field), let next = resolver?.record(of: target),
        let code = codes[target]?.closure
      else { return ifNil }
      return code(next, target, resolver)
    }
  }

  private var semantics: ComparisonSemantics {
    ComparisonSemantics(comparison, options, locale: environment.locale)
  }

  /// Returns the result for `nil`, which is the value of a path that ends early.
  private func holdsForNil() throws(ArborError) -> Bool { try semantics.holds(.null, constant) }

  private func compile(
    _ leaf: BoundPath.Leaf, in entity: EntitySchema
  ) throws(ArborError) -> CompiledNode {
    // `x != v` is `NOT x == v`, including for `nil`.
    if comparison == .notEqual {
      return try with(.equal, constant).compile(leaf, in: entity).negated
    }
    if comparison == .between, case .list(let bounds) = constant, bounds.count == 2, !leaf.isNumeric
    {
      let lower = try with(.greaterOrEqual, bounds[0]).compile(leaf, in: entity)
      let upper = try with(.lessOrEqual, bounds[1]).compile(leaf, in: entity)
      return PredicateCompilation.join([lower, upper], neutral: true)
    }
    switch leaf {
    case .object: return objectTest(of: nil)
    case .toOne(let relationship):
      guard case .field(let index) = entity.relationships[relationship.slot].storage else {
        return .constant(false)
      }
      return objectTest(of: entity.layout.fields[index])
    case .entityName:
      let (semantics, name, constant) = (semantics, PropertyValue.string(entity.name), constant)
      if comparison != .matches { return .constant(try semantics.holds(name, constant)) }
      return .code(cost: 40) { _, _, resolver in
        (try? semantics.holds(name, constant, resolver)) ?? false
      }
    case .attribute(let attribute):
      let field = entity.attributes[attribute.slot].field
      if constant.isNull {
        guard comparison == .equal else { return .constant(false) }
        return .code(cost: 1) { record, _, _ in record.isNull(field) }
      }
      if field.isExternal { return compile(external: field) }
      let code = FieldComparison(
        field: field, comparison: comparison, options: options, constant: constant, site: site,
        locale: environment.locale)
      return environment.chargesWork ? try code.charging() : try code.compile()
    }
  }

  /// Compiles a test of a binary value that may be stored outside the record.
  private func compile(external field: RecordField) -> CompiledNode {
    let (semantics, constant, chargesWork) = (semantics, constant, environment.chargesWork)
    return .code(cost: 1000) { record, number, resolver in
      let value = record.value(field, of: number, from: resolver)
      if chargesWork, let resolver, !resolver.charge(value.work + semantics.work(value, constant)) {
        return false
      }
      return (try? semantics.holds(value, constant)) ?? false
    }
  }

  // MARK: Objects

  /// Returns a test of the object itself, or of the target of a reference field.
  private func objectTest(of field: RecordField?) -> CompiledNode {
    let wanted: [PropertyValue]
    switch (comparison, constant) {
    case (.equal, let value): wanted = [value]
    case (.in, .list(let values)): wanted = values
    default: return .constant(false)
    }
    let hasNil = wanted.contains(.null) && field != nil
    let numbers = Set(
      wanted.compactMap { value -> UInt64? in
        guard case .objectID(let id) = value else { return nil }
        return environment.objectNumber(id)?.rawValue
      }
    ).sorted()
    guard let field else {
      if numbers.isEmpty { return .constant(false) }
      return .code(cost: 1) { _, number, _ in numbers.containsSorted(number.rawValue) }
    }
    // A null reference is stored as 0, which is not an object number.
    let accepted = (hasNil ? [0] : []) + numbers
    if accepted.isEmpty { return .constant(false) }
    if accepted.count == 1 {
      let only = accepted[0]
      return .code(cost: 1) { record, _, _ in record.load(field, as: UInt64.self) == only }
    }
    return .code(cost: 4) { record, _, _ in
      accepted.containsSorted(record.load(field, as: UInt64.self))
    }
  }
}

extension BoundPath.Leaf {
  /// Whether the value is a number or a date, for which an interval is a single test.
  fileprivate var isNumeric: Bool {
    guard case .attribute(let attribute) = self else { return false }
    return attribute.field.kind.form.isNumeric
  }
}

extension Array where Element: Comparable {
  /// Returns whether a sorted array contains an element.
  ///
  /// - Complexity: O(log *n*).
  @inline(__always)
  func containsSorted(_ element: Element) -> Bool {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == element
  }
}
