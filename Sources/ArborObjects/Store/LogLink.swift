internal import ArborLog
internal import ArborModel
internal import ArborStore

/// The log that a store follows or shares, and who looks at it.
enum LogLink: Sendable {
  /// Somebody else's commits come by a folder.
  case folder(FolderLog, LogWatcher)
  /// The store's own commits go there, and those of others come from there.
  case shared(LogClient, LogWatcher)

  /// Waits until the log's own threads have nothing left to do for a store that is closed.
  func waitUntilIdle() {
    if case .shared(let client, _) = self { client.log.waitUntilIdle() }
  }

  var watcher: LogWatcher {
    switch self {
    case .folder(_, let watcher), .shared(_, let watcher): watcher
    }
  }
}
