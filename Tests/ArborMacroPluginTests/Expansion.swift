import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

@testable import ArborMacroPlugin

/// What the macros make of a source.
struct Expansion {
  /// The source with the macros expanded.
  let text: String
  /// What was found wrong.
  let messages: [String]
  /// What editors offer to write instead.
  let fixes: [String]

  init(of source: String) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "test.swift")])
    let expanded = file.expand(
      macros: [
        "Entity": EntityMacro.self, "EntityProperty": EntityPropertyMacro.self,
        "Attribute": PropertyMarkerMacro.self, "Relationship": PropertyMarkerMacro.self,
        "Transient": PropertyMarkerMacro.self,
      ],
      contextGenerator: { node in
        BasicMacroExpansionContext(
          sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
      },
      indentationWidth: .spaces(2))
    text = expanded.trimmedDescription
    messages = context.diagnostics.map(\.message)
    fixes = context.diagnostics.flatMap(\.fixIts).flatMap(\.changes).map { change in
      if case .replace(_, let new) = change { return new.trimmedDescription }
      return "\(change)"
    }
  }
}
