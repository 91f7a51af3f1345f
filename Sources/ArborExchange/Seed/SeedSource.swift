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
