/// Which functions take what, and what they give.
enum FunctionRules {
  /// What a function asks of its operands.
  private enum Demand {
    case number
    /// Numbers and dates.
    case sum
    case text
    case collection
    case anything
  }

  /// Binds a call.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where an operand is of a kind that the function
  ///   cannot take.
  static func bind(
    _ function: PredicateFunction, _ operands: [PredicateBinding.Bound], _ site: PredicateSite
  ) throws(ArborError) -> PredicateBinding.Bound {
    let name = function.infix?.symbol ?? function.name
    guard function.arity.contains(operands.count) else {
      let wanted = function.arity
      throw site.error(
        "\(name) takes \(wanted.count == 1 ? "\(wanted.lowerBound)" : "one or more") "
          + "arguments and has \(operands.count).")
    }
    switch demand(of: function) {
    case .number:
      try refuseMany(operands, name)
      try refuse(operands, name, "numbers", site) { $0 == .number || $0 == .any }
    case .sum:
      try refuseMany(operands, name)
      try refuse(operands, name, "numbers and dates", site) {
        $0 == .number || $0 == .date || $0 == .any
      }
    case .text:
      try refuseMany(operands, name)
      try refuse(operands, name, "texts", site) { $0 == .text || $0 == .any }
    case .collection:
      try refuse(operands, name, "collections", site) { $0.isList || $0 == .any }
    case .anything:
      guard let operand = operands.first, operands.count == 1, isStatistic(function) else { break }
      try checkElements(of: operand, function, name, site)
    }
    let entity = operands.first?.entity
    let isSame = operands.allSatisfy { $0.entity === entity }
    let keepsEntity = [.distinct, .union, .intersect, .minus, .noindex].contains(function)
    return PredicateBinding.Bound(
      .call(function, operands.map(\.expression)), kind(function, operands.map(\.kind)),
      keepsEntity && isSame ? entity : nil, site: site)
  }

  /// Checks what a statistic is made of: objects have no sum and no greatest.
  static func checkElements(
    of operand: PredicateBinding.Bound, _ function: PredicateFunction, _ name: String,
    _ site: PredicateSite
  ) throws(ArborError) {
    let kind = operand.kind.element
    let fits: Bool
    switch function {
    case .count, .mode: fits = true
    case .min, .max: fits = kind.isOrdered
    default: fits = kind == .number || kind == .any
    }
    if fits { return }
    let advice = kind == .object ? "name an attribute of the objects" : "name another one"
    throw site.error("\(name) cannot be taken of \(kind.name); \(advice).")
  }

  /// Refuses paths of many values where a function takes single ones.
  static func refuseMany(
    _ operands: [PredicateBinding.Bound], _ name: String
  ) throws(ArborError) {
    for operand in operands {
      guard case .many = operand.kind else { continue }
      let site = operand.expression.manyValued?.site ?? operand.site
      throw site.error(
        "\(name) takes single values, and this path gives many; compute with one of them in a "
          + "SUBQUERY, or with @sum, @avg, @min, @max or @count of all.")
    }
  }

  private static func refuse(
    _ operands: [PredicateBinding.Bound], _ name: String, _ wanted: String, _ site: PredicateSite,
    unless fits: (ValueKind) -> Bool
  ) throws(ArborError) {
    for operand in operands where !fits(operand.kind) {
      throw site.error(
        "\(name) takes \(wanted), and this is \(operand.kind.name); cast it or leave it out.")
    }
  }

  private static func isStatistic(_ function: PredicateFunction) -> Bool {
    switch function {
    case .sum, .min, .max, .average, .median, .stddev: true
    default: false
    }
  }

  private static func demand(of function: PredicateFunction) -> Demand {
    switch function {
    case .add, .subtract: .sum
    case .multiply, .divide, .modulus, .power, .negate, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
      .leftshift, .rightshift, .onesComplement, .sqrt, .log, .ln, .exp, .floor, .ceiling, .abs,
      .trunc, .randomn:
      .number
    case .uppercase, .lowercase, .length, .canonical: .text
    case .union, .intersect, .minus: .collection
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev, .distinct, .random, .now,
      .noindex, .distanceToLocation:
      .anything
    }
  }

  /// What a function gives.
  static func kind(_ function: PredicateFunction, _ operands: [ValueKind]) -> ValueKind {
    switch function {
    case .add:
      if operands.contains(.any) { return .any }
      return operands.contains(.date) ? .date : .number
    case .subtract:
      guard operands.count == 2, !operands.contains(.any) else { return .any }
      return operands[0] == .date && operands[1] == .number ? .date : .number
    case .uppercase, .lowercase, .canonical: return .text
    case .now: return .date
    case .noindex: return operands.first ?? .any
    case .min, .max:
      return operands.count == 1 ? operands[0].element : .common(operands.map(\.element))
    case .mode: return .many(.common(operands.map(\.element)))
    case .distinct: return .many(operands.first?.element ?? .any)
    case .union, .intersect, .minus: return .many(.common(operands.map(\.element)))
    default: return .number
    }
  }
}
