internal import Foundation

/// Finds what an index can do for a comparison.
struct IndexableTermMaker {
  let arguments: [Value]
  let environment: PredicateEnvironment

  enum Outcome {
    case never
    case term(IndexableTerm)
  }

  /// The term of a comparison of a property with a constant; `never` where no record fulfils it; nil
  /// where no index helps.
  func term(of comparison: BoundComparison) -> Outcome? {
    let compilation = PredicateConstants(arguments: arguments)
    if case .path(let path) = comparison.left, let value = compilation.value(of: comparison.right) {
      return term(path, comparison.comparison, comparison.options, value)
    }
    if case .path(let path) = comparison.right, let value = compilation.value(of: comparison.left),
      let mirrored = comparison.comparison.mirrored
    {
      return term(path, mirrored, comparison.options, value)
    }
    return nil
  }

  private func term(
    _ path: BoundPath, _ comparison: ComparisonOperator, _ options: ComparisonOptions,
    _ constant: Value
  ) -> Outcome? {
    guard path.hops.isEmpty else { return nil }
    switch path.leaf {
    case .entityName: return nil
    case .object: return objects(.object, comparison, constant)
    case .toOne(let relationship):
      return objects(.toOne(slot: relationship.slot), comparison, constant)
    case .attribute(let attribute):
      guard attribute.field.kind != .tagged else { return nil }
      return self.attribute(attribute, comparison, options, constant)
    }
  }

  // MARK: Objects

  private func objects(
    _ subject: IndexableTerm.Subject, _ comparison: ComparisonOperator, _ constant: Value
  ) -> Outcome? {
    switch (comparison, constant) {
    case (.equal, _): return objects(subject, [constant])
    case (.in, .list(let members)): return objects(subject, members)
    case (.notEqual, .null) where subject != .object: return outcome(subject, .notNil)
    default: return nil
    }
  }

  private func objects(_ subject: IndexableTerm.Subject, _ wanted: [Value]) -> Outcome {
    let numbers = wanted.compactMap { value -> Value? in
      switch value {
      case .null where subject != .object: return .some(.null)
      case .objectID(let id):
        return environment.objectNumber(id).map { .integer(Int64(bitPattern: $0.rawValue)) }
      default: return nil
      }
    }
    return anyOf(subject, numbers)
  }

  // MARK: Attributes

  private func attribute(
    _ attribute: AttributeSchema, _ comparison: ComparisonOperator, _ options: ComparisonOptions,
    _ constant: Value
  ) -> Outcome? {
    let subject = IndexableTerm.Subject.attribute(slot: attribute.slot)
    let kind = attribute.field.kind
    switch (comparison, constant) {
    case (.equal, .null): return outcome(subject, .equals(.null))
    case (.notEqual, .null): return outcome(subject, .notNil)
    case (.notEqual, _): return nil
    default: break
    }
    // Folded and localized texts lie in no order of bytes.
    let isPlain = kind != .string || (options.folding.isEmpty && !options.contains(.localized))
    guard isPlain else { return nil }
    switch (comparison, constant) {
    case (.in, .list(let members)):
      return anyOf(subject, members.compactMap { Self.stored($0, in: kind) })
    case (.in, _): return nil
    case (_, .null): return .never
    case (.equal, _):
      return Self.stored(constant, in: kind).map { outcome(subject, .equals($0)) } ?? .never
    case (.beginsWith, .string(let prefix)):
      return prefix.isEmpty ? .never : outcome(subject, .prefix(prefix))
    case (.like, .string(let pattern)): return like(subject, pattern)
    case (.less, _), (.lessOrEqual, _), (.greater, _), (.greaterOrEqual, _), (.between, _):
      guard let range = IndexRange(comparison, constant, kind: kind) else { return .never }
      return outcome(subject, range.condition)
    default: return nil
    }
  }

  /// A pattern's beginning, up to its first star or question mark.
  private func like(_ subject: IndexableTerm.Subject, _ pattern: String) -> Outcome? {
    let prefix = pattern.unicodeScalars.prefix { !["*", "?", "\\"].contains($0) }
    guard !prefix.isEmpty else { return nil }
    let rest = pattern.unicodeScalars.dropFirst(prefix.count)
    if rest.isEmpty { return outcome(subject, .equals(.string(pattern))) }
    return .term(
      IndexableTerm(
        subject: subject, condition: .prefix(String(String.UnicodeScalarView(prefix))),
        isExact: rest.allSatisfy { $0 == "*" }))
  }

  private func anyOf(_ subject: IndexableTerm.Subject, _ values: [Value]) -> Outcome {
    var sorted: [Value] = []
    for value in values.sorted(by: { Value.compare($0, $1) == .less }) {
      if let last = sorted.last, Value.compare(last, value) == .equal { continue }
      sorted.append(value)
    }
    switch sorted.count {
    case 0: return .never
    case 1: return outcome(subject, .equals(sorted[0]))
    default: return outcome(subject, .anyOf(sorted))
    }
  }

  private func outcome(
    _ subject: IndexableTerm.Subject, _ condition: IndexableTerm.Condition
  ) -> Outcome {
    .term(IndexableTerm(subject: subject, condition: condition, isExact: true))
  }

  /// A constant as a field of a kind holds it; nil where the field cannot hold a value equal to it.
  static func stored(_ constant: Value, in kind: FieldKind) -> Value? {
    if constant.isNull { return .null }
    guard let range = IndexRange(.equal, constant, kind: kind), range.lower == range.upper else {
      return nil
    }
    return range.lower
  }
}

extension IndexableTerm.Condition {
  /// Whatever is not nil.
  fileprivate static let notNil = IndexableTerm.Condition.range(
    lower: .null, isLowerIncluded: false, upper: nil, isUpperIncluded: false)
}
