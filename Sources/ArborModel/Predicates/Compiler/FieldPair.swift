internal import ArborFoundation

/// A locator of the record and the field at the end of a path to an attribute.
struct FieldLocator {
  private let chain: HopChain
  private let locations: FieldLocations
  /// The field, or `nil` if it belongs to an object at the end of a relationship.
  let ownField: RecordField?

  struct Located {
    let record: RecordView
    let field: RecordField
  }

  /// Whether the value may be stored outside the record.
  var isExternal: Bool { ownField?.isExternal ?? locations.isExternal }

  /// Returns the value at the end of the path, loading it if it is stored outside the record.
  func value(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: (any RecordResolver)?
  ) -> PropertyValue {
    guard let object = chain.object(record, number, resolver),
      let field = ownField ?? locations[object.number]
    else { return .null }
    return object.record.value(field, of: object.number, from: resolver)
  }

  init(_ path: BoundPath, _ attribute: AttributeSchema, _ compilation: PredicateCompilation) {
    chain = compilation.chain(path.scope, path.hops)
    locations = FieldLocations(chain.family) { $0.attributes[attribute.slot].field }
    ownField = chain.isCandidate ? compilation.entity.attributes[attribute.slot].field : nil
  }

  @inline(__always)
  func locate(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: (any RecordResolver)?
  ) -> Located? {
    if let ownField { return Located(record: record, field: ownField) }
    guard let object = chain.object(record, number, resolver), let field = locations[object.number]
    else { return nil }
    return Located(record: object.record, field: field)
  }
}

/// Comparison of two attributes without creating values.
extension PredicateCompilation {
  /// Returns the code for a comparison of two attributes, or `nil` if their kinds cannot be
  /// compared in the same form.
  func fieldPair(_ comparison: BoundComparison) -> CompiledNode? {
    guard case .path(let left) = comparison.left, case .path(let right) = comparison.right,
      case .attribute(let leftAttribute) = left.leaf,
      case .attribute(let rightAttribute) = right.leaf, !leftAttribute.field.isExternal,
      !rightAttribute.field.isExternal, comparison.comparison.isOfOrders
    else { return nil }
    let test = comparison.comparison
    let isPlain = comparison.options.folding.isEmpty && !comparison.options.contains(.localized)
    let first = FieldLocator(left, leftAttribute, self)
    let second = FieldLocator(right, rightAttribute, self)
    let cost = left.hops.isEmpty && right.hops.isEmpty ? 2 : 100
    let (one, other) = (leftAttribute.field.kind, rightAttribute.field.kind)
    if one.isWhole, other.isWhole {
      return .code(
        cost: cost, test.code(first, second) { Ordering($0.wholeNumber, $1.wholeNumber) })
    }
    if (one.isReal && other.isReal) || (one.isDate && other.isDate) {
      return .code(cost: cost, test.code(first, second) { Ordering($0.realNumber, $1.realNumber) })
    }
    if one.isWhole, other.isReal {
      return .code(
        cost: cost,
        test.code(first, second) { NumberOrdering.compare($0.wholeNumber, $1.realNumber) })
    }
    if one.isReal, other.isWhole {
      return .code(
        cost: cost,
        test.code(first, second) { NumberOrdering.compare($1.wholeNumber, $0.realNumber).reversed })
    }
    // The work of comparing bytes depends on their number.
    guard !environment.chargesWork, one.isOrderedBytes(isPlain: isPlain),
      other.isOrderedBytes(isPlain: isPlain),
      one.rawValue == other.rawValue
    else { return nil }
    return .code(
      cost: cost + 2,
      test.code(first, second) {
        Ordering(bytes: $0.record.bytes($0.field), $1.record.bytes($1.field))
      })
  }
}

extension ComparisonOperator {
  /// Returns the code for a comparison of two nullable fields.
  @inline(__always)
  fileprivate func code(
    _ left: FieldLocator, _ right: FieldLocator,
    _ order: @escaping (FieldLocator.Located, FieldLocator.Located) -> Ordering
  ) -> CompiledPredicate {
    if let first = left.ownField, let second = right.ownField {
      return { record, _, _ in
        let (isFirstNil, isSecondNil) = (record.isNull(first), record.isNull(second))
        if isFirstNil || isSecondNil {
          return accepts(isFirstNil, isSecondNil, .equal)
        }
        return accepts(
          order(
            FieldLocator.Located(record: record, field: first),
            FieldLocator.Located(record: record, field: second)))
      }
    }
    return { record, number, resolver in
      let first = left.locate(record, number, resolver)
      let second = right.locate(record, number, resolver)
      guard let first, let second, !first.isNil, !second.isNil else {
        return accepts(first?.isNil ?? true, second?.isNil ?? true, .equal)
      }
      return accepts(order(first, second))
    }
  }
}

extension FieldLocator.Located {
  @inline(__always)
  fileprivate var isNil: Bool { record.isNull(field) }

  /// The value of an integer or Boolean field.
  @inline(__always)
  fileprivate var wholeNumber: Int64 {
    switch field.kind {
    case .boolean: record.load(field, as: UInt8.self) == 0 ? 0 : 1
    case .int16: Int64(record.load(field, as: Int16.self))
    case .int32: Int64(record.load(field, as: Int32.self))
    default: record.load(field, as: Int64.self)
    }
  }

  /// The value of a floating-point or date field.
  @inline(__always)
  fileprivate var realNumber: Double {
    if case .float = field.kind { return Double(record.load(field, as: Float.self)) }
    return record.load(field, as: Double.self)
  }
}

extension FieldKind {
  fileprivate var isWhole: Bool { form.isWhole }
  fileprivate var isDate: Bool { self == .date }
  fileprivate var isReal: Bool { form == .real && !isDate }

  /// Returns whether the bytes have the same equality and order as the values.
  fileprivate func isOrderedBytes(isPlain: Bool) -> Bool {
    self != .json && (form == .decimal || (form == .text && (isPlain || self != .string)))
  }
}
