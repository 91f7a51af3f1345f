internal import ArborFoundation
internal import ArborModel
package import ArborStore

extension SharedStore {
  /// Begins a log with a copy of an open store and the commits made while that copy is published.
  ///
  /// Reads and writes continue in the meantime. After this call, the store shares the log.
  ///
  /// - Throws: ``ArborError`` `notAllowed` if the log already exists; `StoreError`.
  package func begin(_ file: StoreEngine) throws {
    guard !file.isReadOnly else { throw StoreError.readOnly(path: file.path) }
    // Discards the state of a log that the store failed to begin, or has left.
    try file.keepCommitsForSharing()
    let position: SharedPosition
    let snapshot: CommitLogSnapshot
    do {
      (position, snapshot) = try publish(copyOf: file) { copy in
        SharedPosition(
          sequence: copy.lastSequence, generation: copy.modelGeneration,
          chain: CommitChain(store: copy.id, sequence: copy.lastSequence))
      }
      try file.setPosition(position)
    } catch {
      try? file.removeLogReader(file.id)
      // If another machine has begun the log meanwhile, each log implementation reports a different
      // error.
      if let head = try? client.log.head(), head.store != file.id { throw begunAlready }
      throw error
    }
    do throws(StoreError) {
      try file.join(client, behind: position) { (group) throws(StoreError) in
        do throws(ArborError) {
          let entries = group.map { [CommitLogEntry($0)] } ?? []
          guard try !client.log.begin(with: snapshot, then: entries) else { return }
        } catch { throw .log(error) }
        throw begunAlready
      }
    } catch {
      // After other errors the log may have been begun, which the next opening finds out.
      if case .log(let reason) = error, reason.code == .notAllowed { try file.leave() }
      throw error
    }
  }

  private var begunAlready: StoreError {
    .log(
      ArborError(
        .notAllowed,
        "The log \(client.log.name) already exists. Open a store that follows the log."))
  }

  /// Returns whether ``begin(_:)`` was interrupted by a crash after the log had been begun.
  func isJoining(_ file: StoreEngine) throws -> Bool {
    try file.logReaders().sequences[file.id] != nil
  }

  /// Completes ``begin(_:)`` if the log has been begun: appends the commits that it lacks.
  func join(_ file: StoreEngine, since position: SharedPosition) throws {
    try file.join(client, behind: position) { (group) throws(StoreError) in
      guard let group else { return }
      do throws(ArborError) { try add(group) } catch { throw .log(error) }
    }
  }

  /// Appends those commits of a group that the log lacks.
  ///
  /// - Throws: ``ArborError`` `forked` if the log has different commits.
  private func add(_ group: LoggedGroup) throws(ArborError) {
    var left: LoggedGroup? = group
    while let group = left {
      guard let entry = try client.log.entries(after: group.first - 1, limit: 1).first else {
        guard try client.append(entry: CommitLogEntry(group)) else { continue }
        return
      }
      guard entry.last <= group.last, case let (first, rest) = group.split(behind: entry.last),
        first.chain.bits == entry.digest.bits
      else {
        throw SharedPosition.ownCommits(behind: group.first - 1)
      }
      left = rest
    }
  }

  /// Publishes a snapshot of an open store in the log, from which new copies can be created.
  /// Returns the sequence of its newest commit.
  package func publish(_ file: StoreEngine) throws -> UInt64 {
    try publish(copyOf: file) { _ in nil }.position.sequence
  }

  /// Publishes a copy of an open store, which gets the given position, or keeps its own.
  private func publish(
    copyOf file: StoreEngine, position: (StoreEngine) throws -> SharedPosition?
  ) throws -> (position: SharedPosition, snapshot: CommitLogSnapshot) {
    let staged =
      file.path.map { "\($0)-snapshot" }
      ?? FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    // Other processes that share the file use the same name for their copies.
    let lock = try StoreLock(staged, suffix: "-lock", waits: true)
    defer { lock.end() }
    StoreFiles.discard(staged)
    defer { StoreFiles.discard(staged) }
    try file.copy(to: staged, compacting: true, keepsMarker: false, keepsPosition: true)
    let published = SharedStore(staged, client)
    let found = try published.withFile { copy in
      if let position = try position(copy) { try copy.setPosition(position) }
      return try published.verifiedPosition(of: copy)
    }
    let snapshot = CommitLogSnapshot(
      id: UUID(), store: file.id, sequence: found.sequence,
      digest: CommitLogDigest(bits: found.chain.bits))
    try client.log.publish(snapshot, in: URL(filePath: staged))
    return (found, snapshot)
  }
}
