import ArborModelFiles
import ArborModel
import Foundation

/// The model files used by tests.
enum ModelFixtures {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")

  static func url(_ name: String) -> URL { folder.appending(path: name) }

  /// Calls `body` with an empty folder that is removed afterwards.
  static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "model-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// Creates a version folder with the given contents.
  static func write(_ contents: String, to version: URL) throws {
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: version.appending(path: "contents"))
  }

  /// Returns the error that reading a model throws.
  static func error(reading url: URL) -> ArborError? {
    do throws(ArborError) {
      _ = try ModelDocument(contentsOf: url)
      return nil
    } catch {
      return error
    }
  }
}
