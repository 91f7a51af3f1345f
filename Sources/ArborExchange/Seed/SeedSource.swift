import ArborJSON
import ArborModel
import Foundation

/// Where a document of a seed lies.
enum SeedSource {
  /// In a folder, with the way from the folder to it.
  case file(SeedFolder, way: [String])
  case remote(URL)
  /// A document in memory, and the folder that its links may reach, if the caller names one.
  case memory(JSONSource, SeedFolder?)

  /// A document, whatever its names are.
  enum Identity: Hashable {
    case file(SeedFile.Identity)
    case remote(String)
    /// By the document's number.
    case memory(Int)
  }

  /// The path or the URL, as errors name it; `nil` for a document in memory that has none.
  var name: String? {
    switch self {
    case .file(let folder, let way): folder.path(of: way)
    case .remote(let url): url.absoluteString
    case .memory(let source, _): source.name
    }
  }

  /// Where the document was read from; `nil` for one in memory.
  var url: URL? {
    switch self {
    case .file(let folder, let way): URL(filePath: folder.path(of: way))
    case .remote(let url): url
    case .memory: nil
    }
  }

  /// Whether the document's name says that it holds one document a line.
  var isNamedLines: Bool {
    let url = url ?? name.map { URL(filePath: $0) }
    return url.map { ["ndjson", "jsonl"].contains($0.pathExtension.lowercased()) } ?? false
  }
}

/// The text of a document: one JSON object, or in a file of lines one on each.
enum SeedText {
  /// The documents of a text, scanned.
  ///
  /// - Parameters:
  ///   - data: The text, which is copied; a caller that gives it away has it in memory once.
  ///   - isLines: Whether each line is a document; blank ones are none.
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
