public import ArborModel
public import Foundation

/// Where a manager keeps a store that was named and not placed:
/// `<application data>/<process>/<name>.arbor`.
///
/// Application data is `$XDG_DATA_HOME`, or `~/.local/share` where that is unset, as the base
/// directory specification of freedesktop.org has it; on Apple's platforms it is Application
/// Support.
///
/// ```swift
/// let backup = StoreFolder().url.appending(path: "Backup.arbor")
/// ```
public struct StoreFolder: Sendable {
  /// The variables of the process, among them `XDG_DATA_HOME` and `HOME`.
  package var environment = ProcessInfo.processInfo.environment
  package var processName = ProcessInfo.processInfo.processName

  /// The rules of this process.
  public init() {}

  /// The folder, which need not exist yet: that of a process's stores, named after it.
  public var url: URL { applicationData.appending(path: processName, directoryHint: .isDirectory) }

  /// The file of a store; its folder is made where it is missing, for its owner only.
  ///
  /// - Parameters:
  ///   - alias: The store's name, to which `.arbor` is added.
  ///   - fileName: The exact name of the file, in place of the alias; nil: the alias's.
  /// - Throws: ``ArborError`` `invalidArgument` for a name that is no file name, `inputOutput`
  ///   where the folder cannot be made.
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

  /// The platform's folder for the data of applications.
  public var applicationData: URL {
    #if canImport(Darwin)
      URL.applicationSupportDirectory
    #else
      // The specification has relative paths ignored.
      if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
        URL(filePath: path, directoryHint: .isDirectory)
      } else {
        URL(filePath: environment["HOME"] ?? NSHomeDirectory(), directoryHint: .isDirectory)
          .appending(path: ".local/share", directoryHint: .isDirectory)
      }
    #endif
  }
}
