internal import ArborLog
internal import ArborModel
internal import ArborStore

extension LogWatcher {
  /// A watcher of a log in a folder.
  convenience init(_ follower: LogFollower, _ file: StoreEngine, every interval: Duration) {
    self.init(every: interval) { () throws(ArborError) in
      try PersistentStore.logging(file) { try follower.catchUp() }
    }
  }

  /// A watcher of a log that is shared.
  ///
  /// - Parameter problem: What kept the store from going on when it was opened.
  convenience init(
    _ client: LogClient, _ file: StoreEngine, every interval: Duration, problem: ArborError?
  ) {
    let progress = Progress(newest: client.counts.newest, problem: problem)
    self.init(every: interval, news: client.log.news(), from: progress) { () throws(ArborError) in
      try PersistentStore.logging(file) { try client.catchUp(file) }
    }
  }
}
