internal import ArborSource
internal import SwiftDiagnostics
internal import SwiftSyntax

/// Reads a class with `@Entity`: the description of its entity, and its problems.
struct EntityReader {
  private let attribute: AttributeSyntax
  private(set) var problems: [Diagnostic] = []

  init(_ attribute: AttributeSyntax) { self.attribute = attribute }

  /// Returns the entity's description, or `nil` if the class cannot be an entity.
  mutating func read(_ declaration: some DeclGroupSyntax) -> EntitySource? {
    guard let declaration = declaration.as(ClassDeclSyntax.self) else {
      report(attribute, .noClass)
      return nil
    }
    guard isEntity(declaration), let superclass = superclass(of: declaration) else { return nil }
    let name = declaration.name.nameWithoutBackticks
    var source = EntitySource(
      className: declaration.name.text, name: name,
      superclass: Self.isRoot(superclass) ? nil : superclass, access: access(of: declaration))
    readArguments(into: &source)
    source.overriddenHooks = Self.hooks.filter {
      Self.overrides($0, in: declaration.memberBlock.members)
    }
    for member in declaration.memberBlock.members { read(member.decl, into: &source) }
    return source
  }

  private mutating func isEntity(_ declaration: ClassDeclSyntax) -> Bool {
    if let clause = declaration.genericParameterClause {
      report(clause, .generic)
      return false
    }
    // By convention, the names of global actors end in "Actor".
    for element in declaration.attributes {
      guard let name = element.markerName, name.hasSuffix("Actor") else { continue }
      report(declaration.name, .onActor(name))
      return false
    }
    return true
  }

  private mutating func superclass(of declaration: ClassDeclSyntax) -> String? {
    if let first = declaration.inheritanceClause?.inheritedTypes.first {
      return first.type.trimmedDescription
    }
    let name = declaration.name
    let inheriting = name.with(\.tokenKind, .identifier("\(name.text): ManagedObject"))
    report(
      name, .noSuperclass(name.text),
      FixIt(
        message: EntityFix(message: "inherit from ManagedObject"),
        changes: [.replace(oldNode: Syntax(name), newNode: Syntax(inheriting))]))
    return nil
  }

  private static func isRoot(_ superclass: String) -> Bool {
    superclass.split(separator: ".").last == "ManagedObject"
  }

  private func access(of declaration: ClassDeclSyntax) -> String {
    for modifier in declaration.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.public), .keyword(.open): return "public "
      case .keyword(.package): return "package "
      default: break
      }
    }
    return ""
  }

  /// The hooks listed in the description; see `OverriddenHooks`.
  private static let hooks = [
    "validate", "importValue", "didImport", "awakeFromFetch", "validateForInsert",
    "validateForUpdate", "validateForDelete",
  ]

  /// Returns whether a class overrides a method, including in branches of `#if`. Extensions cannot
  /// override.
  private static func overrides(_ name: String, in members: MemberBlockItemListSyntax) -> Bool {
    members.contains { member in
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        return condition.clauses.contains { clause in
          guard case .decls(let members)? = clause.elements else { return false }
          return overrides(name, in: members)
        }
      }
      guard let function = member.decl.as(FunctionDeclSyntax.self) else { return false }
      return function.name.nameWithoutBackticks == name
        && function.modifiers.contains { $0.name.tokenKind == .keyword(.override) }
    }
  }

  private mutating func readArguments(into source: inout EntitySource) {
    guard case .argumentList(let arguments)? = attribute.arguments else { return }
    for argument in arguments {
      let text = argument.expression.trimmedDescription
      switch argument.label?.text {
      case nil:
        if let name = argument.expression.plainText {
          source.name = name
        } else {
          report(attribute, .unreadName)
        }
      case "isAbstract": source.facts.isAbstract = text
      case "uniquenessConstraints": source.facts.uniqueness = text
      case "fetchIndexes": source.facts.indexes = text
      case "renamedFrom": source.facts.renamedFrom = text
      case "versionHashModifier": source.facts.versionHashModifier = text
      case "userInfo": source.facts.userInfo = text
      case "fetchedProperties": source.facts.fetchedProperties = text
      default: break
      }
    }
  }

  private mutating func read(_ member: DeclSyntax, into source: inout EntitySource) {
    if let condition = member.as(IfConfigDeclSyntax.self) {
      for clause in condition.clauses {
        guard case .decls(let members)? = clause.elements else { continue }
        for member in members { refuseConditional(member.decl) }
      }
      return
    }
    if let initializer = member.as(InitializerDeclSyntax.self) {
      check(initializer, of: source.name)
      return
    }
    guard let variable = member.as(VariableDeclSyntax.self) else { return }
    var reader = PropertyReader(variable)
    if let property = reader.read() {
      source.properties.append(property)
      if property.options.contains(PropertySource.unique) {
        source.uniqueAttributes.append(property.name)
      }
    }
    problems += reader.problems
  }

  /// Reports initializers other than the inherited one, with which contexts create objects.
  private mutating func check(_ initializer: InitializerDeclSyntax, of name: String) {
    let parameters = initializer.signature.parameterClause.parameters
    let type = parameters.first?.type.trimmedDescription.split(separator: ".").last
    guard parameters.count != 1 || type != "ObjectConstruction" else { return }
    report(initializer.initKeyword, .ownInitializer(name))
  }

  /// Reports properties inside `#if`, which get no accessors.
  private mutating func refuseConditional(_ member: DeclSyntax) {
    guard let variable = member.as(VariableDeclSyntax.self) else { return }
    var reader = PropertyReader(variable)
    if let property = reader.read() { report(variable, .conditional(property.name)) }
  }

  private mutating func report(
    _ node: some SyntaxProtocol, _ problem: EntityProblem, _ fixes: FixIt...
  ) {
    problems.append(Diagnostic(node: node, message: problem, fixIts: fixes))
  }
}
