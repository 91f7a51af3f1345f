import Foundation
import TestLength
import TestSupport
import Testing

/// The product ArborCore, a store without ICU.
@Suite struct CoreProgramTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The libraries of Foundation that are not FoundationEssentials.
  private static let heavy = [
    "libFoundation.so", "libFoundationInternationalization.so", "libFoundationNetworking.so",
    "libFoundationXML.so", "lib_FoundationICU.so",
  ]

  @Test func storesAndFetches() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let outcome = try BuiltProgram("core-hello").run([folder.path("Hello.arbor")])
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(outcome.status == 0 && lines.count == 8, "\(outcome.output)\(outcome.errors)")
    #expect(lines.prefix(2) == ["José 45", "Edsger 28"])
    for line in lines.dropFirst(2) { #expect(line.contains("ArborData"), "\(line)") }
    #expect(
      lines.dropFirst(2).map { String($0.prefix { $0 != ":" }) } == [
        "unsupported", "unsupported", "invalidPredicate", "unsupported", "unsupported",
        "invalidModel",
      ])
  }

  #if os(Linux)
    @Test func linksOnlyFoundationEssentials() throws {
      let libraries = try BuiltProgram(at: URL(filePath: "/usr/bin/env"))
        .run(["ldd", BuiltProgram("core-hello").executable.path]).output
      #expect(libraries.contains("libFoundationEssentials.so"))
      for name in Self.heavy { #expect(!libraries.contains(name), "\(name)") }
    }

    /// Builds the program in release mode without shared libraries of Swift, which takes minutes.
    @Test(.enabled(if: TestLength.isLong)) func aStaticProgramIsSmall() throws {
      let scratch = Self.root.appending(path: ".build/core").path
      let env = BuiltProgram(at: URL(filePath: "/usr/bin/env"))
      let build = try env.run([
        "swift", "build", "--package-path", Self.root.path, "--scratch-path", scratch, "-c",
        "release", "--static-swift-stdlib", "--product", "core-hello",
      ])
      try #require(build.status == 0, "\(build.output)\(build.errors)")
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      let program = folder.path("core-hello")
      let strip = try env.run(["strip", "-o", program, scratch + "/release/core-hello"])
      try #require(strip.status == 0, "\(strip.errors)")
      let size = try FileManager.default.attributesOfItem(atPath: program)[.size] as? Int
      #expect(try #require(size) <= 28_000_000)
      let run = try BuiltProgram(at: URL(filePath: program)).run([folder.path("Hello.arbor")])
      #expect(run.status == 0, "\(run.errors)")
    }
  #endif
}
