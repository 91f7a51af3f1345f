internal import ArborFoundation
internal import ArborModel

// Strings, collections and ranges.

private func contains<Whole: PredicateExpression, Part: PredicateExpression>(
  _ whole: Whole, _ part: Part, _ translation: inout PredicateTranslation
) throws(ArborError) -> TypedTerm {
  let collection = try translation.value(whole)
  let element = try translation.value(part)
  let comparison =
    Whole.Output.self is any StringProtocol.Type
    ? PredicateComparison(collection, .contains, element)
    : PredicateComparison(element, .in, collection)
  return .condition(.comparison(comparison))
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    try contains(sequence, element, &translation)
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslation.unsupported("A part of a collection that is not a string")
    }
    return try contains(base, other, &translation)
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslation.unsupported("A prefix of a collection that is not a string")
    }
    let base = try translation.value(base)
    return .condition(
      .comparison(PredicateComparison(base, .beginsWith, try translation.value(prefix))))
  }
}

// MARK: Conditions on members

/// Returns a condition on members as a quantified comparison, or `nil` if it doesn't compare a
/// member's property with a constant. Query planning looks for this form.
private func quantified(
  _ qualifier: ComparisonQualifier, _ collection: ExpressionNode, _ name: String,
  _ condition: PredicateNode
) -> PredicateNode? {
  guard case .comparison(var comparison) = condition, comparison.qualifier == nil else {
    return nil
  }
  switch comparison.right {
  case .constant, .argument: break
  default: return nil
  }
  guard case .member(.variable(name, _), let path) = comparison.left else { return nil }
  comparison.left = .member(of: collection, path)
  comparison.qualifier = qualifier
  return .comparison(comparison)
}

/// Returns a comparison of the number of members that satisfy a condition.
private func counted(
  _ collection: ExpressionNode, _ name: String, _ condition: PredicateNode,
  _ comparison: ComparisonOperator
) -> PredicateNode {
  let members = ExpressionNode.subquery(collection, variable: name, condition, .none)
  let count = ExpressionNode.member(
    of: members, KeyPathNode([.collectionOperator("@count", .none)]))
  return .comparison(PredicateComparison(count, comparison, .constant(0)))
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let collection = try translation.value(sequence)
    let (name, condition) = try translation.memberCondition(variable.key, test)
    return .condition(
      quantified(.any, collection, name, condition)
        ?? counted(collection, name, condition, .greater))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let collection = try translation.value(sequence)
    let (name, condition) = try translation.memberCondition(variable.key, test)
    return .condition(
      quantified(.all, collection, name, condition)
        ?? counted(collection, name, .not(condition), .equal))
  }
}

extension PredicateExpressions.Filter: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let collection = try translation.value(sequence)
    let (name, condition) = try translation.memberCondition(variable.key, filter)
    return .value(.subquery(collection, variable: name, condition, .none))
  }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(.call(.max, [try translation.value(elements)], .none))
  }
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(.call(.min, [try translation.value(elements)], .none))
  }
}

// MARK: Ranges

/// The bounds of a range, each `nil` if the range is unbounded on that side.
typealias TypedBounds = (lower: ExpressionNode?, upper: ExpressionNode?, includesUpper: Bool)

/// An expression that creates a range.
protocol TranslatableRange {
  func bounds(by translation: inout PredicateTranslation) throws(ArborError) -> TypedBounds
}

extension PredicateExpressions.Range: TranslatableRange {
  func bounds(by translation: inout PredicateTranslation) throws(ArborError) -> TypedBounds {
    let lower = try translation.value(lower)
    return (lower, try translation.value(upper), includesUpper: false)
  }
}

extension PredicateExpressions.ClosedRange: TranslatableRange {
  func bounds(by translation: inout PredicateTranslation) throws(ArborError) -> TypedBounds {
    let lower = try translation.value(lower)
    return (lower, try translation.value(upper), includesUpper: true)
  }
}

extension PredicateExpressions.Value: TranslatableRange {
  func bounds(by translation: inout PredicateTranslation) throws(ArborError) -> TypedBounds {
    guard let range = value as? any CapturedRange else {
      throw PredicateTranslation.unsupported("A captured range of type \(Output.self)")
    }
    let ends = range.ends
    var bounds: TypedBounds = (nil, nil, ends.includesUpper)
    if let lower = ends.lower { bounds.lower = try translation.constant(lower) }
    if let upper = ends.upper { bounds.upper = try translation.constant(upper) }
    return bounds
  }
}

private typealias CapturedEnds = (lower: Any?, upper: Any?, includesUpper: Bool)

private protocol CapturedRange {
  var ends: CapturedEnds { get }
}

extension Range: CapturedRange {
  fileprivate var ends: CapturedEnds { (lowerBound, upperBound, false) }
}

extension ClosedRange: CapturedRange {
  fileprivate var ends: CapturedEnds { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: CapturedRange {
  fileprivate var ends: CapturedEnds { (lowerBound, nil, true) }
}

extension PartialRangeThrough: CapturedRange {
  fileprivate var ends: CapturedEnds { (nil, upperBound, true) }
}

extension PartialRangeUpTo: CapturedRange {
  fileprivate var ends: CapturedEnds { (nil, upperBound, false) }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    guard let range = range as? any TranslatableRange else {
      throw PredicateTranslation.unsupported("The range \(RangeExpression.Output.self)")
    }
    let bounds = try range.bounds(by: &translation)
    let element = try translation.value(element)
    if let lower = bounds.lower, let upper = bounds.upper, bounds.includesUpper {
      let ends = ExpressionNode.aggregate([lower, upper])
      return .condition(.comparison(PredicateComparison(element, .between, ends)))
    }
    var ends: [PredicateNode] = []
    if let lower = bounds.lower {
      ends.append(.comparison(PredicateComparison(element, .greaterOrEqual, lower)))
    }
    if let upper = bounds.upper {
      let comparison: ComparisonOperator = bounds.includesUpper ? .lessOrEqual : .less
      ends.append(.comparison(PredicateComparison(element, comparison, upper)))
    }
    return .condition(.all(ends))
  }
}
