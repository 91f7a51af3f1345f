/// The rules for operands and results of functions.
enum FunctionRules {
  private enum Demand {
    case number
    /// Numbers and dates.
    case difference
    /// Numbers and dates, or strings.
    case sum
    case text
    /// A collection of strings, and a string.
    case join
    /// A date, and the name of a time zone.
    case date
    case collection
    case anything
  }

  /// Binds a call.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if an operand has the wrong kind.
  static func bind(
    _ function: PredicateFunction, _ operands: [PredicateBinding.Bound], _ site: PredicateSite
  ) throws(ArborError) -> PredicateBinding.Bound {
    let name = function.infix?.symbol ?? function.name
    guard function.arity.contains(operands.count) else {
      let advice =
        function == .count && operands.isEmpty
        ? ". Write count(path) or path.@count for the members of a path, and @count for the "
          + "objects of a group" : ""
      throw site.error(
        "\(name) takes \(function.arityWords), but has \(operands.count)\(advice).")
    }
    try check(operands, of: function, name, site)
    let entity = operands.first?.entity
    let isSame = operands.allSatisfy { $0.entity === entity }
    let keepsEntity = [.distinct, .union, .intersect, .minus, .noindex].contains(function)
    return PredicateBinding.Bound(
      .call(function, operands.map(\.expression)), kind(function, operands.map(\.kind)),
      keepsEntity && isSame ? entity : nil, site: site)
  }

  private static func check(
    _ operands: [PredicateBinding.Bound], of function: PredicateFunction, _ name: String,
    _ site: PredicateSite
  ) throws(ArborError) {
    switch demand(of: function) {
    case .number:
      try refuseMany(operands, name)
      try refuse(operands, name, "numbers", site) { $0 == .number || $0 == .any }
    case .difference:
      try refuseMany(operands, name)
      try refuse(operands, name, "numbers and dates", site, unless: isMovable)
    case .sum:
      try refuseMany(operands, name)
      try refuse(operands, name, "numbers, dates and strings", site) {
        isMovable($0) || $0 == .text
      }
      guard operands.contains(where: { $0.kind == .text }),
        let other = operands.first(where: { isMovable($0.kind) && $0.kind != .any })
      else { break }
      throw site.error(
        "\(name) joins two strings or adds two numbers, but found a string and \(other.kind.name). "
          + "Wrap one of them in CAST(…, \"NSString\") or CAST(…, \"NSNumber\").")
    case .text:
      try refuseMany(operands, name)
      try refuse(operands, name, "strings", site) { $0 == .text || $0 == .any }
    case .join: try checkJoin(operands, site)
    case .date:
      try refuseMany(operands, name)
      try refuse(Array(operands.prefix(1)), name, "a date", site) { $0 == .date || $0 == .any }
      try refuse(Array(operands.dropFirst()), name, "the name of a time zone", site) {
        $0 == .text || $0 == .any
      }
      if case .constant(.string(let zone))? = operands.dropFirst().first?.expression,
        PredicateZones.zone(named: zone) == nil
      {
        throw site.error(PredicateZones.unknown(zone))
      }
    case .collection: try refuse(operands, name, "collections", site) { $0.isList || $0 == .any }
    case .anything:
      guard let operand = operands.first, operands.count == 1, isStatistic(function) else { break }
      try checkElements(of: operand, function, name, site)
    }
  }

  /// Checks the elements of an aggregate. Objects, for example, have no sum or maximum.
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
    let advice = kind == .object ? "Use an attribute of the objects" : "Use another collection"
    throw site.error("\(name) cannot be computed for \(kind.name). \(advice).")
  }

  private static func isMovable(_ kind: ValueKind) -> Bool {
    kind == .number || kind == .date || kind == .any
  }

  private static func checkJoin(
    _ operands: [PredicateBinding.Bound], _ site: PredicateSite
  ) throws(ArborError) {
    let list = operands[0]
    guard list.kind.isList || list.kind == .any else {
      throw site.error(
        "join takes a collection of strings, but this is \(list.kind.name). Join single strings "
          + "with concat(…) or +.")
    }
    // All elements of a literal list are known.
    let kinds = if case .list(let kinds) = list.kind { kinds } else { [list.kind.element] }
    if let kind = kinds.first(where: { $0 != .text && $0 != .any }) {
      throw site.error(
        "join takes a collection of strings, but this is a collection of \(kind.name). "
          + (kind == .object ? "Use an attribute of the objects." : "Use another collection."))
    }
    try refuseMany(Array(operands.dropFirst()), "join")
    try refuse(Array(operands.dropFirst()), "join", "a separator string", site) {
      $0 == .text || $0 == .any
    }
  }

  /// Rejects paths with several values if a function requires single values.
  static func refuseMany(_ operands: [PredicateBinding.Bound], _ name: String) throws(ArborError) {
    for operand in operands {
      guard case .many = operand.kind else { continue }
      let site = operand.expression.manyValued?.site ?? operand.site
      throw site.error(
        "\(name) takes single values, but this path has many. Use SUBQUERY to compute with each "
          + "value, or use @sum, @avg, @min, @max or @count.")
    }
  }

  private static func refuse(
    _ operands: [PredicateBinding.Bound], _ name: String, _ wanted: String, _ site: PredicateSite,
    unless fits: (ValueKind) -> Bool
  ) throws(ArborError) {
    for operand in operands where !fits(operand.kind) {
      throw site.error(
        "\(name) takes \(wanted), but this is \(operand.kind.name). Cast or remove this value.")
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
    case .add: .sum
    case .subtract: .difference
    case .multiply, .divide, .modulus, .power, .negate, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
      .leftshift, .rightshift, .onesComplement, .sqrt, .log, .ln, .exp, .floor, .ceiling, .abs,
      .trunc, .randomn:
      .number
    case .uppercase, .lowercase, .length, .canonical, .concat: .text
    case .join: .join
    case .year, .month, .day, .hour, .weekday: .date
    case .union, .intersect, .minus: .collection
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev, .distinct, .closure, .random,
      .now, .noindex, .distanceToLocation:
      .anything
    }
  }

  static func kind(_ function: PredicateFunction, _ operands: [ValueKind]) -> ValueKind {
    switch function {
    case .add:
      if operands.contains(.any) { return .any }
      if operands.contains(.text) { return .text }
      return operands.contains(.date) ? .date : .number
    case .subtract:
      guard operands.count == 2, !operands.contains(.any) else { return .any }
      return operands[0] == .date && operands[1] == .number ? .date : .number
    case .uppercase, .lowercase, .canonical, .concat, .join: return .text
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
