import ArborModel
import Foundation
import TestSupport
import Testing

/// A host name whose lookup never ends. The system's resolver has no timeout for it.
@Suite("A host name whose lookup never ends", .enabled(if: hasOwnResolver))
struct HangingResolverTests {
  @Test("A lookup that never ends is reported as an error", .timeLimit(.minutes(40)))
  func itEndsInAnErrorThatSaysSo() throws {
    let folder = try TemporaryFolder()
    let errors = URL(filePath: folder.path("errors"))
    try Data().write(to: errors)
    let host = "hangs.invalid"
    let program = try StartedProgram(
      BuiltProgram("log-writer").executable,
      [folder.path("store.arbor"), "host=\(host) user=ada dbname=arbor", "writer", "1"],
      environment: ["ARBOR_FAULTS_RESOLVER": host, "SWIFT_BACKTRACE": "enable=no"],
      errors: .file(FileHandle(forWritingTo: errors)))
    #expect(program.wait() == 0)
    let lines = try String(contentsOf: errors, encoding: .utf8).split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines {
      #expect(
        line == "logUnavailable: The log main in PostgreSQL database arbor on \(host) could not be "
          + "reached within 5.0 seconds: the server's name was not resolved in time. Try again "
          + "when its server is available.")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left == ["errors"], "Nobody knows the store, so there is no file.")
  }
}

/// Whether the system resolver is used. Sanitizers replace its calls; see tools/test.
private let hasOwnResolver: Bool = {
  let variables = ProcessInfo.processInfo.environment
  #if os(Linux)
    return variables["ASAN_OPTIONS"] == nil && variables["TSAN_OPTIONS"] == nil
  #else
    return false
  #endif
}()
