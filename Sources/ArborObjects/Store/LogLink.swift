internal import ArborLog
internal import ArborModel
internal import ArborStore

/// The log that a store follows or shares, and who looks at it.
enum LogLink: Sendable {
  /// Somebody else's commits come by a folder.
  case folder(FolderLog, LogWatcher)
  /// The store's own commits go there, and those of others come from there.
  case shared(LogClient, LogWatcher)

  var watcher: LogWatcher {
    switch self {
    case .folder(_, let watcher), .shared(_, let watcher): watcher
    }
  }
}
