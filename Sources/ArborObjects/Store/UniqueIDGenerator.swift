package import ArborFoundation
internal import ArborLocks
public import ArborModel

/// Unique numbers for an entire application, backed by a small store of their own.
///
/// The store is in the platform's folder for application data, in a folder named after the process.
/// For numbers that are unique within a ``PersistentStore``, use ``PersistentStore/uniqueIDs``.
public enum UniqueIDGenerator {
  private static let store = Lock<PersistentStore?>(nil)

  /// Returns the next number, which has never been returned before in this application, on this
  /// machine, for this user.
  ///
  /// - Throws: ``ArborError`` if the store cannot be opened or written.
  public static func generateUniqueID() throws(ArborError) -> Int64 {
    try openStore().uniqueIDs.next()
  }

  private static func openStore() throws(ArborError) -> PersistentStore {
    do {
      return try store.withLock { store in
        if let store { return store }
        let folder = ApplicationFolder.url
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let opened = try PersistentStore(
          model: ManagedObjectModel(entities: []),
          at: .file(folder.appending(path: "UniqueIDs.arbor")))
        store = opened
        return opened
      }
    } catch let error as ArborError {
      throw error
    } catch {
      throw ArborError(
        .inputOutput,
        "The folder for application data cannot be created. Check the permissions of "
          + "the folder that contains it."
      ).with(underlying: error)
    }
  }
}

/// The folder in which an application keeps its stores.
package enum ApplicationFolder {
  /// A folder named after the process, in `$XDG_DATA_HOME` or `~/.local/share` on Linux, and in
  /// `Application Support` on Apple platforms.
  package static var url: URL { base.appending(path: ProcessInfo.processInfo.processName) }

  private static var base: URL {
    #if os(Linux)
      if let folder = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
        return URL(filePath: folder)
      }
      return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    #else
      return URL.applicationSupportDirectory
    #endif
  }
}
