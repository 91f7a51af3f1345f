internal import ArborModel
internal import Foundation

/// What a file's name says about the form of the model in it.
enum ModelFileKind {
  case bundle, version, contents, json
  /// What Xcode compiles a model to.
  case compiled
  /// A hand-made mapping between two versions.
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

  /// The name of the model in a file: `World` of `World.xcdatamodeld` and of `World.model.json`.
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
