import Foundation

/// The package's files, as used by the tidy rules.
enum SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Returns all Swift source files below the given folders, sorted by path.
  static func swiftFiles(in folders: [String]) -> [SourceFile] {
    sources.filter { source in folders.contains { source.path.hasPrefix($0 + "/") } }
  }

  private static let sources = textFiles.filter { file in
    file.path.hasSuffix(".swift") && !file.path.hasSuffix("/Package.swift")
      // The code of tutorials is documentation.
      && !file.path.contains(".docc/")
  }

  /// All manually written text files: sources, tests, tools, documents, settings. Read and masked
  /// once for all rules.
  static let textFiles: [SourceFile] = {
    let folders = ["Sources", "Tests", "tools", ".ci"].flatMap { files(below: $0) }
    let binary = ["png", "arbor", "mdb"]
    return (folders + ["README.md", "Package.swift", ".gitignore", ".swift-format"])
      .filter { path in !binary.contains { path.hasSuffix("." + $0) } }
      .filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path) }
      .map(file)
  }()

  /// Returns a file by its path in the package, or an empty one if it cannot be read as text.
  static func file(_ path: String) -> SourceFile {
    let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    return SourceFile(path: path, text: text ?? "")
  }

  private static func files(below folder: String) -> [String] {
    guard let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    else { return [] }
    return paths.compactMap { $0 as? String }
      .map { "\(folder)/\($0)" }
      .filter { !$0.contains("/.build") && !$0.hasSuffix("~") && !isFolder($0) }
      .sorted()
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(
      atPath: root.appending(path: path).path, isDirectory: &isFolder)
    return isFolder.boolValue
  }
}

/// A file, as text and as code without comments and literals.
struct SourceFile: Sendable {
  /// The path relative to the package's folder.
  let path: String
  /// The complete text.
  let text: String
  /// The code of a Swift file, with comments and string literals replaced by spaces.
  let code: String

  init(path: String, text: String) {
    self.path = path
    self.text = text
    code = path.hasSuffix(".swift") ? CodeMask.blank(text) : ""
  }

  /// The lines of the text, without line breaks.
  var lines: [Substring] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// The file name without folder and extensions.
  var stem: String {
    let name = path.split(separator: "/").last ?? ""
    return String(name.prefix { $0 != "." })
  }

  /// The target, which is the name of the folder in `Sources`, `Tests`, `Tests/Programs` or
  /// `tools`.
  var target: String {
    let parts = path.split(separator: "/")
    if parts.count > 3, parts[1] == "benchmarks" { return "arborbench" }
    if parts.count > 3, parts[1] == "Programs" { return String(parts[2]) }
    return parts.count > 2 ? String(parts[1]) : ""
  }
}
