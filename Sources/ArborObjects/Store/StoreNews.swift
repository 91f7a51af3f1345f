internal import ArborLocks
internal import ArborStore

/// What the sequences of one store's commits have in common: they sleep at one bell, which rings
/// after every commit while there is any of them.
final class StoreNews: Sendable {
  let file: StoreFile
  let bell = TaskBell()
  private let state = Lock(State())

  private struct State {
    var followerCount = 0
    /// What the file knows this by; nil while nobody follows.
    var listener: Int?
  }

  init(_ file: StoreFile) { self.file = file }

  /// Ends all sequences: the store is closed.
  func end() { bell.end() }

  fileprivate func addFollower() {
    state.withLock { state in
      state.followerCount += 1
      guard state.listener == nil else { return }
      state.listener = file.news.listen(to: file) { [bell] in bell.ring() }
    }
  }

  fileprivate func removeFollower() {
    let listener = state.withLock { state -> Int? in
      state.followerCount -= 1
      guard state.followerCount == 0 else { return nil }
      defer { state.listener = nil }
      return state.listener
    }
    if let listener { file.news.remove(listener) }
  }
}

/// One sequence of a store's commits, from the moment it was asked for. It keeps the bell ringing,
/// but not the store open.
final class StoreFollower: Sendable {
  let news: StoreNews
  /// The newest commit at that moment.
  let start: UInt64

  init(_ news: StoreNews) {
    self.news = news
    news.addFollower()
    // From here on no commit is missed, so whatever is there by now came before.
    news.file.lookForCommits()
    start = news.file.lastSequence
  }

  deinit { news.removeFollower() }
}
