internal import ArborFoundation

/// Comparisons of computed numbers.
extension PredicateCompilation {
  /// Returns the code for a comparison in which at least one operand is computed from numbers or
  /// dates of the candidate, or `nil` if it has no typed form.
  func numbers(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode? {
    let test = comparison.comparison
    guard test.isOfOrders, hasOneForm(comparison),
      let left = try number(comparison.left), let right = try number(comparison.right)
    else { return nil }
    switch (left, right) {
    case (.whole(let left), .whole(let right)):
      let general = left.isPlain && right.isPlain ? nil : try compileValues(comparison).closure
      return .code(cost: 5, test.code(left, right, general))
    case (.real(let left, let isDate), .real(let right, let isOtherDate)):
      guard isDate == isOtherDate else { return nil }
      return .code(cost: 5, test.code(left, right))
    case (.whole(let left), .real(let right, false)) where left.isPlain:
      return .code(cost: 5, test.code(left, right))
    case (.real(let left, false), .whole(let right)) where right.isPlain:
      return .code(cost: 5, (test.mirrored ?? test).code(right, left))
    default: return nil
    }
  }

  /// Returns whether compiling the comparison here compiles each predicate in its operands only
  /// once. Compiling nested predicates both here and in the general form would double the work at
  /// every level.
  private func hasOneForm(_ comparison: BoundComparison) -> Bool {
    switch (comparison.left.heldNodes.isEmpty, comparison.right.heldNodes.isEmpty) {
    case (true, true): true
    case (false, true): comparison.left.isPlainCount && isPlainNumber(comparison.right)
    case (true, false): comparison.right.isPlainCount && isPlainNumber(comparison.left)
    case (false, false): comparison.left.isPlainCount && comparison.right.isPlainCount
    }
  }

  /// Returns whether an expression without predicates is a number that can be compared with a count
  /// directly.
  private func isPlainNumber(_ expression: BoundExpression) -> Bool {
    switch try? number(expression) {
    case .whole(let code)?: code.isPlain
    case .real(_, let isDate)?: !isDate
    case nil: false
    }
  }

  private func number(_ expression: BoundExpression) throws(ArborError) -> NumberCode? {
    if let value = constant(expression) { return NumberCode(value) }
    switch expression {
    case .path(let path):
      guard path.scope == 0, path.hops.isEmpty, case .attribute(let attribute) = path.leaf else {
        return nil
      }
      return NumberCode(entity.attributes[attribute.slot].field)
    case .call(.count, let operands) where operands.count == 1 && operands[0].isCollection:
      let counter = try counter(operands[0])
      return .whole(
        NumberCode.WholeCode(isPlain: true) { record, number, resolver in
          WholeNumber(Int64(counter(record, number, resolver, .max)))
        })
    case .call(.negate, let operands) where operands.count == 1:
      guard case .whole(let code)? = try number(operands[0]) else { return nil }
      let zero = NumberCode.WholeCode(isPlain: true) { _, _, _ in WholeNumber(0) }
      return NumberCode(.subtract, .whole(zero), .whole(code))
    case .call(let function, let operands) where operands.count == 2:
      switch function {
      case .add, .subtract, .multiply, .divide, .modulus: break
      default: return nil
      }
      guard let left = try number(operands[0]), let right = try number(operands[1]) else {
        return nil
      }
      return NumberCode(function, left, right)
    default: return nil
    }
  }
}

extension ComparisonOperator {
  /// Returns the code for comparing two numbers that may be `nil`.
  ///
  /// - Parameter general: The general code, for numbers that exceed 64 bits, or `nil` if none can.
  fileprivate func code(
    _ left: NumberCode.WholeCode, _ right: NumberCode.WholeCode, _ general: CompiledPredicate?
  ) -> CompiledPredicate {
    let (left, right) = (left.read, right.read)
    return { record, number, resolver in
      let (first, second) = (left(record, number, resolver), right(record, number, resolver))
      if first.state == .overflow || second.state == .overflow {
        return general?(record, number, resolver) ?? false
      }
      return accepts(
        first.state == .missing, second.state == .missing, Ordering(first.value, second.value))
    }
  }

  fileprivate func code(
    _ left: NumberCode.RealCode, _ right: NumberCode.RealCode
  ) -> CompiledPredicate {
    let (left, right) = (left.read, right.read)
    return { record, number, resolver in
      let (first, second) = (left(record, number, resolver), right(record, number, resolver))
      return accepts(first.isNaN, second.isNaN, Ordering(first, second))
    }
  }

  fileprivate func code(
    _ left: NumberCode.WholeCode, _ right: NumberCode.RealCode
  ) -> CompiledPredicate {
    let (left, right) = (left.read, right.read)
    return { record, number, resolver in
      let (first, second) = (left(record, number, resolver), right(record, number, resolver))
      return accepts(
        first.state == .missing, second.isNaN, NumberOrdering.compare(first.value, second))
    }
  }

  /// Returns the result for two operands that may be `nil`.
  @inline(__always)
  func accepts(_ isLeftNil: Bool, _ isRightNil: Bool, _ order: Ordering) -> Bool {
    if isLeftNil || isRightNil {
      return self == .equal ? isLeftNil && isRightNil : self == .notEqual && isLeftNil != isRightNil
    }
    return accepts(order)
  }
}

extension BoundExpression {
  /// Whether the expression only counts a collection.
  fileprivate var isPlainCount: Bool {
    if case .call(.count, let operands) = self {
      operands.count == 1 && operands[0].isCollection
    } else {
      false
    }
  }
}
