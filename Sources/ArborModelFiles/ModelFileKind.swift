internal import ArborModel
internal import Foundation

/// The format of a model file, determined by its name.
enum ModelFileKind {
  case bundle, version, contents, json
  /// A model compiled by Xcode.
  case compiled
  /// A mapping model between two versions.
  case mapping

  static let versionSuffix = ".xcdatamodel"

  init?(_ url: URL) {
    switch url.pathExtension.lowercased() {
    case "xcdatamodeld": self = .bundle
    case "xcdatamodel": self = .version
    case "json": self = .json
    case "mom", "momd", "omo": self = .compiled
    case "xcmappingmodel": self = .mapping
    default:
      guard url.lastPathComponent == "contents" else { return nil }
      self = .contents
    }
  }

  /// Returns the name of the model in a file: `World` for `World.xcdatamodeld` and
  /// `World.model.json`.
  static func modelName(of url: URL) -> String {
    let file = url.lastPathComponent == "contents" ? url.deletingLastPathComponent() : url
    let name = file.deletingPathExtension()
    return name.pathExtension == "model"
      ? name.deletingPathExtension().lastPathComponent : name.lastPathComponent
  }

  func refusal(of name: String) -> String {
    if case .mapping = self {
      return "\(name) is a mapping model, which is not supported. Migrate with a migration step in "
        + "code."
    }
    return "\(name) is a compiled model, which is not supported. Use its .xcdatamodeld source."
  }

  static func data(at url: URL) throws(ArborError) -> Data {
    do {
      return try Data(contentsOf: url)
    } catch {
      throw ArborError(
        .fileUnreadable,
        "\(url.lastPathComponent) cannot be read. Check that it exists, and check its permissions."
      ).with(underlying: error)
    }
  }
}
