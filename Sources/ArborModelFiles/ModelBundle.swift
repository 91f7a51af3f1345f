internal import ArborModel
internal import Foundation

/// The contents of a `.xcdatamodeld` folder: its versions, the current one, and warnings.
struct ModelBundle {
  let versions: [ModelDocument.Version]
  let current: ModelDocument.Version
  let warnings: [ArborError]

  static let markName = ".xccurrentversion"
  static let markKey = "_XCCurrentVersionName"

  init(at url: URL) throws(ArborError) {
    let bundle = url.lastPathComponent
    versions = try Self.versions(in: url)
    guard let first = versions.first else {
      throw ArborError(
        .invalidModel, "The model bundle \(bundle) contains no .xcdatamodel version. Restore one.")
    }
    if let marked = try Self.markedVersion(of: url) {
      let name =
        marked.hasSuffix(ModelFileKind.versionSuffix)
        ? String(marked.dropLast(ModelFileKind.versionSuffix.count)) : marked
      guard let version = versions.first(where: { $0.name == name }) else {
        throw ArborError(
          .invalidModel,
          "The model bundle \(bundle) marks \(marked) as current, but doesn't contain it. Restore "
            + "that version, or mark another version as current in \(Self.markName)."
            + NearestName.hint(name, in: versions.map(\.name)))
      }
      (current, warnings) = (version, [])
    } else {
      current = first
      let isAmbiguous = versions.count > 1
      warnings =
        isAmbiguous
        ? [
          ArborError(
            .invalidModel,
            "The model bundle \(bundle) marks none of its \(versions.count) versions as current, "
              + "so \(first.name), the first by name, is used. Mark one version as current in "
              + "\(Self.markName).")
        ] : []
    }
  }

  private static func versions(in url: URL) throws(ArborError) -> [ModelDocument.Version] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw ArborError(
        .fileUnreadable,
        "The model bundle \(url.lastPathComponent) cannot be read. Check that it is a folder, and "
          + "check its permissions."
      ).with(underlying: error)
    }
    // Archives created on a Mac contain a `._X.xcdatamodel` file with Finder attributes next to
    // each version.
    return names.filter { $0.hasSuffix(ModelFileKind.versionSuffix) && !$0.hasPrefix(".") }.map {
      .init(
        name: String($0.dropLast(ModelFileKind.versionSuffix.count)), url: url.appending(path: $0))
    }.sorted { precedes($0.name, $1.name) }
  }

  /// Returns the contents of the file that marks a version as current.
  static func mark(_ version: String) -> Data {
    let name = version.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>\(markKey)</key>
      \t<string>\(name)</string>
      </dict>
      </plist>

      """
    return Data(text.utf8)
  }

  /// Returns the name of the version that is marked as current, or `nil` if none is.
  private static func markedVersion(of url: URL) throws(ArborError) -> String? {
    let mark = url.appending(path: markName)
    guard FileManager.default.fileExists(atPath: mark.path) else { return nil }
    let data = try ModelFileKind.data(at: mark)
    let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
    guard let entries = list as? [String: Any] else {
      throw ArborError(
        .invalidModel,
        "\(markName) of \(url.lastPathComponent) is not a property list with a dictionary. Restore "
          + "the file, or remove it if the bundle has a single version.")
    }
    // Editors write an empty dictionary for a bundle with a single version.
    guard let entry = entries[markKey] else { return nil }
    guard let name = entry as? String else {
      throw ArborError(
        .invalidModel,
        "\(markName) of \(url.lastPathComponent) has no string for \(markKey). Restore the file, "
          + "or remove it if the bundle has a single version.")
    }
    return name.isEmpty ? nil : name
  }

  /// Returns whether the name of one version sorts before that of another. Digits are compared
  /// numerically, so that `Model 2` sorts before `Model 10`.
  static func precedes(_ left: String, _ right: String) -> Bool {
    switch left.compare(right, options: [.numeric, .caseInsensitive]) {
    case .orderedAscending: true
    case .orderedDescending: false
    case .orderedSame: left < right
    }
  }
}
