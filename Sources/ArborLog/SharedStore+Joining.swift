internal import ArborModel
package import ArborStore
internal import Foundation

extension SharedStore {
  /// Begins a log with an open store: a copy of it, and what is committed while that is published.
  ///
  /// Reading and writing go on. From its return on, the store shares the log.
  ///
  /// - Throws: ``ArborError`` `notAllowed` where there is a log already; `StoreError`.
  package func begin(_ file: StoreEngine) throws {
    guard !file.isReadOnly else { throw StoreError.readOnly(path: file.path) }
    // A log that was begun in vain, or left.
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
      // Another machine may have begun the log meanwhile, which each log says in its own words.
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
      // Another error may hide that the log has begun, which the next opening finds out.
      if case .log(let reason) = error, reason.code == .notAllowed { try file.leave() }
      throw error
    }
  }

  private var begunAlready: StoreError {
    .log(
      ArborError(
        .notAllowed,
        "The log \(client.log.name) already exists. Open a store that follows it."))
  }

  /// Whether a kill interrupted ``begin(_:)`` behind the log's beginning.
  func isJoining(_ file: StoreEngine) throws -> Bool {
    try file.logReaders().sequences[file.id] != nil
  }

  /// Goes on with ``begin(_:)`` where the log has begun: what it lacks of the store is added.
  func join(_ file: StoreEngine, since position: SharedPosition) throws {
    try file.join(client, behind: position) { (group) throws(StoreError) in
      guard let group else { return }
      do throws(ArborError) { try add(group) } catch { throw .log(error) }
    }
  }

  /// Adds what of a group the log does not have.
  ///
  /// - Throws: ``ArborError`` `forked` where it has something else.
  private func add(_ group: CommitGroup) throws(ArborError) {
    var left: CommitGroup? = group
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

  /// Adds a snapshot of an open store to the log, from which new copies begin; returns the newest
  /// commit in it.
  package func publish(_ file: StoreEngine) throws -> UInt64 {
    try publish(copyOf: file) { _ in nil }.position.sequence
  }

  /// Publishes a copy of an open store, which gets a position, or keeps the one that it has.
  private func publish(
    copyOf file: StoreEngine, position: (StoreEngine) throws -> SharedPosition?
  ) throws -> (position: SharedPosition, snapshot: CommitLogSnapshot) {
    let staged = file.path.map { "\($0)-snapshot" } ?? NSTemporaryDirectory() + UUID().uuidString
    // Other processes that share the file stage theirs under the same name.
    let lock = try StoreLock(staged, suffix: "-lock", waits: true)
    defer { lock.end() }
    StoreFiles.discard(staged)
    defer { StoreFiles.discard(staged) }
    try file.copy(to: staged, compacting: true, keepsMarker: false, keepsPosition: true)
    let found = try SharedStore(staged, client).withFile { copy in
      if let position = try position(copy) { try copy.setPosition(position) }
      return try copy.position()
    }
    guard let found else {
      throw ArborError(.notAllowed, "The store doesn't share a log. Open it with one.")
    }
    let snapshot = CommitLogSnapshot(
      id: UUID(), store: file.id, sequence: found.sequence,
      digest: CommitLogDigest(bits: found.chain.bits))
    try client.log.publish(snapshot, in: URL(filePath: staged))
    return (found, snapshot)
  }
}
