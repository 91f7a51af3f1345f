internal import ArborSource
internal import SwiftDiagnostics
package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// `@Entity`: generates the entity's description and the accessors of its properties.
package struct EntityMacro: MemberMacro, MemberAttributeMacro {
  package static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    var reader = EntityReader(node)
    let source = reader.read(declaration)
    for problem in reader.problems { context.diagnose(problem) }
    return source?.descriptionMembers.map { DeclSyntax(stringLiteral: $0) } ?? []
  }

  package static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) -> [AttributeSyntax] {
    // Problems have been reported when the members were expanded.
    var reader = EntityReader(node)
    guard let variable = member.as(VariableDeclSyntax.self), let source = reader.read(declaration),
      let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier,
      let property = source.properties.first(where: { $0.name == name.nameWithoutBackticks }),
      !variable.isOfType
    else { return [] }
    let accessors = source.accessors(of: property)
    var arguments = "get: \"\(accessors.get)\""
    if let set = accessors.set { arguments += ", set: \"\(set)\"" }
    if let modify = accessors.modify {
      arguments += ", _modify: \"\(modify.joined(separator: "; "))\""
    }
    return [AttributeSyntax(stringLiteral: "@EntityProperty(\(arguments))")]
  }
}

/// `@EntityProperty`: generates the accessors that `@Entity` chose for a property.
package struct EntityPropertyMacro: AccessorMacro {
  package static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    guard case .argumentList(let arguments)? = node.arguments else { return [] }
    return arguments.compactMap { argument in
      guard let label = argument.label?.text, let body = argument.expression.plainText else {
        return nil
      }
      return "\(raw: label) { \(raw: body) }"
    }
  }
}

/// `@Attribute`, `@Relationship` and `@Transient`: read by `@Entity`, without an expansion of their
/// own.
package struct PropertyMarkerMacro: PeerMacro {
  package static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    let marked = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
    let isEntity = marked?.attributes.contains { $0.markerName == "Entity" } ?? false
    if !isEntity {
      let name = node.attributeName.trimmedDescription
      context.diagnose(Diagnostic(node: node, message: EntityProblem.markedOutsideOfEntity(name)))
    }
    return []
  }
}
