import Foundation
import TestSupport
import Testing

/// The program's help, version and usage messages.
@Suite struct CommandLineTests {
  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test(
    "A misspelled verb suggests the similar one",
    arguments: [
      ("shwo", " Did you mean “show”?"), ("expalin", " Did you mean “explain”?"),
      ("frobnicate", ""),
    ])
  func verbsThatAreMeantAreOffered(_ verb: String, _ offer: String) throws {
    let outcome = try run(verb, "file")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("Error: Unknown verb “\(verb)”.\(offer)\n"))
  }

  @Test("A misspelled option suggests the similar one")
  func optionsThatAreMeantAreOffered() throws {
    let outcome = try run("info", "--jsn", "file")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("Error: Unknown option '--jsn'. Did you mean '--json'?\n"))
  }

  /// The manual page in the repository is up to date. After a change of the help, run `lmdb-inspect
  /// manual > tools/lmdb-inspect/lmdb-inspect.1`.
  @Test("The manual page in the repository agrees with the help")
  func theManualPageIsThatOfTheHelp() throws {
    let page = try run("manual").output
    let kept = try String(
      contentsOf: Self.root.appending(path: "tools/lmdb-inspect/lmdb-inspect.1"), encoding: .utf8)
    #expect(page == kept)
    let help = try run("--help").output
    for verb in help.matches(of: /\n {2}([a-z]+) {2,}/).map(\.output.1) where verb != "help" {
      #expect(page.contains("\n.SS \(verb)"), "\(verb)")
    }
    for code in ["0", "1", "2", "64", "74"] {
      #expect(page.contains("\n\\fB\(code)\\fR\n"), "\(code)")
    }
  }

  @Test(
    "The formatter reports no problem in the manual page",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff"), "groff isn't installed"))
  func theFormatterHasNoComplaint() throws {
    let page = Self.root.appending(path: "tools/lmdb-inspect/lmdb-inspect.1").path
    let outcome = try BuiltProgram(at: URL(filePath: "/usr/bin/groff"))
      .run(["-k", "-man", "-Tutf8", "-ww", "-z", page])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
  }
}
