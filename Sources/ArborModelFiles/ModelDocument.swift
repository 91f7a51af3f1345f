public import ArborModel
public import Foundation

/// A model file: the model it holds, what its author should know, and its other versions.
///
/// Reads `.xcdatamodeld` bundles of several versions, single `.xcdatamodel` versions and the JSON
/// form, `.model.json`.
///
/// ```swift
/// let document = try ModelDocument(contentsOf: folder.appending(path: "World.xcdatamodeld"))
/// for warning in document.warnings { print(warning) }
/// let model = document.model
/// ```
public struct ModelDocument: Sendable {
  /// One version of a model in a bundle.
  public struct Version: Sendable, Hashable {
    /// The version's name, without `.xcdatamodel`.
    public let name: String
    /// Where the version lies.
    public let url: URL
  }

  /// The file.
  public let url: URL
  /// The model; of a bundle the current version.
  public let model: ManagedObjectModel
  /// What looks wrong in the file and does not keep it from being used.
  public let warnings: [ArborError]
  /// The versions of a bundle by name, `Model 2` before `Model 10`; empty where the file is none.
  public let versions: [Version]
  /// The version that ``model`` is, of a bundle.
  public let currentVersion: Version?

  /// Reads a model file.
  ///
  /// - Parameter url: A `.xcdatamodeld` or `.xcdatamodel` folder, or a `.model.json` file.
  /// - Throws: ``ArborError`` with code `invalidModel` and every problem as a violation with its
  ///   line, or `fileUnreadable`.
  public init(contentsOf url: URL) throws(ArborError) {
    self.url = url
    guard let kind = ModelFileKind(url) else {
      throw ArborError(
        .invalidArgument,
        "\(url.lastPathComponent) is not a model file. Use a file that ends with .xcdatamodeld, "
          + ".xcdatamodel or .model.json.")
    }
    let document: ManagedObjectModel
    switch kind {
    case .json:
      document = try ManagedObjectModel(json: ModelFileKind.data(at: url), source: url.path)
      (versions, currentVersion, warnings) = ([], nil, [])
    case .version, .contents:
      let result = try Self.readVersion(at: url)
      (document, warnings) = (result.model, result.warnings)
      (versions, currentVersion) = ([], nil)
    case .bundle:
      let bundle = try ModelBundle(at: url)
      let result = try Self.readVersion(at: bundle.current.url)
      (document, warnings) = (result.model, bundle.warnings + result.warnings)
      (versions, currentVersion) = (bundle.versions, bundle.current)
    case .compiled, .mapping:
      throw ArborError(.invalidModel, kind.refusal(of: url.lastPathComponent))
    }
    var model = document
    model.name = ModelFileKind.modelName(of: url)
    self.model = model
  }

  /// The model of a version.
  ///
  /// - Throws: ``ArborError`` with code `unknownName` where the bundle has no such version, or as
  ///   ``init(contentsOf:)`` does.
  public func model(ofVersion name: String) throws(ArborError) -> ManagedObjectModel {
    guard let version = versions.first(where: { $0.name == name }) else {
      throw ArborError(
        .unknownName,
        "\(url.lastPathComponent) has no version \(name)."
          + NearestName.hint(name, in: versions.map(\.name)))
    }
    return try read(version)
  }

  private func read(_ version: Version) throws(ArborError) -> ManagedObjectModel {
    var model = try Self.readVersion(at: version.url).model
    model.name = ModelFileKind.modelName(of: url)
    return model
  }

  /// The model of the version with a fingerprint, or nil where the file has none. Reads version
  /// after version, the current one first, then from the last to the first; versions that cannot be
  /// read are passed over.
  ///
  /// - Throws: ``ArborError`` `invalidModel` with the reason for each version that cannot be read
  ///   as a violation, where no other has the fingerprint.
  public func model(
    withFingerprint fingerprint: ModelFingerprint
  ) throws(ArborError) -> ManagedObjectModel? {
    if model.fingerprint == fingerprint { return model }
    var unreadable: [(version: Version, error: ArborError)] = []
    for version in versions.reversed() where version != currentVersion {
      do throws(ArborError) {
        let model = try read(version)
        if model.fingerprint == fingerprint { return model }
      } catch {
        unreadable.append((version, error))
      }
    }
    guard !unreadable.isEmpty else { return nil }
    let names = unreadable.map(\.version.name).joined(separator: ", ")
    var error = ArborError(
      .invalidModel,
      "No readable version of \(url.lastPathComponent) has the fingerprint, and these versions "
        + "cannot be read: \(names). Restore or correct them.")
    error.violations = unreadable.map(\.error)
    throw error
  }

  private static func readVersion(at url: URL) throws(ArborError) -> ModelXMLReader.Result {
    let contents = url.lastPathComponent == "contents" ? url : url.appending(path: "contents")
    if !FileManager.default.fileExists(atPath: contents.path),
      FileManager.default.fileExists(atPath: url.appending(path: "elements").path)
    {
      throw ArborError(
        .invalidModel,
        "\(url.lastPathComponent) has the binary format of Xcode before 2011. Open and save it "
          + "with a newer Xcode, which writes XML.")
    }
    return try ModelXMLReader.read(ModelFileKind.data(at: contents), source: contents.path)
  }
}

extension ManagedObjectModel {
  /// Reads a model from a file: a `.xcdatamodeld` bundle's current version, a `.xcdatamodel`
  /// version or the JSON form, `.model.json`.
  ///
  /// ``ModelDocument`` tells its warnings and the bundle's other versions too.
  ///
  /// - Throws: ``ArborError`` with code `invalidModel` and every problem as a violation with its
  ///   line, or `fileUnreadable`.
  public init(contentsOf url: URL) throws(ArborError) {
    self = try ModelDocument(contentsOf: url).model
  }
}
