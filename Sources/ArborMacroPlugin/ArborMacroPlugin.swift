internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

/// The program that the compiler asks for expansions.
@main struct ArborMacroPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    EntityMacro.self, EntityPropertyMacro.self, PropertyMarkerMacro.self,
  ]
}
