/// Which operators fit which sides.
///
/// Equality fits everything: values of different kinds are just not equal. An order exists within
/// one kind only, and the text operators ask for texts. Nil fits everywhere and gives false.
package enum ComparisonRules {
  /// What a side of a comparison gives, as far as it is known.
  enum Kind: Equatable {
    /// Not known before it is read, or nil.
    case any
    case number
    case text
    case date
    case binary
    case uuid
    case uri
    case object
    case list([Kind])
    case composite

    init(_ value: Value) {
      self =
        switch value {
        case .null: .any
        case .boolean, .integer, .double, .decimal: .number
        case .string: .text
        case .date: .date
        case .binary: .binary
        case .uuid: .uuid
        case .uri: .uri
        case .objectID: .object
        case .list(let values): .list(values.map(Kind.init))
        case .composite: .composite
        }
    }

    init(_ field: FieldKind) {
      self =
        switch field {
        case .boolean, .int16, .int32, .int64, .float, .double, .decimal: .number
        case .date: .date
        case .uuid: .uuid
        case .reference: .object
        case .string: .text
        case .binary: .binary
        case .uri: .uri
        case .tagged: .any
        }
    }

    var name: String {
      switch self {
      case .any: "any value"
      case .number: "a number"
      case .text: "a text"
      case .date: "a date"
      case .binary: "binary data"
      case .uuid: "a UUID"
      case .uri: "a URI"
      case .object: "an object"
      case .list: "a list"
      case .composite: "a composite"
      }
    }

    var isOrdered: Bool {
      switch self {
      case .object, .list, .composite: false
      default: true
      }
    }

    var isList: Bool { if case .list = self { true } else { false } }
  }

  /// Checks that an operator fits its sides.
  ///
  /// - Parameter arguments: The constants of arguments; nil while they are not known.
  /// - Throws: ``ArborError`` `invalidPredicate` where it does not.
  static func check(
    _ comparison: BoundComparison, arguments: [Value]?
  ) throws(ArborError) {
    // Equality fits everything.
    if comparison.comparison == .equal || comparison.comparison == .notEqual { return }
    let left = kind(of: comparison.left, arguments)
    let right = kind(of: comparison.right, arguments)
    if let problem = problem(left, comparison.comparison, right) {
      throw comparison.site.error(problem)
    }
  }

  /// Whether a check without arguments leaves something open.
  static func dependsOnArguments(_ node: BoundNode) -> Bool {
    switch node {
    case .constant: false
    case .not(let node): dependsOnArguments(node)
    case .and(let nodes), .or(let nodes): nodes.contains(where: dependsOnArguments)
    case .comparison(let comparison):
      comparison.comparison != .equal && comparison.comparison != .notEqual
        && (comparison.left.hasArguments || comparison.right.hasArguments)
    }
  }

  /// Checks every comparison of a tree.
  static func check(_ node: BoundNode, arguments: [Value]) throws(ArborError) {
    switch node {
    case .constant: break
    case .not(let node): try check(node, arguments: arguments)
    case .and(let nodes), .or(let nodes):
      for node in nodes { try check(node, arguments: arguments) }
    case .comparison(let comparison): try check(comparison, arguments: arguments)
    }
  }

  private static func kind(of expression: BoundExpression, _ arguments: [Value]?) -> Kind {
    switch expression {
    case .constant(let value): return Kind(value)
    case .argument(let index):
      guard let arguments, index < arguments.count else { return .any }
      return Kind(arguments[index])
    case .list(let elements): return .list(elements.map { kind(of: $0, arguments) })
    case .path(let path):
      switch path.leaf {
      case .attribute(let attribute): return Kind(attribute.field.kind)
      case .toOne, .object: return .object
      case .entityName: return .text
      }
    }
  }

  private static func problem(
    _ left: Kind, _ comparison: ComparisonOperator, _ right: Kind
  ) -> String? {
    switch comparison {
    case .equal, .notEqual: nil
    case .less, .lessOrEqual, .greater, .greaterOrEqual: orderProblem(left, comparison, right)
    case .between: rangeProblem(left, right)
    case .beginsWith, .endsWith, .like, .matches, .tokenMatches, .utiConformsTo, .utiEquals:
      textProblem(left, comparison, right)
    case .contains: membershipProblem(collection: left, comparison, element: right)
    case .in: membershipProblem(collection: right, comparison, element: left)
    }
  }

  private static func orderProblem(
    _ left: Kind, _ comparison: ComparisonOperator, _ right: Kind
  ) -> String? {
    for side in [left, right] where !side.isOrdered {
      return "\(comparison.rawValue) needs an order, and \(side.name) has none; compare with ==."
    }
    guard left != right, left != .any, right != .any else { return nil }
    return "\(comparison.rawValue) cannot order \(left.name) against \(right.name); "
      + "compare values of one kind."
  }

  private static func rangeProblem(_ left: Kind, _ right: Kind) -> String? {
    switch right {
    case .any: return nil
    case .list(let bounds) where bounds.count == 2:
      return orderProblem(left, .between, bounds[0]) ?? orderProblem(left, .between, bounds[1])
    case .list(let bounds):
      return "BETWEEN needs a list of two bounds and this one has \(bounds.count); "
        + "write {least, greatest}."
    default:
      return "BETWEEN needs a list of two bounds, not \(right.name); write {least, greatest}."
    }
  }

  private static func textProblem(
    _ left: Kind, _ comparison: ComparisonOperator, _ right: Kind
  ) -> String? {
    for side in [left, right] where side != .text && side != .any {
      return
        "\(comparison.rawValue) compares texts, and this is \(side.name); use another operator."
    }
    return nil
  }

  private static func membershipProblem(
    collection: Kind, _ comparison: ComparisonOperator, element: Kind
  ) -> String? {
    if collection.isList || collection == .any { return nil }
    guard collection == .text else {
      return "\(comparison.rawValue) looks into lists and texts, and this is \(collection.name); "
        + "use another operator."
    }
    guard element == .text || element == .any else {
      return "\(comparison.rawValue) looks for a text in a text, and this is \(element.name); "
        + "use another operator."
    }
    return nil
  }
}

extension BoundExpression {
  /// Whether part of the expression stands outside the tree.
  fileprivate var hasArguments: Bool {
    switch self {
    case .argument: true
    case .constant, .path: false
    case .list(let elements): elements.contains(where: \.hasArguments)
    }
  }
}
