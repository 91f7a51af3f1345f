package import ArborModel
package import Foundation

/// Where a manager keeps a store that was named and not placed:
/// `<application data>/<process>/<name>.arbor`.
///
/// Application data is `$XDG_DATA_HOME`, or `~/.local/share` where that is unset, as the base
/// directory specification of freedesktop.org has it; on Apple's platforms it is Application
/// Support.
package struct StoreFolder {
  /// The variables of the process, among them `XDG_DATA_HOME` and `HOME`.
  package var environment = ProcessInfo.processInfo.environment
  package var processName = ProcessInfo.processInfo.processName

  /// The rules of this process.
  package init() {}

  /// The store's file; its folder is made where it is missing, for its owner only.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` for a name that is no file name, `inputOutput`
  ///   where the folder cannot be made.
  package func file(named name: String) throws(ArborError) -> URL {
    guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.utf8.contains(0)
    else {
      throw ArborError(
        .invalidArgument,
        "The store's alias names its file and cannot be “\(name)”; use letters and digits.")
    }
    let folder = applicationData.appending(path: processName, directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ArborError(
        .inputOutput,
        "The folder \(folder.path) cannot be made; check its permissions, or place the store "
          + "yourself."
      ).with(underlying: error)
    }
    return folder.appending(path: name + ".arbor", directoryHint: .notDirectory)
  }

  /// The platform's folder for the data of applications.
  package var applicationData: URL {
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
