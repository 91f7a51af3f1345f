/// What is done for a field, whatever its kind is.
package protocol StoredKindVisitor {
  associatedtype Result
  mutating func visit<Kind: StoredKind>(_ kind: Kind.Type) -> Result
}

extension FieldKind {
  /// Calls a visitor with the kind, whose code is specialized for it.
  @inline(__always)
  package func visit<Visitor: StoredKindVisitor>(_ visitor: inout Visitor) -> Visitor.Result {
    switch self {
    case .boolean: visitor.visit(BooleanKind.self)
    case .int16: visitor.visit(Int16Kind.self)
    case .int32: visitor.visit(Int32Kind.self)
    case .int64: visitor.visit(Int64Kind.self)
    case .float: visitor.visit(FloatKind.self)
    case .double: visitor.visit(DoubleKind.self)
    case .date: visitor.visit(DateKind.self)
    case .uuid: visitor.visit(UUIDKind.self)
    case .reference: visitor.visit(ReferenceKind.self)
    case .string: visitor.visit(StringKind.self)
    case .binary: visitor.visit(BinaryKind.self)
    case .decimal: visitor.visit(DecimalKind.self)
    case .uri: visitor.visit(URIKind.self)
    case .tagged: visitor.visit(UndefinedKind.self)
    }
  }

  package var stored: any StoredKind.Type {
    var kind = TheKind()
    return visit(&kind)
  }

  /// The bytes a field of this kind takes in the fixed part of a record.
  package var width: Int {
    var width = SlotWidth()
    return visit(&width)
  }

  package var form: StorageForm {
    var form = TheForm()
    return visit(&form)
  }

  /// Whether every value of this kind is read as one of another kind.
  package func converts(to other: FieldKind) -> Bool {
    other == .tagged || stored.wider.contains(other) || stored.readAs.contains(other)
  }
}

private struct TheKind: StoredKindVisitor {
  func visit<Kind: StoredKind>(_ kind: Kind.Type) -> any StoredKind.Type { kind }
}

private struct TheForm: StoredKindVisitor {
  func visit<Kind: StoredKind>(_ kind: Kind.Type) -> StorageForm { Kind.form }
}

private struct SlotWidth: StoredKindVisitor {
  func visit<Kind: StoredKind>(_ kind: Kind.Type) -> Int { MemoryLayout<Kind.Slot>.size }
}

extension ValueKind {
  package init(_ field: FieldKind) { self = field.stored.valueKind }
}
