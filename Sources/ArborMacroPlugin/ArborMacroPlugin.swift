internal import SwiftCompilerPlugin  // No such module? Enable the package's trait "Macros".
internal import SwiftSyntaxMacros

/// The compiler plugin that expands the macros.
@main struct ArborMacroPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    EntityMacro.self, EntityPropertyMacro.self, PropertyMarkerMacro.self,
  ]
}
