internal import ArborFoundation
internal import ArborModel

// Variables, captured values, key paths, arithmetic and subscripts.

extension PredicateExpressions.Variable: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(try translation.value(of: key))
  }
}

extension PredicateExpressions.Value: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(try translation.constant(value))
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(.constant(.null))
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let base = try translation.value(root)
    if let kind = kind ?? Self.viewed(keyPath) { return try Self.translated(kind, of: base) }
    guard let objectClass = Root.Output.self as? ManagedObject.Type else {
      if let keys = CodableProbe.keys(keyPath) {
        return .value(.member(of: base, KeyPathNode(names: keys)))
      }
      throw PredicateTranslation.unsupported(
        "The key path \(keyPath.words), which reads a part that the store doesn't know "
          + "(enumerations must be CaseIterable),")
    }
    let names = try PathTracer.names(of: keyPath, in: objectClass)
    return .value(.member(of: base, KeyPathNode(names: names)))
  }

  /// Returns the kind of key path of a member view, which behaves like a collection without being
  /// one.
  private static func viewed(_ keyPath: AnyKeyPath) -> CommonKeyPathKind? {
    switch keyPath {
    case (Root.Output.self as? any MemberView.Type)?.countPath: .collectionCount
    case (Root.Output.self as? any MemberView.Type)?.isEmptyPath: .collectionIsEmpty
    default: nil
    }
  }

  private static func translated(
    _ kind: CommonKeyPathKind, of base: ExpressionNode
  ) throws(ArborError) -> TypedTerm {
    let count: ExpressionNode =
      Root.Output.self is any StringProtocol.Type
      ? .call(.length, [base], .none)
      : .member(of: base, KeyPathNode([.collectionOperator("@count", .none)]))
    switch kind {
    case .collectionCount: return .value(count)
    case .collectionIsEmpty:
      return .condition(.comparison(PredicateComparison(count, .equal, .constant(0))))
    case .collectionFirst: return .value(.element(base, .first, .none))
    case .bidirectionalCollectionLast: return .value(.element(base, .last, .none))
    @unknown default: throw PredicateTranslation.unsupported("The key path \(kind)")
    }
  }
}

private func call<Left: PredicateExpression, Right: PredicateExpression>(
  _ function: PredicateFunction, _ left: Left, _ right: Right,
  _ translation: inout PredicateTranslation
) throws(ArborError) -> ExpressionNode {
  let left = try translation.value(left)
  return .call(function, [left, try translation.value(right)], .none)
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let function: PredicateFunction =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw PredicateTranslation.unsupported("The operator \(op)")
      }
    return .value(try call(function, lhs, rhs, &translation))
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(try call(.divide, lhs, rhs, &translation))
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(try call(.divide, lhs, rhs, &translation))
  }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    .value(try call(.modulus, lhs, rhs, &translation))
  }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let value = try translation.value(wrapped)
    return .value(translation.negated(value) ?? .call(.negate, [value], .none))
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    guard Index.Output.self == Int.self else {
      throw PredicateTranslation.unsupported("An index of type \(Index.Output.self)")
    }
    let base = try translation.value(wrapped)
    return .value(.element(base, .at(try translation.value(index)), .none))
  }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
  func translated(by translation: inout PredicateTranslation) throws(ArborError) -> TypedTerm {
    let base = try translation.value(wrapped)
    return .value(.element(base, .at(try translation.value(key)), .none))
  }
}
