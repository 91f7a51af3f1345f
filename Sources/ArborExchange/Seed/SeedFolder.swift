import ArborJSON
import ArborModel
import Foundation

/// The folder that the links of a seed may reach.
struct SeedFolder {
  /// The folder's path with symbolic links resolved.
  let path: String
  /// Whether the caller chose the folder; links may then climb with `..` inside it.
  private let isChosen: Bool

  /// The root folder that the caller chose.
  init(root: URL) throws(ArborError) {
    self.init(path: try Self.resolved(root), isChosen: true)
  }

  private init(path: String, isChosen: Bool) {
    self.path = path
    self.isChosen = isChosen
  }

  /// The folder for a top document, and the way from it to that document.
  static func containing(
    _ document: URL, root: URL?
  ) throws(ArborError) -> (folder: SeedFolder, way: [String]) {
    let parent = try resolved(document.deletingLastPathComponent())
    guard let root else {
      return (SeedFolder(path: parent, isChosen: false), [document.lastPathComponent])
    }
    let rootPath = try resolved(root)
    let rootParts = parts(rootPath)
    let parentParts = parts(parent)
    guard parentParts.starts(with: rootParts) else {
      throw ArborError(
        .invalidArgument,
        "The seed \(document.path) does not lie in the root folder \(rootPath); name a root that "
          + "contains it.")
    }
    let way = parentParts.dropFirst(rootParts.count) + [document.lastPathComponent]
    return (SeedFolder(path: rootPath, isChosen: true), Array(way))
  }

  /// The way from the folder to what a document links to.
  ///
  /// - Parameters:
  ///   - link: The value of `seedFile`.
  ///   - name: Its text.
  ///   - way: The way to the linking document.
  /// - Throws: ``ArborError`` `notAllowed` if the link leaves the folder, `invalidPath` if it
  ///   names no file.
  func way(to name: String, from way: [String], link: JSONNode) throws(ArborError) -> [String] {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw link.error(
        "A seedFile names a file; this names none. Write a relative path.", code: .invalidPath)
    }
    guard !name.hasPrefix("/") else {
      throw link.error(
        "A seedFile is relative to its document; this one is absolute. Write a relative path.",
        code: .notAllowed)
    }
    var target = Array(way.dropLast())
    for part in name.split(separator: "/") where part != "." {
      guard part == ".." else {
        target.append(String(part))
        continue
      }
      guard isChosen, !target.isEmpty else {
        throw link.error(
          "A seedFile stays in the folder of the top document; this one leaves it. Move the file, "
            + "or name a root folder in the options.", code: .notAllowed)
      }
      target.removeLast()
    }
    return target
  }

  func path(of way: [String]) -> String { ([path == "/" ? "" : path] + way).joined(separator: "/") }

  private static func resolved(_ folder: URL) throws(ArborError) -> String {
    guard let path = SeedFile.resolved(folder.path) else {
      throw ArborError(
        .fileUnreadable, "There is no folder \(folder.path); make it or correct its name.")
    }
    return path
  }

  private static func parts(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init)
  }
}
