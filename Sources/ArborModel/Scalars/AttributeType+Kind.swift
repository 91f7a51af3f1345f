extension AttributeType {
  /// The kinds of all types, in the order in which messages name them.
  package static let kinds: [any AttributeKind.Type] = [
    Int16Kind.self, Int32Kind.self, Int64Kind.self, BooleanKind.self, FloatKind.self,
    DoubleKind.self, DecimalKind.self, StringKind.self, DateKind.self, BinaryKind.self,
    UUIDKind.self, URIKind.self, UndefinedKind.self, TransformableKind.self, CompositeKind.self,
  ]

  package var kind: any AttributeKind.Type {
    switch self {
    case .integer16: Int16Kind.self
    case .integer32: Int32Kind.self
    case .integer64: Int64Kind.self
    case .boolean: BooleanKind.self
    case .float: FloatKind.self
    case .double: DoubleKind.self
    case .decimal: DecimalKind.self
    case .string: StringKind.self
    case .date: DateKind.self
    case .binary: BinaryKind.self
    case .uuid: UUIDKind.self
    case .uri: URIKind.self
    case .transformable: TransformableKind.self
    case .composite: CompositeKind.self
    case .undefined: UndefinedKind.self
    }
  }

  /// The value in the form that an attribute of this type keeps, or nil where it does not fit.
  ///
  /// A literal in code does not know the attribute it is for: `0` is whole although the attribute
  /// is a `double`, and a UUID is written as text. Nothing is rounded but a `float`, which has 32
  /// bits.
  package func fitting(_ value: Value) -> Value? { kind.fitting(value) }

  /// A value as one of this type, where that holds it: converted there and back it is the same.
  package func exactly(_ value: Value) -> Value? { kind.exactly(value) }

  /// What fits the type, for messages: `a whole number from -32768 to 32767`.
  package var expectation: String { kind.expectation }

  /// The type of an attribute's bounds, nil where it knows none. A text is bounded by its length.
  package var boundType: AttributeType? { kind.boundType }
}

extension FieldKind {
  package init(_ type: AttributeType) { self = type.kind.field }
}
