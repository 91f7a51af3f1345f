package import Foundation

/// An executable that a test runs the way a user would.
package struct BuiltProgram: Sendable {
  /// The executable, which the build places next to the test bundle.
  package let executable: URL

  /// Locates an executable product of this package by name.
  package init(_ name: String) {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(filePath: CommandLine.arguments[0])
    executable = tests.deletingLastPathComponent().appending(path: name)
  }

  /// Uses an executable that isn't a product of this package.
  package init(at executable: URL) { self.executable = executable }

  /// The result of a run.
  package struct Outcome: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  /// Runs the program and waits until it exits.
  ///
  /// - Parameter environment: Variables to add to the environment of the test process.
  package func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Outcome {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Files rather than pipes: a full pipe would block a program that writes a lot.
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
