import ArborFoundation
import ArborJSON
import ArborModel

/// The location of a seed's document.
enum SeedSource {
  /// A file in a folder, with its relative path.
  case file(SeedFolder, way: [String])
  case remote(URL)
  /// A document in memory, with the folder that its links may refer to, if the caller specified
  /// one.
  case memory(JSONSource, SeedFolder?)

  /// The identity of a document, regardless of the paths or URLs that lead to it.
  enum Identity: Hashable {
    case file(SeedFile.Identity)
    case remote(String)
    /// The document's number.
    case memory(Int)
  }

  /// The path or URL for error messages, or `nil` for an unnamed document in memory.
  var name: String? {
    switch self {
    case .file(let folder, let way): folder.path(of: way)
    case .remote(let url): url.absoluteString
    case .memory(let source, _): source.name
    }
  }

  /// The URL the document was read from, or `nil` for a document in memory.
  var url: URL? {
    switch self {
    case .file(let folder, let way): URL(filePath: folder.path(of: way))
    case .remote(let url): url
    case .memory: nil
    }
  }

  /// Whether the document's name indicates that it has one document per line.
  var isNamedLines: Bool {
    let url = url ?? name.map { URL(filePath: $0) }
    return url.map { ["ndjson", "jsonl"].contains($0.pathExtension.lowercased()) } ?? false
  }
}

/// The text of a document: a single JSON object, or one per line.
enum SeedText {
  /// Parses the documents in a text.
  ///
  /// - Parameters:
  ///   - data: The text. Consumed, to avoid keeping two copies in memory.
  ///   - isLines: Whether each line is a document. Blank lines are skipped.
  static func roots(
    _ data: consuming Data, source: String?, isLines: Bool, limits: JSONLimits,
    _ limit: ExchangeLimit
  ) throws(ArborError) -> [JSONNode] {
    guard isLines else {
      return [try JSONDocument(data, source: source, limits: limits, work: limit.work).root]
    }
    var reader = JSONItemReader(
      .data(data), named: source, layout: .lines, limits: limits, work: limit.work)
    var roots: [JSONNode] = []
    while let batch = try reader.next() { roots += batch.items }
    return roots
  }
}

/// The folder to which the links of a seed are restricted.
struct SeedFolder {
  /// The folder's path with symbolic links resolved.
  let path: String
  /// Whether the caller chose the folder. Links may then use `..` inside it.
  private let isChosen: Bool

  /// Creates the folder from a root chosen by the caller.
  init(root: URL) throws(ArborError) {
    self.init(path: try Self.resolved(root), isChosen: true)
  }

  private init(path: String, isChosen: Bool) {
    self.path = path
    self.isChosen = isChosen
  }

  /// Returns the folder for a top-level document, and the relative path of that document.
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
        "The seed \(document.path) is not in the root folder \(rootPath). Set a root folder that "
          + "contains it.")
    }
    let way = parentParts.dropFirst(rootParts.count) + [document.lastPathComponent]
    return (SeedFolder(path: rootPath, isChosen: true), Array(way))
  }

  /// Returns the path from the folder to a linked document.
  ///
  /// - Parameters:
  ///   - link: The value of `seedFile`.
  ///   - name: The text of the value.
  ///   - way: The path of the linking document.
  /// - Throws: ``ArborError`` `notAllowed` if the link leaves the folder, `invalidPath` if it isn't
  ///   a valid file name.
  func way(to name: String, from way: [String], link: JSONNode) throws(ArborError) -> [String] {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw link.error(
        "The seedFile is empty or contains a NUL character. Write a relative "
          + "path.", code: .invalidPath)
    }
    guard !name.hasPrefix("/") else {
      throw link.error(
        "A seedFile must be relative to its document, but this one is absolute. Write a relative "
          + "path.",
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
          "A seedFile must not refer to a file outside the folder of the top-level document. Move "
            + "the file there, or set a root folder in the options.", code: .notAllowed)
      }
      target.removeLast()
    }
    return target
  }

  func path(of way: [String]) -> String { ([path == "/" ? "" : path] + way).joined(separator: "/") }

  private static func resolved(_ folder: URL) throws(ArborError) -> String {
    guard let path = SeedFile.resolved(folder.path) else {
      throw ArborError(
        .fileUnreadable, "The folder \(folder.path) doesn't exist. Create it, or correct its name.")
    }
    return path
  }

  private static func parts(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init)
  }
}
