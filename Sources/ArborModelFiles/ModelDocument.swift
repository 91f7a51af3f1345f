public import ArborModel
public import Foundation

/// A model file: the model it contains, its warnings, and its versions.
///
/// Reads `.xcdatamodeld` bundles with several versions, single `.xcdatamodel` versions, and the
/// JSON form, `.model.json`.
///
/// ```swift
/// let document = try ModelDocument(contentsOf: folder.appending(path: "World.xcdatamodeld"))
/// for warning in document.warnings { print(warning) }
/// let model = document.model
/// ```
public struct ModelDocument: Sendable {
  /// A version of a model in a bundle.
  public struct Version: Sendable, Hashable {
    /// The version's name, without `.xcdatamodel`.
    public let name: String
    /// The location of the version.
    public let url: URL
  }

  /// The location of the file.
  public let url: URL
  /// The model. For a bundle, the model of its current version.
  public let model: ManagedObjectModel
  /// The issues in the file that don't prevent the model from being used.
  public let warnings: [ArborError]
  /// The versions of a bundle, sorted by name with `Model 2` before `Model 10`. Empty if the file
  /// is not a bundle.
  public let versions: [Version]
  /// The version of a bundle that ``model`` was read from. `nil` if the file is not a bundle.
  public let currentVersion: Version?

  /// Reads a model file.
  ///
  /// - Parameter url: A `.xcdatamodeld` or `.xcdatamodel` folder, or a `.model.json` file.
  /// - Throws: ``ArborError`` `invalidModel` with one violation per problem, each with its line,
  ///   `fileUnreadable`, or `invalidArgument` for other file types.
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

  /// Returns the model of a version.
  ///
  /// - Throws: ``ArborError`` `unknownName` if the bundle doesn't have such a version, or the
  ///   errors of ``init(contentsOf:)``.
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

  /// Returns the model of the version with the given fingerprint, or `nil` if the file doesn't
  /// contain it.
  ///
  /// Checks the current version first, then the others from last to first. Versions that cannot be
  /// read are skipped.
  ///
  /// - Throws: ``ArborError`` `invalidModel`, with the reason for each unreadable version as a
  ///   violation, if there are unreadable versions and no other version has the fingerprint.
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
      "No readable version of \(url.lastPathComponent) has the requested fingerprint, and these "
        + "versions cannot be read: \(names). Restore or correct these versions.")
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
        "\(url.lastPathComponent) has the binary format of Xcode before 2011. Open and save the "
          + "file with a newer version of Xcode, which writes XML.")
    }
    return try ModelXMLReader.read(ModelFileKind.data(at: contents), source: contents.path)
  }
}

extension ManagedObjectModel {
  /// Reads a model from a file: the current version of a `.xcdatamodeld` bundle, a `.xcdatamodel`
  /// version, or the JSON form, `.model.json`.
  ///
  /// Use ``ModelDocument`` to get the warnings and the other versions of a bundle.
  ///
  /// - Throws: ``ArborError`` `invalidModel` with one violation per problem, each with its line,
  ///   `fileUnreadable`, or `invalidArgument` for other file types.
  public init(contentsOf url: URL) throws(ArborError) {
    self = try ModelDocument(contentsOf: url).model
  }
}
