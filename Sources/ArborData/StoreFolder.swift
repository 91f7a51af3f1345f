public import ArborModel
public import Foundation

/// The default location of stores that are opened by name.
///
/// A store's path is `<application data>/<process>/<name>.arbor`. Application data is
/// `$XDG_DATA_HOME`, or `~/.local/share` if that is unset, as in the XDG Base Directory
/// Specification. On Apple platforms it is Application Support.
///
/// ```swift
/// let backup = StoreFolder().url.appending(path: "Backup.arbor")
/// ```
public struct StoreFolder: Sendable {
  /// The process's environment variables, including `XDG_DATA_HOME` and `HOME`.
  package var environment = ProcessInfo.processInfo.environment
  package var processName = ProcessInfo.processInfo.processName

  /// Creates the default location for this process.
  public init() {}

  /// The folder for this process's stores. It may not exist yet.
  public var url: URL { applicationData.appending(path: processName, directoryHint: .isDirectory) }

  /// Returns the URL of a store file. Creates its folder, accessible only by its owner, if it is
  /// missing.
  ///
  /// - Parameters:
  ///   - alias: The store's name, to which `.arbor` is appended.
  ///   - fileName: The exact name of the file, used instead of the alias. `nil` derives it from the
  ///     alias.
  /// - Throws: ``ArborError`` `invalidArgument` if the name is not a valid file name, or
  ///   `inputOutput` if the folder cannot be created.
  public func file(named alias: String, fileName: String? = nil) throws(ArborError) -> URL {
    let name = fileName ?? alias
    guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.utf8.contains(0)
    else {
      throw ArborError(
        .invalidArgument,
        "The store's \(fileName == nil ? "alias names its file and" : "file name") cannot be "
          + "“\(name)”. Use letters and digits.")
    }
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ArborError(
        .inputOutput,
        "The folder \(url.path) cannot be created. Check its permissions, or pass another location."
      ).with(underlying: error)
    }
    return url.appending(path: fileName ?? alias + ".arbor", directoryHint: .notDirectory)
  }

  /// The platform's folder for application data.
  public var applicationData: URL {
    #if canImport(Darwin)
      URL.applicationSupportDirectory
    #else
      // The specification requires relative paths to be ignored.
      if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
        URL(filePath: path, directoryHint: .isDirectory)
      } else {
        URL(filePath: environment["HOME"] ?? NSHomeDirectory(), directoryHint: .isDirectory)
          .appending(path: ".local/share", directoryHint: .isDirectory)
      }
    #endif
  }
}
