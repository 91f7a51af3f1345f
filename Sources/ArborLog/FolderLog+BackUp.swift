internal import ArborFoundation
internal import ArborModel
package import ArborStore

/// The data that a backup added to a log.
package struct LogAddition: Sendable, Hashable {
  package var isSnapshot = false
  package var commits = 0
  /// The sequence of the newest commit in the log after the backup.
  package var sequence: UInt64 = 0
}

extension FolderLog {
  /// Brings the log up to date with a store: adds the commits since the last backup, or a snapshot
  /// if the log has none yet or commits in between are missing. A change of the model adds both.
  ///
  /// - Throws: `ArborError` of the log, `StoreError` of the store.
  package func backUp(_ file: StoreEngine, snapshot isWanted: Bool) throws -> LogAddition {
    // Backups record in the store which commits the log has.
    guard !file.isReadOnly else { throw StoreError.readOnly(path: file.path) }
    let path = try path
    try LogFiles.makeFolder(path)
    // Checked before the lease creates a file in the folder.
    _ = try identity(path)
    return try FolderLease.hold(path) {
      try LogFiles.removeUnfinished(in: path)
      let identity = try ownedIdentity(of: file, path)
      let (base, addition) = try addWhatIsNew(of: file, identity, path, snapshot: isWanted)
      // Numbers that were reserved without a commit.
      try addCounters(of: file, to: base, identity, path)
      return addition
    }
  }

  private func addWhatIsNew(
    of file: StoreEngine, _ identity: LogIdentity, _ path: String, snapshot isWanted: Bool
  ) throws -> (LogBase, LogAddition) {
    var addition = LogAddition()
    // Commits cannot be added after damaged data, but a new snapshot can. Older snapshots don't
    // matter.
    let previous = try bases(of: identity, from: try baseNumbers().last ?? 0).last
    var followed: LogBase?
    do {
      if let base = try previous?.get(),
        let added = try addCommits(of: file, to: base, identity, &addition)
      {
        let endsModel = added.generation != base.manifest.generation
        if !added.hasGap, !endsModel, !isWanted { return (base, addition) }
        followed = base
      }
    } catch let error as ArborError where error.code == .corrupted {}
    let base = try addSnapshot(of: file, identity, path, after: followed, &addition)
    addition.isSnapshot = true
    addition.sequence = base.manifest.sequence
    // Commits made meanwhile. If one of them has changed the model, the next backup adds another
    // snapshot.
    _ = try addCommits(of: file, to: base, identity, &addition)
    return (base, addition)
  }

  /// Returns the identity of the log, creating one in an empty folder.
  private func ownedIdentity(of file: StoreEngine, _ path: String) throws -> LogIdentity {
    if let found = try identity(path) {
      guard found.store == file.id else {
        throw ArborError(
          .invalidArgument,
          "\(path) is the log of the store \(found.store.uuidString), but "
            + "\(file.path ?? "this one") is the store \(file.id.uuidString). Use a folder for "
            + "each store.")
      }
      return found
    }
    let made = LogIdentity(log: UUID(), store: file.id)
    try LogFiles.write(in: path) { output in
      try output.append(made.encoded())
      return LogIdentity.fileName
    }
    return made
  }

  // MARK: Commits

  /// The approximate maximum size of a segment's commits, in bytes.
  private static let segmentSize = 64 << 20

  /// Adds the commits that the store has kept for the log.
  ///
  /// - Parameter last: The sequence of the last commit to add.
  /// - Returns: `nil` if the store's commits don't follow those of the log.
  private func addCommits(
    of file: StoreEngine, to base: LogBase, _ identity: LogIdentity, upTo last: UInt64 = .max,
    _ addition: inout LogAddition
  ) throws -> AddedCommits? {
    var newest: SegmentEntry?
    let previous = try base.forEachEntry(after: 0, onlyLastSegment: true) { (entry) in
      newest = entry
      return true
    }
    guard let generation = generation(after: newest, of: base), !previous.isCut,
      let noted = try file.logReaders().sequences[identity.log],
      noted <= previous.sequence
    else { return nil }
    let snapshot = try file.logSnapshot()
    defer { snapshot.close() }
    guard snapshot.sequence >= previous.sequence,
      try follows(snapshot, from: noted, previous.sequence, newest)
    else { return nil }
    var end = previous
    end.counters = try snapshot.counters()
    var added = AddedCommits(generation: generation)
    let last = min(last, snapshot.sequence)
    while !added.hasGap, end.sequence < last {
      addition.commits += try addSegment(snapshot, base, upTo: last, &end, &added)
    }
    added.chain = end.chain
    addition.sequence = end.sequence
    if end.sequence > noted {
      try file.noteLogReader(identity.log, has: end.sequence)
    }
    return added
  }

  /// The extent of the commits added after a snapshot.
  private struct AddedCommits {
    var chain: CommitChain?
    /// The model generation after the last commit.
    var generation: UInt32
    /// Whether the store has not kept the next commit.
    var hasGap = false
  }

  /// Returns the model generation after the newest commit of a log, or `nil` if the commit is
  /// damaged.
  private func generation(after newest: SegmentEntry?, of base: LogBase) -> UInt32? {
    guard let newest else { return base.manifest.generation }
    return newest.body.withUnsafeBytes {
      LoggedCommitCodec.summary($0, sequence: newest.sequence)?.generation
    }
  }

  /// Returns whether the newest commit of the log is the store's commit with the same sequence, if
  /// the store still has that one. Returns `false` for a snapshot without later commits that the
  /// store has not recorded, because another copy of the store may have created it.
  private func follows(
    _ snapshot: StoreSnapshot, from noted: UInt64, _ sequence: UInt64, _ newest: SegmentEntry?
  ) throws -> Bool {
    guard noted < sequence else { return true }
    guard let newest else { return false }
    var isSame = false
    _ = try snapshot.forEachLogged(after: sequence - 1) { (_, bytes) in
      isSame = bytes.elementsEqual(newest.body)
      return false
    }
    return isSame
  }

  /// Adds one segment with the commits up to a gap or the maximum size.
  ///
  /// - Returns: The number of commits in it.
  private func addSegment(
    _ snapshot: StoreSnapshot, _ base: LogBase, upTo last: UInt64, _ end: inout LogEnd,
    _ added: inout AddedCommits
  ) throws -> Int {
    let first = end.sequence + 1
    let header = LogSegment.Header(
      log: base.manifest.log, base: base.number, first: first, chain: end.chain,
      counters: end.counters)
    var (written, size) = (end, 0)
    var (generation, isMissingChange, isWhole) = (added.generation, false, true)
    let hasWritten = try LogFiles.write(in: base.folder) { output in
      try output.append(header.encoded())
      isWhole = try snapshot.forEachLogged(after: written.sequence) { (sequence, bytes) in
        let summary = LoggedCommitCodec.summary(bytes, sequence: sequence)
        guard let summary else {
          throw StoreError.corrupted(
            entity: nil, object: nil, what: "The log's entry \(sequence) is damaged.")
        }
        // A migration in a copy leaves no commit that changes the model.
        guard summary.changesModel || summary.generation == generation else {
          isMissingChange = true
          return false
        }
        generation = summary.generation
        try LogSegment.write(sequence, bytes, to: &output)
        written.chain.append(sequence, bytes)
        written.sequence = sequence
        size += bytes.count
        return size < Self.segmentSize && sequence < last
      }
      guard written.sequence >= first else { return nil }
      try LogSegment.writeEnd(written.sequence, written.chain, to: &output)
      return LogSegment(first: first, last: written.sequence).name
    }
    (added.generation, added.hasGap) = (generation, isMissingChange || !isWhole)
    guard hasWritten else { return 0 }
    defer { end = written }
    return Int(written.sequence - end.sequence)
  }

  // MARK: Snapshots

  /// Adds a snapshot.
  ///
  /// - Parameter previous: The previous snapshot, if commits can still be added to it. It receives
  ///   those up to the new snapshot or to a migration in a copy, so that no state between the two
  ///   is missing. `nil` if the store has not kept them.
  private func addSnapshot(
    of file: StoreEngine, _ identity: LogIdentity, _ path: String, after previous: LogBase?,
    _ addition: inout LogAddition
  ) throws -> LogBase {
    let last = (try LogFiles.names(in: path) ?? []).compactMap(LogBase.number(ofName:)).last
    let number = (last ?? 0) + 1
    let folder = LogBase.folder(number, in: path)
    let unfinished = LogFiles.unfinishedName(folder)
    try LogFiles.makeFolder(unfinished)
    do {
      // From here on the store keeps all commits for the log, including those made during the copy.
      if previous == nil { try file.noteLogReader(identity.log, has: nil) }
      let copy = "\(unfinished)/\(LogBase.snapshotName)"
      let began = Date()
      try file.copy(to: copy, compacting: true, keepsMarker: false)
      let manifest = try manifest(ofCopy: copy, begun: began, identity, number) {
        (sequence, generation) in
        // Followers can continue with the snapshot if the commits before it lead to it.
        guard let previous else { return nil }
        var meanwhile = LogAddition()
        let added = try addCommits(of: file, to: previous, identity, upTo: sequence, &meanwhile)
        addition.commits += meanwhile.commits
        // A migration in a copy creates commits of its own, which the store doesn't keep.
        let isOtherModel = generation != previous.manifest.generation
        return meanwhile.sequence == sequence || isOtherModel ? added?.chain : nil
      }
      try LogFiles.write(in: unfinished) { output in
        try output.append(manifest.encoded())
        return LogBase.manifestName
      }
      try LogFiles.rename(unfinished, to: folder)
    } catch {
      try? LogFiles.removeFolder(unfinished)
      throw error
    }
    let base = try LogBase(number, in: path, of: identity)
    try file.noteLogReader(identity.log, has: base.manifest.sequence)
    return base
  }

  /// Returns the manifest of a copy that is not open elsewhere.
  ///
  /// - Parameter previous: A closure that returns the chain of the commits that lead to the
  ///   snapshot, given its sequence and the generation of its model, or `nil` if there aren't any.
  private func manifest(
    ofCopy path: String, begun began: Date, _ identity: LogIdentity, _ number: UInt32,
    previous: (UInt64, UInt32) throws -> CommitChain?
  ) throws -> LogManifest {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isReadOnly = true
    opening.looksForDamage = false
    let copy = try StoreEngine.open(opening)
    let (sequence, generation) = (copy.lastSequence, copy.modelGeneration)
    let snapshot = try copy.snapshot()
    let counters = try snapshot.counters()
    let newest = try snapshot.newestCommitDate()
    snapshot.close()
    copy.close()
    unlink(path + "-lock")
    let (size, checksums) = try Self.checksums(of: path)
    return LogManifest(
      log: identity.log, store: identity.store, base: number, generation: generation,
      sequence: sequence, previous: try previous(sequence, generation), date: began,
      commitDate: newest ?? began, size: size, counters: counters, checksums: checksums)
  }

  private static func checksums(
    of path: String
  ) throws(ArborError) -> (size: UInt64, checksums: [UInt32]) {
    guard let file = try LogInput(path) else { throw LogFiles.error("Reading", path, ENOENT) }
    var checksums: [UInt32] = []
    for offset in stride(from: 0, to: file.size, by: LogManifest.blockSize) {
      checksums.append(Checksum.of(try file.read(from: offset, count: LogManifest.blockSize)))
    }
    return (UInt64(file.size), checksums)
  }
}

extension StoreSnapshot {
  /// Returns the date of the newest commit, or `nil` if there isn't one or the history no longer
  /// contains it.
  fileprivate func newestCommitDate() throws(StoreError) -> Date? {
    guard sequence > 0, case .entries(let entries) = try history(after: sequence - 1) else {
      return nil
    }
    return entries.last?.date
  }
}
