internal import ArborLocks
internal import ArborModel
package import ArborStore

/// An object that keeps a store up to date with the log that it follows.
package final class LogFollower: Sendable {
  private let log: FolderLog
  private let file: StoreEngine
  /// The values of the counters that the store has reached, protected by the lock that a thread
  /// holds while it replays commits.
  private let replaying = Lock<[String: UInt64]>([:])

  /// Starts following. From now on nothing else is written to the store.
  ///
  /// - Throws: ``ArborError`` `invalidArgument` if the store doesn't follow the log, `conflict` if
  ///   it has commits of its own.
  package init(_ log: FolderLog, _ file: StoreEngine) throws {
    let (path, identity) = try log.existing()
    self.log = log
    self.file = file
    _ = try Self.position(of: file, following: identity, path)
    file.beginFollowing()
  }

  /// Replays everything that the log has and the store lacks.
  ///
  /// - Returns: The sequence of the log's newest commit.
  /// - Throws: ``ArborError`` `modelChanged` if the log continues with a snapshot that an open
  ///   store cannot switch to, because it has another model or follows commits that were never
  ///   added; `conflict` if log and store have diverged; `corrupted`, `inputOutput`.
  @discardableResult
  package func catchUp() throws -> UInt64 {
    try replaying.withLock { counters in
      let (path, identity) = try log.existing()
      // Another process may have advanced the store.
      var position = try Self.position(of: file, following: identity, path)
      let bases = try log.bases(of: identity, from: position.base)
      var index = 0
      guard let first = try bases.first?.get(), first.number == position.base else {
        throw Self.needsReopening(path, "no longer has the commits after the store's newest one")
      }
      while true {
        var file = file
        let end = try FolderLog.apply(
          try bases[index].get(), to: &file, at: position, keepsPosition: true)
        position = LogPosition(log: identity.log, end)
        index += 1
        guard index < bases.count else {
          // A store that stops following continues after the numbers that the log's store has
          // reserved.
          let reserved = try log.recordedCounters(of: identity)
            .merging(end.counters) { max($0, $1) }
          if reserved != counters { try file.replay([], counters: reserved) }
          counters = reserved
          return end.sequence
        }
        let next = try bases[index].get()
        guard next.manifest.generation == file.modelGeneration else {
          throw Self.needsReopening(path, "continues with another model")
        }
        guard next.manifest.previous == end.chain else {
          throw Self.needsReopening(
            path, "continues with a snapshot that doesn't follow from its commits")
        }
        position = LogPosition(
          log: identity.log, base: next.number, sequence: end.sequence, chain: next.manifest.chain)
        try file.replay([], position: position.recorded)
      }
    }
  }

  static func needsReopening(_ path: String, _ what: String) -> ArborError {
    ArborError(
      .modelChanged,
      "The log \(path) \(what). The store can still be read. Close and reopen it to rebuild it "
        + "from the log's newest snapshot.")
  }

  /// - Throws: ``ArborError`` `invalidArgument`, `conflict`.
  private static func position(
    of file: StoreEngine, following identity: LogIdentity, _ folder: String
  ) throws -> LogPosition {
    let name = file.path ?? "The store"
    guard let followed = try file.followedPosition() else {
      throw ArborError(
        .invalidArgument,
        "\(name) is an independent store, which doesn't follow the log \(folder). Use the path of "
          + "a new file, which is then created from the log.")
    }
    guard let position = LogPosition(followed.bytes), position.log == identity.log else {
      throw ArborError(
        .invalidArgument,
        "\(name) follows a log other than \(folder). Use a separate path for each log.")
    }
    guard position.sequence == followed.sequence else {
      throw ArborError(
        .conflict,
        "\(name) has its own commits after commit \(position.sequence) of the log \(folder), which "
          + "the store follows. Move the file away, and open the store again to rebuild it from "
          + "the log.")
    }
    return position
  }

  // MARK: Opening

  /// Prepares a file for opening it as a store that follows a log: creates it if it doesn't exist,
  /// or applies the log's newer commits. Recreates it if the log continues in a way that an open
  /// store cannot follow.
  ///
  /// - Throws: `ArborError` of the log, `StoreError` of the store.
  package static func prepare(_ path: String, following log: FolderLog) throws {
    guard try StoreFiles.exists(try StoreFiles.removeEmpty(path)) else {
      _ = try log.restore(to: path, at: .newest, follows: true)
      return
    }
    var opening = StoreOpening(.file(path), model: nil)
    opening.looksForDamage = false
    let file = try StoreEngine.open(opening)
    do {
      defer { file.close() }
      try LogFollower(log, file).catchUp()
      return
    } catch let error as ArborError where error.code == .modelChanged {}
    let staged = StoreFiles.followingPath(of: path)
    StoreFiles.discard(staged)
    _ = try log.restore(to: staged, at: .newest, follows: true)
    try StoreFiles.replace(path, by: staged)
  }
}
