/// The rules for valid operands of operators.
///
/// Equality accepts all operands: values of different kinds are simply not equal. Ordering requires
/// operands of the same kind, and string operators require strings. Both also accept `nil`, and
/// then yield `false`. A path with a to-many relationship has several values and requires a
/// quantifier, unless the operator compares collections.
package enum ComparisonRules {
  /// Checks the operands of a comparison.
  ///
  /// - Parameter arguments: The constants of arguments, or `nil` if they aren't known yet.
  /// - Throws: ``ArborError`` `invalidPredicate` if the operands are invalid.
  static func check(_ comparison: BoundComparison, arguments: [PropertyValue]?) throws(ArborError) {
    if comparison.options.contains(.localized) {
      _ = try comparison.site.services(for: "comparisons by the rules of a locale, [l]")
    }
    if let error = nanProblem(comparison, arguments) { throw error }
    if let arguments, let problem = castProblem(comparison, arguments) {
      throw comparison.site.error(problem)
    }
    let left = kind(of: comparison.left, arguments)
    let right = kind(of: comparison.right, arguments)
    if let error = manyProblem(comparison, left, right, arguments) { throw error }
    if let problem = problem(left, comparison.comparison, right) {
      throw comparison.site.error(problem)
    }
  }

  /// Returns whether a check without the arguments is incomplete.
  static func dependsOnArguments(_ node: BoundNode) -> Bool {
    switch node {
    case .constant: false
    case .not(let node), .quantified(_, _, let node): dependsOnArguments(node)
    case .and(let nodes), .or(let nodes): nodes.contains(where: dependsOnArguments)
    case .comparison(let comparison):
      dependsOnArguments(comparison) || comparison.heldNodes.contains(where: dependsOnArguments)
    }
  }

  private static func dependsOnArguments(_ comparison: BoundComparison) -> Bool {
    guard comparison.left.hasArguments || comparison.right.hasArguments else { return false }
    if comparison.left.hasCastArguments || comparison.right.hasCastArguments { return true }
    switch comparison.comparison {
    case .equal, .notEqual:
      return comparison.left.manyValued != nil || comparison.right.manyValued != nil
        || kind(of: comparison.left, nil) == .binary || kind(of: comparison.right, nil) == .binary
    default: return true
    }
  }

  static func check(_ node: BoundNode, arguments: [PropertyValue]) throws(ArborError) {
    switch node {
    case .constant: break
    case .not(let node), .quantified(_, _, let node): try check(node, arguments: arguments)
    case .and(let nodes), .or(let nodes):
      for node in nodes { try check(node, arguments: arguments) }
    case .comparison(let comparison):
      try check(comparison, arguments: arguments)
      for node in comparison.heldNodes { try check(node, arguments: arguments) }
    }
  }

  // MARK: NaN

  /// Returns an error for an operand that is NaN, or `nil` if there isn't one. NaN equals nothing,
  /// and no attribute stores it.
  private static func nanProblem(
    _ comparison: BoundComparison, _ arguments: [PropertyValue]?
  ) -> ArborError? {
    let sides = [(comparison.left, comparison.right), (comparison.right, comparison.left)]
    for (side, other) in sides where isNaN(side, arguments) {
      let path = other.attributePath
      return comparison.site.error(
        "\(path ?? "A value") is compared with NaN, which equals no value. Compare with a number "
          + "or nil."
      ).with(keyPath: path)
    }
    return nil
  }

  private static func isNaN(_ expression: BoundExpression, _ arguments: [PropertyValue]?) -> Bool {
    switch expression {
    case .constant(let value): value.containsNaN
    case .argument(let index):
      if let arguments, index < arguments.count { arguments[index].containsNaN } else { false }
    case .list(let elements): elements.contains { isNaN($0, arguments) }
    default: false
    }
  }

  // MARK: Casts

  /// Returns a message for an argument that is cast to a date but cannot be converted, or `nil` if
  /// there isn't one.
  private static func castProblem(_ comparison: BoundComparison, _ arguments: [PropertyValue])
    -> String?
  {
    var problem: String?
    for side in [comparison.left, comparison.right] where side.hasCastArguments {
      _ = side.contains { expression, _ in
        guard case .cast(.argument(let index), let type) = expression, index < arguments.count
        else { return false }
        problem = problem ?? type.unreadable(arguments[index])
        return problem != nil
      }
    }
    return problem
  }

  // MARK: Many values

  /// Returns an error for a path with several values if a single value is required, otherwise
  /// `nil`.
  private static func manyProblem(
    _ comparison: BoundComparison, _ left: ValueKind, _ right: ValueKind,
    _ arguments: [PropertyValue]?
  ) -> ArborError? {
    switch comparison.comparison {
    case .equal, .notEqual:
      // A collection can be equal to another collection, but not to a single value.
      for (side, kind, other, otherKind) in [
        (comparison.left, left, comparison.right, right),
        (comparison.right, right, comparison.left, left),
      ] where kind.isMany && !otherKind.isList {
        if otherKind == .any, !isNil(other, arguments) { continue }
        return problem(side, comparison)
      }
      return nil
    case .in, .between: return left.isMany ? problem(comparison.left, comparison) : nil
    case .contains: return right.isMany ? problem(comparison.right, comparison) : nil
    default:
      if left.isMany { return problem(comparison.left, comparison) }
      return right.isMany ? problem(comparison.right, comparison) : nil
    }
  }

  private static func isNil(_ expression: BoundExpression, _ arguments: [PropertyValue]?) -> Bool {
    switch expression {
    case .constant(.null): true
    case .argument(let index):
      if let arguments, index < arguments.count { arguments[index].isNull } else { false }
    default: false
    }
  }

  private static func problem(
    _ side: BoundExpression, _ comparison: BoundComparison
  ) -> ArborError {
    guard let collection = side.manyValued else {
      return comparison.site.error(
        "\(comparison.comparison.rawValue) compares single values, but this is a collection. Put "
          + "ANY, ALL or NONE before it, or use @count.")
    }
    let name = "\(collection.owner.name).\(collection.relationship.name)"
    return collection.site.error(
      "\(name) is a to-many relationship, which has many values. Put ANY, ALL or NONE before the "
        + "path, or use @count."
    ).with(
      entity: collection.owner.name,
      keyPath: (collection.hops + [collection.relationship]).map(\.name).joined(separator: "."))
  }

  // MARK: Kinds

  private static func problem(
    _ left: ValueKind, _ comparison: ComparisonOperator, _ right: ValueKind
  ) -> String? {
    switch comparison {
    case .equal, .notEqual: binaryProblem(left, comparison, right)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: orderProblem(left, comparison, right)
    case .between: rangeProblem(left, right)
    case .beginsWith, .endsWith, .like, .matches, .tokenMatches, .utiConformsTo, .utiEquals:
      textProblem(left, comparison, right)
    case .contains: membershipProblem(collection: left, comparison, element: right)
    case .in: membershipProblem(collection: right, comparison, element: left)
    }
  }

  private static func orderProblem(
    _ left: ValueKind, _ comparison: ComparisonOperator, _ right: ValueKind
  ) -> String? {
    for side in [left, right] where !side.isOrdered {
      return "\(comparison.rawValue) needs an order, but \(side.name) has none. Compare with ==."
    }
    guard left != right, left != .any, right != .any else { return nil }
    if [left, right].contains(.date), [left, right].contains(.text) {
      return "\(comparison.rawValue) cannot compare a date with a string. Write "
        + "date(\"2024-01-31\"), or pass the date as an argument."
    }
    return "\(comparison.rawValue) cannot compare \(left.name) with \(right.name). Compare values "
      + "of the same kind."
  }

  /// Returns a message if a number is compared with binary data, otherwise `nil`. The two are never
  /// equal, so the comparison is most likely a mistake.
  private static func binaryProblem(
    _ left: ValueKind, _ comparison: ComparisonOperator, _ right: ValueKind
  ) -> String? {
    guard [left, right] == [.binary, .number] || [left, right] == [.number, .binary] else {
      return nil
    }
    return "\(comparison.rawValue) compares a number with binary data, which are never equal. "
      + "Compare values of the same kind."
  }

  private static func rangeProblem(_ left: ValueKind, _ right: ValueKind) -> String? {
    switch right {
    case .any, .many: return nil
    case .list(let bounds) where bounds.count == 2:
      return orderProblem(left, .between, bounds[0]) ?? orderProblem(left, .between, bounds[1])
    case .list(let bounds):
      return "BETWEEN takes a list of two bounds, but this list has "
        + (bounds.count == 1 ? "1 element" : "\(bounds.count) elements")
        + ". Write {minimum, maximum}."
    default:
      return "BETWEEN takes a list of two bounds, not \(right.name). Write {minimum, maximum}."
    }
  }

  private static func textProblem(
    _ left: ValueKind, _ comparison: ComparisonOperator, _ right: ValueKind
  ) -> String? {
    for side in [left, right] where side != .text && side != .any {
      return
        "\(comparison.rawValue) compares strings, but this is \(side.name). Use another operator."
    }
    return nil
  }

  private static func membershipProblem(
    collection: ValueKind, _ comparison: ComparisonOperator, element: ValueKind
  ) -> String? {
    if collection.isList { return binaryProblem(element, comparison, collection.element) }
    if collection == .any || collection == .composite { return nil }
    guard collection == .text else {
      return "\(comparison.rawValue) searches lists and strings, but this is \(collection.name). "
        + "Use another operator."
    }
    guard element == .text || element == .any else {
      return "\(comparison.rawValue) searches a string for a string, but this is \(element.name). "
        + "Use another operator."
    }
    return nil
  }

  /// Returns the kind of an expression's value.
  ///
  /// - Parameter arguments: The constants of arguments, or `nil` if they aren't known yet.
  static func kind(of expression: BoundExpression, _ arguments: [PropertyValue]?) -> ValueKind {
    func kind(_ expression: BoundExpression) -> ValueKind { Self.kind(of: expression, arguments) }
    switch expression {
    case .constant(let value): return ValueKind(value)
    case .argument(let index):
      guard let arguments, index < arguments.count else { return .any }
      return ValueKind(arguments[index])
    case .list(let elements): return .list(elements.map(kind))
    case .path(let path): return ValueKind(path.leaf)
    case .collection, .subquery, .closure: return .many(.object)
    case .each(_, _, let inner):
      let element = kind(inner)
      return .many(inner.isCollection ? element.element : element)
    case .follow(_, _, let inner): return kind(inner)
    case .union(let union, let base):
      let element = kind(base).element
      return .many(union.opensLists ? element.element : element)
    case .call(let function, let operands): return FunctionRules.kind(function, operands.map(kind))
    case .custom: return .any
    case .part(_, _, let kind): return kind
    case .decoded(_, let path): return path.kind
    case .cast(_, let type): return type.kind
    case .ternary(_, let first, let second): return .common([kind(first), kind(second)])
    case .filter(let base, _, _): return .many(kind(base).element)
    case .slot(let slot): return slot.kind
    case .element(let base, _):
      let kind = kind(base)
      return kind == .composite ? .any : kind.element
    }
  }
}

extension BoundExpression {
  /// Whether the expression casts an argument to a date.
  fileprivate var hasCastArguments: Bool {
    contains { expression, _ in
      if case .cast(.argument, .date) = expression { true } else { false }
    }
  }

  /// The path to the attribute that the expression reads, or `nil` for any other expression.
  fileprivate var attributePath: String? {
    guard case .path(let path) = self, case .attribute(let attribute) = path.leaf else {
      return nil
    }
    return (path.hops.map(\.name) + [attribute.name]).joined(separator: ".")
  }
}

extension ValueKind {
  fileprivate var isMany: Bool { if case .many = self { true } else { false } }

  init(_ leaf: BoundPath.Leaf) {
    switch leaf {
    case .attribute(let attribute):
      if case .composite = attribute.description.type {
        self = .composite
      } else {
        self.init(attribute.field.kind)
      }
    case .toOne, .object: self = .object
    case .entityName: self = .text
    }
  }
}
