import Foundation

/// The package's files as the tidy rules see them.
enum SourceTree {
  /// The package's folder.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every Swift file of a target below the folders named, in order of path.
  static func swiftFiles(in folders: [String]) -> [SourceFile] {
    sources.filter { source in folders.contains { source.path.hasPrefix($0 + "/") } }
  }

  private static let sources = textFiles.filter { file in
    file.path.hasSuffix(".swift") && !file.path.hasSuffix("/Package.swift")
      // The steps of tutorials are documents.
      && !file.path.contains(".docc/")
  }

  /// Every text file a person wrote: sources, tests, tools, documents, settings. Read and stripped
  /// once for all rules.
  static let textFiles: [SourceFile] = {
    let folders = ["Sources", "Tests", "tools", ".ci"].flatMap { files(below: $0) }
    let binary = ["png", "arbor", "mdb"]
    return (folders + ["README.md", "Package.swift", ".gitignore", ".swift-format"])
      .filter { path in !binary.contains { path.hasSuffix("." + $0) } }
      .filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path) }
      .map(file)
  }()

  /// One file by its path from the package's folder; an empty one where it cannot be read as text.
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

/// One file, as text and as code without comments and literals.
struct SourceFile: Sendable {
  /// The path from the package's folder.
  let path: String
  /// The whole text.
  let text: String
  /// The code of a Swift file with comments and string literals blanked out, line for line.
  let code: String

  init(path: String, text: String) {
    self.path = path
    self.text = text
    code = path.hasSuffix(".swift") ? CodeMask.blank(text) : ""
  }

  /// The text's lines without their ends.
  var lines: [Substring] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// The file's name without its folder and ending.
  var stem: String {
    let name = path.split(separator: "/").last ?? ""
    return String(name.prefix { $0 != "." })
  }

  /// The name of the target: the folder below `Sources`, `Tests`, `Tests/Programs` or `tools`.
  var target: String {
    let parts = path.split(separator: "/")
    if parts.count > 3, parts[1] == "benchmarks" { return "arborbench" }
    if parts.count > 3, parts[1] == "Programs" { return String(parts[2]) }
    return parts.count > 2 ? String(parts[1]) : ""
  }
}
