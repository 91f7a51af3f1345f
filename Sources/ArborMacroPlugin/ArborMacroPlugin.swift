internal import SwiftCompilerPlugin  // No such module? Enable the package's trait "Macros".
internal import SwiftSyntaxMacros

/// The program that the compiler asks for expansions.
@main struct ArborMacroPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    EntityMacro.self, EntityPropertyMacro.self, PropertyMarkerMacro.self,
  ]
}
