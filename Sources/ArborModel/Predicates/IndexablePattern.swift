internal import ArborFoundation

/// A comparison of a property of the fetched entity with a constant. Once the constant is known, an
/// index can evaluate it.
struct IndexablePattern: Sendable {
  private let subject: IndexableTerm.Subject
  /// The kind of the attribute's field, or `.reference` for objects.
  private let kind: FieldKind
  private let comparison: ComparisonOperator
  private let options: ComparisonOptions
  private let constant: BoundExpression
  /// Whether a date, UUID, URI or binary constant stands for its JSON form.
  private var matchesJSONForm = false

  /// The result for a constant: a term, or a condition that no record satisfies.
  enum Outcome {
    case never
    case term(IndexableTerm)
  }

  /// Creates the pattern of a comparison, with the constant on either side. Returns `nil` if no
  /// index can be used.
  init?(_ comparison: BoundComparison) {
    if let membership = Self.membership(comparison) {
      self = membership
    } else if case .path(let path) = comparison.left, comparison.right.isConstant {
      self.init(path, comparison.comparison, comparison.options, comparison.right)
    } else if case .path(let path) = comparison.right, comparison.left.isConstant,
      let mirrored = comparison.comparison.mirrored
    {
      self.init(path, mirrored, comparison.options, comparison.left)
    } else if case .decoded(let path, let part) = comparison.left, comparison.right.isConstant {
      self.init(path, part, comparison.comparison, comparison.options, comparison.right)
    } else if case .decoded(let path, let part) = comparison.right, comparison.left.isConstant,
      let mirrored = comparison.comparison.mirrored
    {
      self.init(path, part, mirrored, comparison.options, comparison.left)
    } else {
      return nil
    }
  }

  private init?(
    _ path: BoundPath, _ comparison: ComparisonOperator, _ options: ComparisonOptions,
    _ constant: BoundExpression
  ) {
    guard path.scope == 0, path.hops.isEmpty else { return nil }
    switch path.leaf {
    case .entityName: return nil
    case .object:
      subject = .object
      kind = .reference
    case .toOne(let relationship):
      subject = .toOne(slot: relationship.slot)
      kind = .reference
    case .attribute(let attribute):
      guard ![.tagged, .json].contains(attribute.field.kind) else { return nil }
      subject = .attribute(slot: attribute.slot)
      kind = attribute.field.kind
    }
    self.comparison = comparison
    self.options = options
    self.constant = constant
  }

  /// Creates the pattern of a comparison of a part of JSON.
  private init?(
    _ path: BoundPath, _ part: CodablePath, _ comparison: ComparisonOperator,
    _ options: ComparisonOptions, _ constant: BoundExpression
  ) {
    guard path.scope == 0, path.hops.isEmpty, case .attribute(let attribute) = path.leaf,
      let kind = part.fieldKind
    else { return nil }
    self.init(
      subject: .part(slot: attribute.slot, keys: part.keys), kind: kind, comparison: comparison,
      options: options, constant: constant)
  }

  private init(
    subject: IndexableTerm.Subject, kind: FieldKind, comparison: ComparisonOperator,
    options: ComparisonOptions, constant: BoundExpression
  ) {
    self.subject = subject
    self.kind = kind
    self.comparison = comparison
    self.options = options
    self.constant = constant
  }

  /// Returns the pattern of a search for one element of a list in JSON: `list CONTAINS constant`,
  /// `constant IN list` or `ANY list == constant`.
  private static func membership(_ comparison: BoundComparison) -> IndexablePattern? {
    switch (comparison.comparison, comparison.left, comparison.right) {
    case (.contains, let list, let constant), (.in, let constant, let list):
      var pattern = membership(list, constant, comparison.options)
      pattern?.matchesJSONForm = true
      return pattern
    case (.greater, .call(.count, let operands), .constant(.integer(0))):
      guard case .filter(let list, let slot, .comparison(let inner))? = operands.first,
        inner.comparison == .equal, case .slot(let element) = inner.left, element === slot
      else { return nil }
      return membership(list, inner.right, inner.options)
    default: return nil
    }
  }

  private static func membership(
    _ list: BoundExpression, _ constant: BoundExpression, _ options: ComparisonOptions
  ) -> IndexablePattern? {
    guard constant.isConstant, options.isEmpty, let (path, part) = list.jsonPart,
      path.scope == 0, path.hops.isEmpty, case .attribute(let attribute) = path.leaf,
      let kind = part.elementKind
    else { return nil }
    return IndexablePattern(
      subject: .elements(slot: attribute.slot, keys: part.keys), kind: kind, comparison: .equal,
      options: [], constant: constant)
  }

  /// Returns the outcome for the constant's value, or `nil` if no index can be used.
  func outcome(arguments: [PropertyValue], environment: PredicateEnvironment) -> Outcome? {
    guard
      let value = PredicateConstants(arguments: arguments, now: environment.now).value(of: constant)
    else {
      return nil
    }
    if case .elements = subject {
      // An index has no entry for a missing list or a null element.
      if value.isNull { return nil }
      return attribute(matchesJSONForm ? value.jsonScalar ?? value : value)
    }
    return kind == .reference ? objects(value, environment) : attribute(value)
  }

  // MARK: Objects

  private func objects(_ constant: PropertyValue, _ environment: PredicateEnvironment) -> Outcome? {
    switch (comparison, constant) {
    case (.equal, _): return objects(among: [constant], environment)
    case (.in, .list(let members)): return objects(among: members, environment)
    case (.notEqual, .null) where subject != .object: return exactly(.notNil)
    default: return nil
    }
  }

  private func objects(among wanted: [PropertyValue], _ environment: PredicateEnvironment)
    -> Outcome
  {
    anyOf(
      wanted.compactMap { value in
        switch value {
        case .null where subject != .object: return .some(.null)
        case .objectID(let id):
          return environment.objectNumber(id).map { .integer(Int64(bitPattern: $0.rawValue)) }
        default: return PropertyValue?.none
        }
      })
  }

  // MARK: Attributes

  private func attribute(_ constant: PropertyValue) -> Outcome? {
    switch (comparison, constant) {
    case (.equal, .null): return exactly(.equals(.null))
    case (.notEqual, .null): return exactly(.notNil)
    case (.notEqual, _): return nil
    default: break
    }
    // Localized collation doesn't match the byte order of an index.
    if kind == .string, options.contains(.localized) { return nil }
    let constant = folded(constant)
    switch (comparison, constant) {
    case (.equal, _): return Self.stored(constant, in: kind).map { exactly(.equals($0)) } ?? .never
    case (.in, .list(let members)): return anyOf(members.compactMap { Self.stored($0, in: kind) })
    case (.in, _): return nil
    case (_, .null): return .never
    case (.beginsWith, .string(let prefix)):
      return prefix.isEmpty ? .never : exactly(.prefix(prefix))
    case (.like, .string(let pattern)): return like(pattern)
    case (.tokenMatches, .string(let text)): return words(text, isExact: true)
    case (.contains, .string(let text)):
      return options.contains(.words) ? words(text, isExact: false) : nil
    case (.less, _), (.lessOrEqual, _), (.greater, _), (.greaterOrEqual, _), (.between, _):
      guard let range = IndexRange(comparison, constant, kind: kind) else { return .never }
      return exactly(range.condition)
    default: return nil
    }
  }

  private var folding: StringFolding { kind == .string ? options.folding : [] }

  private func folded(_ constant: PropertyValue) -> PropertyValue {
    guard !folding.isEmpty else { return constant }
    switch constant {
    case .string(let text): return .string(folding.fold(text))
    case .list(let members): return .list(members.map(folded))
    default: return constant
    }
  }

  /// Returns the term for the words of a text, or `nil` if there are none. Words are always
  /// compared in folded form.
  private func words(_ text: String, isExact: Bool) -> Outcome? {
    let tokens = TokenQuery(text).tokens
    guard kind == .string, !tokens.isEmpty else { return nil }
    return .term(IndexableTerm(subject: subject, condition: .words(tokens), isExact: isExact))
  }

  /// Returns a term that matches the part of a pattern before its first wildcard: as a prefix, or
  /// as the entire value if there is no wildcard.
  private func like(_ pattern: String) -> Outcome? {
    let prefix = pattern.unicodeScalars.prefix { !["*", "?", "\\"].contains($0) }
    guard !prefix.isEmpty else { return nil }
    let rest = pattern.unicodeScalars.dropFirst(prefix.count)
    if rest.isEmpty { return exactly(.equals(.string(pattern))) }
    return .term(
      IndexableTerm(
        subject: subject, condition: .prefix(String(String.UnicodeScalarView(prefix))),
        folding: folding, isExact: rest.allSatisfy { $0 == "*" }))
  }

  private func anyOf(_ values: [PropertyValue]) -> Outcome {
    IndexableTerm.Condition.among(values).map(exactly) ?? .never
  }

  private func exactly(_ condition: IndexableTerm.Condition) -> Outcome {
    .term(IndexableTerm(subject: subject, condition: condition, folding: folding, isExact: true))
  }

  /// Returns a constant in the form that a field stores, or `nil` if no value of the field can
  /// equal it.
  static func stored(_ constant: PropertyValue, in kind: FieldKind) -> PropertyValue? {
    switch (kind, constant) {
    case (_, .null), (.string, .string), (.int64, .integer): return constant
    default: break
    }
    guard let range = IndexRange(.equal, constant, kind: kind), range.lower == range.upper else {
      return nil
    }
    return range.lower
  }
}

extension BoundExpression {
  /// The JSON attribute and the part of it that the expression reads, or `nil` for any other
  /// expression.
  fileprivate var jsonPart: (BoundPath, CodablePath)? {
    switch self {
    case .decoded(let path, let part): return (path, part)
    case .path(let path):
      guard case .attribute(let attribute) = path.leaf, attribute.field.kind == .json,
        let whole = try? CodablePath(names: [], of: attribute.description)
      else { return nil }
      return (path, whole)
    default: return nil
    }
  }
}

extension IndexableTerm.Condition {
  fileprivate static let notNil = IndexableTerm.Condition.range(
    lower: .null, isLowerIncluded: false, upper: nil, isUpperIncluded: false)
}
