package import Foundation

/// A program of this package, run by a test as a user runs it.
package struct BuiltProgram: Sendable {
  /// The executable, which the build put beside the tests.
  package let executable: URL

  /// Finds a program by its product's name.
  package init(_ name: String) {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(filePath: CommandLine.arguments[0])
    executable = tests.deletingLastPathComponent().appending(path: name)
  }

  /// A program that the build did not make.
  package init(at executable: URL) { self.executable = executable }

  /// What a run gave back.
  package struct Outcome: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  /// Runs the program to its end.
  ///
  /// - Parameter environment: variables beside those of the test itself.
  package func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Outcome {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Files rather than pipes: a program that writes much cannot block on its reader.
    let files = try ["out", "err"].map { name in
      let url = folder.appending(path: name)
      try Data().write(to: url)
      return (url: url, handle: try FileHandle(forWritingTo: url))
    }
    let status = try StartedProgram(
      executable, arguments, environment: environment, output: .file(files[0].handle),
      errors: .file(files[1].handle)
    ).wait()
    let texts = try files.map { file in
      try file.handle.close()
      return String(decoding: try Data(contentsOf: file.url), as: UTF8.self)
    }
    return Outcome(status: status, output: texts[0], errors: texts[1])
  }
}
