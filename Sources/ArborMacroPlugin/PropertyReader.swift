internal import ArborSource
internal import SwiftDiagnostics
internal import SwiftSyntax

/// Reads a variable of a class with `@Entity`: the property it declares, and its problems.
struct PropertyReader {
  private let variable: VariableDeclSyntax
  private(set) var problems: [Diagnostic] = []

  init(_ variable: VariableDeclSyntax) { self.variable = variable }

  /// Returns the property, or `nil` if the variable declares none or has a problem.
  mutating func read() -> PropertySource? {
    let markers = variable.attributes.filter {
      ["Attribute", "Relationship", "Transient"].contains($0.markerName ?? "")
    }
    guard let binding = variable.bindings.first, isStored(binding, markers.first) else {
      return nil
    }
    guard markers.count < 2 else {
      report(variable, .severalMarkers(binding.pattern.trimmedDescription))
      return nil
    }
    let marker = markers.first
    if marker?.markerName == "Transient" {
      checkTransient()
      return nil
    }
    guard let name = plainName(of: binding), let type = type(of: binding, name) else { return nil }
    return marker?.markerName == "Relationship"
      ? relationship(name, type, binding, marker?.attribute)
      : attribute(name, type, binding, marker?.attribute)
  }

  // MARK: Variables

  /// Returns whether the variable is a stored property. Reports markers on any other variable.
  private mutating func isStored(
    _ binding: PatternBindingSyntax, _ marker: AttributeListSyntax.Element?
  ) -> Bool {
    let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
    let isStored =
      isVariable && !variable.isOfType && !variable.hasModifier(.override)
      && binding.accessors != .computed
    // Reported here, because errors in the expansion would have no location in the source.
    if !isStored, let marker {
      report(variable, .notStored(marker.markerName ?? "", binding.pattern.trimmedDescription))
    }
    return isStored
  }

  private mutating func checkTransient() {
    for binding in variable.bindings where binding.initializer == nil {
      if binding.typeAnnotation?.type.wrapped == nil {
        report(binding, .noInitialValue(binding.pattern.trimmedDescription))
      }
    }
  }

  /// Returns the name of a variable that can be a property, or `nil` if it cannot.
  private mutating func plainName(of binding: PatternBindingSyntax) -> String? {
    guard variable.bindings.count == 1 else {
      report(
        variable, .severalVariables, [fix("split the declaration", variable, variable.oneByOne)])
      return nil
    }
    guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
      report(binding.pattern, .noName)
      return nil
    }
    let name = pattern.identifier.nameWithoutBackticks
    for keyword in [Keyword.lazy, .weak, .unowned] where variable.hasModifier(keyword) {
      report(variable, .modifier("\(keyword)", name))
      return nil
    }
    guard binding.accessors == .none else {
      report(binding.accessorBlock ?? AccessorBlockSyntax(accessors: .getter([])), .observers(name))
      return nil
    }
    guard !reservedPropertyNames.contains(name) else {
      report(pattern, .reservedName(name))
      return nil
    }
    return name
  }

  private mutating func type(of binding: PatternBindingSyntax, _ name: String) -> TypeSyntax? {
    if let type = binding.typeAnnotation?.type { return type }
    var fixes: [FixIt] = []
    if let type = binding.initializer?.value.writtenType {
      var typed = binding
      typed.pattern.trailingTrivia = []
      typed.typeAnnotation = TypeAnnotationSyntax(
        colon: .colonToken(trailingTrivia: .space),
        type: IdentifierTypeSyntax(name: .identifier(type)), trailingTrivia: .space)
      fixes.append(fix("add the type '\(type)'", binding, typed))
    }
    report(binding.pattern, .noType(name), fixes)
    return nil
  }

  // MARK: Attributes

  private mutating func attribute(
    _ name: String, _ type: TypeSyntax, _ binding: PatternBindingSyntax, _ marker: AttributeSyntax?
  ) -> PropertySource? {
    // These types contain nothing but objects, so that they are relationships even without a
    // marker.
    if case .toMany(let kind) = type.relating, [.toMany, .toManyView].contains(kind),
      !type.isSetOfScalars
    {
      report(binding.pattern, .unmarkedRelationship(name))
      return nil
    }
    if let number = type.unsupportedNumber {
      report(type, .unsupportedNumber(name, number))
      return nil
    }
    var property = PropertySource(name, .attribute, type.described)
    for argument in Self.arguments(of: marker) { readOption(argument, into: &property) }
    if let value = binding.initializer?.value, !value.isNil {
      if property.isReadOnly || value.isConstant(of: type) {
        property.defaultValue = value.trimmedDescription
      } else {
        property.initialValue = value.trimmedDescription
      }
    }
    if property.options.contains(where: { $0.hasPrefix(PropertySource.transformable) }) {
      guard property.type.hasSuffix("?"), binding.initializer?.value.isNil ?? true else {
        report(binding, .transformed(name))
        return nil
      }
      property.kind = .transformed
    }
    return property
  }

  // MARK: Relationships

  private mutating func relationship(
    _ name: String, _ type: TypeSyntax, _ binding: PatternBindingSyntax, _ marker: AttributeSyntax?
  ) -> PropertySource? {
    guard var property = relating(name, type, binding) else { return nil }
    if binding.initializer != nil {
      var empty = binding
      empty.initializer = nil
      empty.typeAnnotation?.trailingTrivia = []
      report(
        binding, .relationshipWithValue(name), [fix("remove the initial value", binding, empty)])
      return nil
    }
    for argument in Self.arguments(of: marker) {
      switch argument.label?.text {
      case "inverse": property.inverse = inverse(argument.expression)
      case "deleteRule": property.deleteRule = argument.expression.trimmedDescription
      default: readOption(argument, into: &property)
      }
    }
    return property
  }

  private mutating func relating(
    _ name: String, _ type: TypeSyntax, _ binding: PatternBindingSyntax
  ) -> PropertySource? {
    switch type.relating {
    case .toOne(let described): return PropertySource(name, .toOne, described)
    case .toMany(let kind): return PropertySource(name, kind, type.trimmedDescription)
    case .bareToOne:
      let optional = OptionalTypeSyntax(wrappedType: type.trimmed)
        .with(\.trailingTrivia, type.trailingTrivia)
      report(
        binding, .bareToOne(name, type.trimmedDescription),
        [fix("make it optional", type, optional)])
    case .optionalToMany(let collection):
      let plain = collection.trimmed.with(\.trailingTrivia, type.trailingTrivia)
      report(binding, .optionalToMany(name), [fix("make it non-optional", type, plain)])
    case .unknown: report(type, .unknownRelationship(name))
    }
    return nil
  }

  /// Returns the name of the inverse relationship, or `nil` for none.
  private mutating func inverse(_ expression: ExprSyntax) -> String? {
    if let name = expression.plainText { return name.filter { $0 != "`" } }
    if !expression.is(NilLiteralExprSyntax.self) { report(variable, .unreadInverse) }
    return nil
  }

  // MARK: Arguments

  private static func arguments(of marker: AttributeSyntax?) -> [LabeledExprSyntax] {
    guard case .argumentList(let arguments)? = marker?.arguments else { return [] }
    return Array(arguments)
  }

  private mutating func readOption(
    _ argument: LabeledExprSyntax, into property: inout PropertySource
  ) {
    guard argument.label == nil, argument.expression.isImplicitMember else {
      report(variable, .unreadOption(argument.expression.trimmedDescription))
      return
    }
    property.options.append(argument.expression.trimmedDescription)
  }

  private func fix(
    _ message: String, _ old: some SyntaxProtocol, _ new: some SyntaxProtocol
  ) -> FixIt {
    FixIt(
      message: EntityFix(message: message),
      changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
  }

  private mutating func report(
    _ node: some SyntaxProtocol, _ problem: EntityProblem, _ fixes: [FixIt] = []
  ) {
    problems.append(Diagnostic(node: node, message: problem, fixIts: fixes))
  }
}
