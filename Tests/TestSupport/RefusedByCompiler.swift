import Foundation

/// Compiles small programs that use the library, to check that invalid uses are rejected.
///
/// The modules and macros are those that the build placed next to the tests. A run takes about half
/// a second, so independent cases should share one, each on its own line.
///
/// ```swift
/// let problems = try RefusedByCompiler.problems(
///   in: "import ArborData\nfunc f(_ object: ManagedObject) { Task { print(object) } }",
///   followingData: true)
/// #expect(problems.contains { $0.line == 2 && $0.message.contains("data race") })
/// ```
///
/// Each suite should also include a program that compiles. Otherwise, all cases would pass in an
/// environment where no program compiles.
package enum RefusedByCompiler {
  /// A diagnostic of the compiler.
  package struct Problem: Sendable, CustomStringConvertible {
    /// The 1-based line of the program; `nil` for a diagnostic in a macro expansion or library.
    package let line: Int?
    /// `error`, `warning` or `note`.
    package let severity: String
    package let message: String

    package var description: String { "\(line.map(String.init) ?? "?"): \(severity): \(message)" }
  }

  /// Thrown if the compiler failed before it reached the program.
  package struct NotAsked: Error, CustomStringConvertible {
    package let description: String
  }

  /// Returns the compiler's diagnostics for a program in the Swift 6 language mode.
  ///
  /// - Parameters:
  ///   - features: Upcoming features to enable.
  ///   - followingData: Whether to run data-flow analysis as well, which is required to diagnose
  ///     data races. The compiler skips it if type checking fails.
  package static func problems(
    in source: String, features: [String] = [], followingData: Bool = false
  ) throws -> [Problem] {
    var flags = features.flatMap { ["-enable-upcoming-feature", $0] }
    flags += followingData ? ["-emit-sil", "-o", "/dev/null"] : ["-typecheck"]
    return try run(source, flags).split(separator: "\n").compactMap { problem(in: $0) }
  }

  /// Returns the macro expansions of a program by buffer name. A name that ends in `EntityfMm_`
  /// denotes the members that `@Entity` adds.
  package static func expansions(of source: String) throws -> [(name: String, text: String)] {
    let output = try run(source, ["-typecheck", "-Xfrontend", "-dump-macro-expansions"])
    let rule = String(repeating: "-", count: 30)
    let parts = output.components(separatedBy: rule + "\n")
    var expansions: [(name: String, text: String)] = []
    for (head, text) in zip(parts, parts.dropFirst()) {
      guard let name = head.split(separator: "\n").last, name.hasPrefix("@__swiftmacro_") else {
        continue
      }
      expansions.append(
        (String(name.dropLast(".swift".count)), text.trimmingCharacters(in: .newlines)))
    }
    return expansions
  }

  private static func run(_ source: String, _ flags: [String]) throws -> String {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let file = folder.url.appending(path: "\(program).swift")
    try Data(source.utf8).write(to: file)
    let products = BuiltProgram("").executable
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
    var arguments = [
      "swiftc", "-swift-version", "6", "-diagnostic-style", "llvm",
      "-I", products.appending(path: "Modules").path,
      "-module-cache-path", products.appending(path: "ModuleCache").path,
    ]
    arguments += try clientFlags.get()
    for map in ["CArborBits/include", "CLMDB", "CPostgres"] {
      let path = sources.appending(path: map).appending(path: "module.modulemap").path
      arguments += ["-Xcc", "-fmodule-map-file=\(path)"]
    }
    let plugin = products.appending(path: "ArborMacroPlugin-tool").path
    if FileManager.default.fileExists(atPath: plugin) {
      arguments += ["-load-plugin-executable", "\(plugin)#ArborMacroPlugin"]
    }
    let outcome = try BuiltProgram(at: URL(filePath: "/usr/bin/env"))
      .run(arguments + flags + [file.path])
    let output = outcome.output + outcome.errors
    for sign in ["missing required module", "no such module", "could not be found for macro"]
    where output.contains(sign) {
      throw NotAsked(description: "The compiler did not find what the build made:\n\(output)")
    }
    return output
  }

  private static let program = "Program"

  /// The include flags for libpq, whose header some systems keep in a separate directory.
  private static let clientFlags = Result {
    try BuiltProgram(at: URL(filePath: "/usr/bin/env")).run(["pkg-config", "--cflags", "libpq"])
      .output.split(whereSeparator: \.isWhitespace).flatMap { ["-Xcc", String($0)] }
  }

  /// Parses a line such as `…/Program.swift:3:7: error: …`.
  private static func problem(in line: Substring) -> Problem? {
    for severity in ["error", "warning", "note"] {
      guard let mark = line.range(of: ": \(severity): ") else { continue }
      let position = line[..<mark.lowerBound].split(separator: ":")
      let isOwn = position.first?.hasSuffix("\(program).swift") ?? false
      return Problem(
        line: isOwn && position.count > 1 ? Int(position[1]) : nil, severity: severity,
        message: String(line[mark.upperBound...]))
    }
    return nil
  }
}
