internal import ArborFoundation
internal import ArborModel
internal import ArborStore

extension SharedStore {
  /// Returns the position of a file in the log, and whether the file contains the commits up to it,
  /// or `nil` if the file doesn't share a log.
  ///
  /// The position's number has to be that of the newest commit in the file, and its chain that of
  /// the log. The newest commit that both the file's history and the log contain has to be the same
  /// in both. Everything is read from one snapshot of the file.
  ///
  /// - Parameter isMigrated: Whether the file may have later commits, from a migration in a copy.
  func position(
    of file: StoreEngine, isMigrated: Bool = false
  ) throws -> (position: SharedPosition, isComplete: Bool)? {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    guard let position = try snapshot.position() else { return nil }
    let isNewest = snapshot.sequence == position.sequence
    guard isNewest || isMigrated && snapshot.sequence > position.sequence else {
      return (position, false)
    }
    return (position, try contains(snapshot, position))
  }

  /// Returns the position of a file that is going to be published.
  ///
  /// - Throws: ``ArborError`` `corrupted` if the file lacks commits; `notAllowed` if it doesn't share
  ///   a log.
  func verifiedPosition(
    of file: StoreEngine, isMigrated: Bool = false
  ) throws -> SharedPosition {
    guard let found = try position(of: file, isMigrated: isMigrated) else {
      throw ArborError(.notAllowed, "The store doesn't share a log. Open it with a shared log.")
    }
    guard found.isComplete else {
      throw ArborError(
        .corrupted,
        "The copy \(path) lacks commits up to commit \(found.position.sequence), its position in "
          + "the log \(log.name), and was not published. Open the store again.")
    }
    return found.position
  }

  private func contains(_ snapshot: StoreSnapshot, _ position: SharedPosition) throws -> Bool {
    let points = position.earlier + [position.newest]
    // The newest points may be changes of the model, which are not commits.
    for (before, point) in zip(points, points.dropFirst()).reversed() {
      var end = before
      while end.sequence < point.sequence {
        guard let entry = try log.entries(after: end.sequence, limit: 1).first else { return false }
        // The entries before it have been trimmed.
        if entry.first > end.sequence + 1 { return true }
        guard entry.previous.bits == end.chain.bits else { return false }
        end = entry.end
        guard case .commits(let commits) = try entry.content(of: log) else { continue }
        guard end.sequence == point.sequence, let newest = commits.last else { continue }
        guard end == point else { return false }
        guard let record = try snapshot.historyRecord(of: point.sequence) else { return true }
        return LoggedCommitCodec.historyRecord(newest, sequence: point.sequence) == record
      }
      guard end == point else { return false }
    }
    return true
  }
}
