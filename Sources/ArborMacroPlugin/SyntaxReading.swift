internal import ArborSource
internal import SwiftParser
internal import SwiftSyntax

// Queries on syntax nodes.

extension TokenSyntax {
  /// The identifier without backticks, as in the model.
  var nameWithoutBackticks: String { text.filter { $0 != "`" } }
}

extension AttributeListSyntax.Element {
  /// The attribute, or `nil` for `#if`.
  var attribute: AttributeSyntax? { self.as(AttributeSyntax.self) }

  /// The attribute's name without its module, or `nil` for `#if`.
  var markerName: String? {
    guard let name = attribute?.attributeName else { return nil }
    return name.as(MemberTypeSyntax.self)?.name.text
      ?? name.as(IdentifierTypeSyntax.self)?.name.text
  }
}

extension ExprSyntax {
  /// The text of a string literal without interpolations, or `nil` for any other expression.
  var plainText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

  /// Whether the expression is an implicit member or a call of one: `.indexed`, `.bounds(0...9)`.
  var isImplicitMember: Bool {
    if let call = self.as(FunctionCallExprSyntax.self) {
      return call.calledExpression.isImplicitMember
    }
    return self.as(MemberAccessExprSyntax.self).map { $0.base == nil } ?? false
  }

  /// Whether the expression is `nil`, which is equivalent to no initial value.
  var isNil: Bool { self.is(NilLiteralExprSyntax.self) }

  /// The type that the text reveals: that of a literal, `UUID` for `UUID()`, `Rank` for
  /// `Rank.junior`; `nil` for any other expression.
  var writtenType: String? {
    if let type = literalType { return type }
    let named: ExprSyntax? =
      self.as(FunctionCallExprSyntax.self)?.calledExpression
      ?? self.as(MemberAccessExprSyntax.self)?.base
    guard let name = named?.as(DeclReferenceExprSyntax.self)?.baseName.text,
      name.first?.isUppercase ?? false
    else { return nil }
    return name
  }

  /// The default type of a literal, or `nil` for any other expression.
  private var literalType: String? {
    if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
    if self.is(FloatLiteralExprSyntax.self) { return "Double" }
    if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
    if self.is(StringLiteralExprSyntax.self) { return "String" }
    if let negative = self.as(PrefixOperatorExprSyntax.self), negative.operator.text == "-" {
      return negative.expression.literalType
    }
    return nil
  }
}

extension VariableDeclSyntax {
  /// Whether the variable is a static or class variable.
  var isOfType: Bool { hasModifier(.static) || hasModifier(.class) }

  func hasModifier(_ keyword: Keyword) -> Bool {
    modifiers.contains { $0.name.tokenKind == .keyword(keyword) }
  }

  /// The same variables, each declared on a line of its own.
  var oneByOne: MemberBlockItemListSyntax {
    let indentation = leadingTrivia.pieces.reversed().prefix(while: \.isSpaceOrTab).reversed()
    var lines: [MemberBlockItemSyntax] = []
    var type: TypeAnnotationSyntax?
    for var binding in bindings.reversed() {
      binding.trailingComma = nil
      if let own = binding.typeAnnotation {
        type = own.with(\.trailingTrivia, [])
      } else if binding.initializer == nil {
        // In `a, b: Int` the type applies to both.
        binding.typeAnnotation = type
      }
      var single = self
      single.bindings = [binding]
      if lines.count + 1 < bindings.count {
        single.leadingTrivia = Trivia(pieces: [.newlines(1)] + indentation)
      }
      lines.append(MemberBlockItemSyntax(decl: single))
    }
    return MemberBlockItemListSyntax(lines.reversed())
  }
}

extension PatternBindingSyntax {
  /// The kind of a variable's accessor block.
  enum Accessors { case none, observers, computed }

  var accessors: Accessors {
    switch accessorBlock?.accessors {
    case nil: .none
    case .getter: .computed
    case .accessors(let list):
      list.allSatisfy {
        [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
      } ? .observers : .computed
    }
  }
}

extension TypeSyntax {
  /// The kind of relationship that the type represents.
  enum Relating {
    /// A to-one relationship, with the text of the optional type.
    case toOne(String)
    /// A single object, without a question mark.
    case bareToOne
    case toMany(PropertySource.Kind)
    /// An optional collection, with the type of the collection.
    case optionalToMany(TypeSyntax)
    case unknown
  }

  var relating: Relating {
    if let wrapped { return Self.optional(wrapped) }
    if self.is(ArrayTypeSyntax.self) { return .toMany(.orderedToMany) }
    guard let (name, argument) = nameAndArgument else { return .unknown }
    guard let argument else { return .bareToOne }
    switch name {
    case "Optional": return Self.optional(argument)
    case "Set": return .toMany(.toMany)
    case "Array": return .toMany(.orderedToMany)
    case "ToMany": return .toMany(.toManyView)
    default: return .unknown
    }
  }

  /// The wrapped type of an optional written with `?` or `!`, or `nil` for any other type.
  var wrapped: TypeSyntax? {
    self.as(OptionalTypeSyntax.self)?.wrappedType
      ?? self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType
  }

  private static func optional(_ wrapped: TypeSyntax) -> Relating {
    switch wrapped.relating {
    case .bareToOne: .toOne("\(wrapped.trimmedDescription)?")
    case .toMany: .optionalToMany(wrapped)
    default: .unknown
    }
  }

  /// The last name of a nominal type, and its generic argument if it has one. `nil` for any other
  /// type, and for a type with several arguments.
  private var nameAndArgument: (String, TypeSyntax?)? {
    let name: TokenSyntax
    let clause: GenericArgumentClauseSyntax?
    if let type = self.as(IdentifierTypeSyntax.self) {
      (name, clause) = (type.name, type.genericArgumentClause)
    } else if let type = self.as(MemberTypeSyntax.self) {
      (name, clause) = (type.name, type.genericArgumentClause)
    } else {
      return nil
    }
    guard let clause else { return (name.text, nil) }
    guard clause.arguments.count == 1, case .type(let type)? = clause.arguments.first?.argument
    else { return nil }
    return (name.text, type)
  }

  /// The name of the type, or of its wrapped type, if it is a number that no attribute type
  /// supports; `nil` for all other types.
  var unsupportedNumber: String? {
    if let wrapped { return wrapped.unsupportedNumber }
    guard let (name, argument) = nameAndArgument else { return nil }
    if name == "Optional", let argument { return argument.unsupportedNumber }
    return ["Int128", "UInt128", "Float16", "Float80"].contains(name) ? name : nil
  }

  /// Whether the type is a set of strings, numbers or other values of the standard library and
  /// Foundation, which is an attribute like any other codable type. For other sets, the text
  /// doesn't reveal whether the elements are objects.
  var isSetOfScalars: Bool {
    guard case ("Set", let element?)? = nameAndArgument,
      case (let name, nil)? = element.nameAndArgument
    else { return false }
    return [
      "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32",
      "UInt64", "Float", "Double", "Decimal", "Bool", "Date", "UUID", "URL", "Data",
    ].contains(name)
  }

  /// The type in the description of an attribute: an implicitly unwrapped one becomes optional.
  var described: String {
    let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    return optional.map { "\($0.wrappedType.trimmedDescription)?" } ?? trimmedDescription
  }
}
