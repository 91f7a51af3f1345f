import ArborJSON
import ArborModel
import Foundation

/// Where a document of a seed lies.
enum SeedSource {
  /// In a folder, with the way from the folder to it.
  case file(SeedFolder, way: [String])
  case remote(URL)

  /// A document, whatever its names are.
  enum Identity: Hashable {
    case file(SeedFile.Identity)
    case remote(String)
  }

  /// The path or the URL, as errors name it.
  var name: String {
    switch self {
    case .file(let folder, let way): folder.path(of: way)
    case .remote(let url): url.absoluteString
    }
  }

  var url: URL {
    switch self {
    case .file: URL(filePath: name)
    case .remote(let url): url
    }
  }

  /// Whether the document's name says that it holds one document a line.
  var isNamedLines: Bool { ["ndjson", "jsonl"].contains(url.pathExtension.lowercased()) }
}

/// The text of a document: one JSON object, or in a file of lines one on each.
enum SeedText {
  /// The documents of a text, scanned.
  ///
  /// - Parameters:
  ///   - data: The text, which is copied; a caller that gives it away has it in memory once.
  ///   - isLines: Whether each line is a document; blank ones are none.
  static func roots(
    _ data: consuming Data, source: String, isLines: Bool, limits: JSONLimits,
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
