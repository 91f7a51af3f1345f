import Foundation
import TestSupport
import Testing

/// The README's code compiles, runs, and does what the text says.
@Suite("The code in the README") struct ReadmeTests {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("Every code block of the README occurs in the tested program")
  func everyBlockStandsInTheProgram() throws {
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let source = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "ReadmeProgram.swift"), encoding: .utf8)
    let program = Self.lines(of: source)
    let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(blocks.count == 3)
    for block in blocks {
      // The folder is the test's own, and imports are at the top of the file.
      let lines = Self.lines(of: block)
        .filter { !$0.hasPrefix("import ") && !$0.hasPrefix("let folder =") }
      let isThere = program.indices.contains { program[$0...].starts(with: lines) }
      #expect(isThere, "not in ReadmeProgram.swift:\n\(block)")
    }
  }

  @Test("The README's program prints what the text says")
  func theProgramPrintsWhatTheTextSays() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let expected = ["Ada 36", "Edsger 28"]
    #expect(try ReadmeProgram.run(in: folder.url) == expected)
    #expect(try ReadmeProgram.run(in: folder.url) == expected.flatMap { [$0, $0] })
    let url = folder.url.appending(path: "Macros.arbor")
    #expect(try ReadmeMacros.run(at: url) == [])
  }

  /// The dependencies that each set of traits adds to a package that uses the library.
  @Test(
    "Without traits, a package resolves no dependency of macros or ArborService",
    arguments: [
      ("[]", ["swift-argument-parser", "swift-log"]),
      ("[\"Macros\"]", ["swift-argument-parser", "swift-log", "swift-syntax"]),
    ])
  func traits(traits: String, packages: [String]) throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription

      let package = Package(
        name: "Program",
        dependencies: [.package(path: "\(Self.root.path(percentEncoded: false))", traits: \(traits))],
        targets: [
          .executableTarget(
            name: "Program",
            dependencies: [
              .product(name: "ArborData", package: "\(Self.root.lastPathComponent)")
            ])
        ])
      """
    try Data(manifest.utf8).write(to: folder.url.appending(path: "Package.swift"))
    let sources = folder.url.appending(path: "Sources/Program")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    try Data("import ArborData\n".utf8).write(to: sources.appending(path: "main.swift"))
    let outcome = try BuiltProgram(at: URL(filePath: "/usr/bin/env"))
      .run(["swift", "package", "--package-path", folder.url.path, "resolve"])
    try #require(outcome.status == 0, "\(outcome.errors)")
    struct Resolved: Decodable {
      struct Pin: Decodable { let identity: String }
      let pins: [Pin]
    }
    let resolved = try JSONDecoder().decode(
      Resolved.self,
      from: Data(contentsOf: folder.url.appending(path: "Package.resolved")))
    #expect(resolved.pins.map(\.identity).sorted() == packages)
  }

  @Test("The README has at most 200 lines")
  func itIsShort() throws {
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
  }

  /// Returns the non-empty lines, without their indentation.
  private static func lines(of text: String) -> [String] {
    text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }
}
