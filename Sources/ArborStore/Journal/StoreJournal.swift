internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import Dispatch
internal import LMDB

/// The redo journal of an open store, a write-ahead log with which a durable commit waits for the
/// disk only once.
///
/// ```
/// commit      LMDB's transaction … ── submit an entry ── LMDB commits without a sync ── it has landed
/// shared log  LMDB's transaction … ── append to the log ────── LMDB commits without a sync
/// checkpoint  pin the newest state ── sync the file ── write its root page to the header, sync
/// ```
///
/// LMDB waits twice per commit: for the pages, which are scattered over the file, and for the root
/// page. With a journal, the only wait is for one contiguous write; in a store that shares a log,
/// commits don't wait for the disk at all. The state on the medium is that of the last checkpoint,
/// whose pages are not reused because a reader pins them, and the entries since.
/// ``JournalRecovery`` restores it after a power failure; commits in a shared log are then applied
/// from there. While the machine runs, LMDB's file in the system's cache is always complete, even if
/// processes die.
///
/// Rules that hold for all processes that write to the store:
///
/// - A store is *journaled* as long as its header says so. The flag is set by a commit that LMDB
///   syncs, after several in quick succession. The last writer clears it and removes the journal once
///   it is idle or closes the store. In a store that shares a log, whose commits don't wait for the
///   disk at all, the first one sets the flag, and only closing clears it.
/// - Entries and headers are only written within a write transaction, which excludes all others, or
///   right after it, before others pass the gate. An entry may land after LMDB has committed; see
///   ``JournalFlight``.
/// - A process writes to the store only while it pins the checkpoint or an earlier state.
/// - Every transaction that is neither in the journal nor in a shared log is followed by a
///   checkpoint before it counts as durable. A process that doesn't share a log makes the checkpoint
///   itself if it finds one that isn't in the journal.
///
/// `@unchecked Sendable`: `attachment`, `synced` and `isUnavailable` are only accessed by the thread
/// that holds the environment's write lock.
final class StoreJournal: @unchecked Sendable {
  /// The use of the journal, which is decided when a store is opened.
  enum Mode {
    /// The store is journaled after several commits in quick succession.
    case starts
    /// The store is journaled if another process has begun journaling.
    case joins
    /// Entries are replayed; see ``JournalRecovery``.
    case recovers
  }

  /// The role of the journal in a transaction.
  enum Part {
    /// LMDB syncs the transaction.
    case none
    /// LMDB syncs the transaction, and the store is journaled from then on.
    case begins
    /// The transaction has an entry.
    case entry
    /// The transaction is in the shared log.
    case shared
    /// The transaction is in neither the journal nor the shared log, so a checkpoint has to follow.
    case bypass
  }

  /// The use of the journal file by this process.
  private struct Attachment {
    let flight: JournalFlight
    var header: JournalHeader
    /// The end of the last entry of a committed transaction.
    var position: JournalPosition
    /// The end of the entry of a transaction that may have been committed.
    var pending: JournalPosition?
    /// The pin that keeps the pages of the checkpoint or of an earlier state.
    var pin: SnapshotPin
    /// The number of transactions that this process has written since the checkpoint.
    var commits = 0

    var file: JournalFile { flight.file }
  }

  private struct Activity {
    /// The number of transactions written with the journal, by which the timer detects activity.
    var transactions: UInt64 = 0
    var isCheckpointDue = false
    var isCheckpointRunning = false
    var isWatched = false
    /// Whether this process has ever used the journal.
    var isUsed = false
    /// The error of a failed sync of the store's file, after which nothing is committed.
    var failure: StoreError?
  }

  private let mode: Mode
  let limits: JournalLimits
  private var attachment: Attachment?
  /// The number of transactions in quick succession that LMDB has synced, and the end of the last.
  private var synced: (count: Int, end: ContinuousClock.Instant)?
  /// Whether creating a journal has failed, so that LMDB syncs commits.
  private var isUnavailable = false
  private let activity = Lock(Activity())
  private let queue = DispatchQueue(label: "arbor-journal", qos: .utility)

  init(_ mode: Mode, _ limits: JournalLimits) {
    self.mode = mode
    self.limits = limits
  }

  /// Returns the maximum number of bytes of a transaction's encoded commits, or 0 if the encoded
  /// commits aren't needed.
  func largestEntry(_ header: HeaderRecord) -> Int {
    guard header.isJournaled, mode != .recovers, let attachment else { return 0 }
    let room = attachment.file.size - JournalHeader.firstEntry
    return min(limits.entry, JournalEntry.largestCommits(in: room))
  }

  // MARK: A transaction

  /// Prepares the journal for a transaction that has not written anything yet.
  ///
  /// - Returns: The flight of the transaction's entry, to be ended by ``land(_:)`` before the next
  ///   transaction begins; `nil` if the store isn't journaled.
  /// - Throws: `journal` if the journal belongs to another store or is damaged; `inputOutput` if a
  ///   necessary checkpoint fails. In these cases, nothing may be written.
  func begin(
    _ store: StoreEngine, _ header: HeaderRecord, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> JournalFlight? {
    guard header.isJournaled, mode != .recovers else {
      detach(store)
      return nil
    }
    if let failure = activity.withLock({ $0.failure }) { throw failure }
    if attachment?.file.isInPlace == false { detach(store) }
    watch(store)
    guard let attached = attachment else {
      let attached = try attach(store, transaction)
      attachment = attached
      activity.withLock { $0.isUsed = true }
      return attached.flight
    }
    try attached.flight.begin()
    do throws(StoreError) { try follow(store, transaction) } catch {
      attached.flight.end()
      throw error
    }
    return attached.flight
  }

  /// Follows what other processes have done with the journal, and makes a checkpoint if the
  /// transaction can't have the next entry.
  private func follow(
    _ store: StoreEngine, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    guard var attached = attachment else { return }
    let newest = transaction.id - 1
    var isStray = false
    if let pending = attached.pending {
      isStray = pending.transactionID != newest
      if !isStray { (attached.position, attached.pending) = (pending, nil) }
    }
    // Another process may have made a checkpoint, or written entries.
    guard let current = try attached.file.newestHeader() else {
      throw JournalRecovery.headless(attached.file.path)
    }
    if current.hasFailedSync { throw JournalRecovery.unsynced(attached.file.path) }
    if current.epoch != attached.header.epoch {
      // The process may have died before the header was on the medium.
      try attached.file.write(current)
      (attached.header, attached.position) = (current, current.start)
    }
    try attached.file.advance(&attached.position, to: newest, epoch: current.epoch)
    attachment = attached
    // If the checkpoint fails, a recovery must not replay what was aborted.
    if isStray { try attached.file.eraseEntry(at: attached.position.offset) }
    // An entry that follows belongs to a transaction that its process didn't live to commit. This
    // one has the same number, so its entry replaces that one.
    // Transactions in the shared log have no entries.
    let isShared = store.sharedLog != nil
    let isComplete = isShared || attached.position.transactionID == newest
    let hasFailed = attached.flight.hasFailed || current.isIncomplete
    if isStray || !isComplete || hasFailed || current.isEnded || current.isShared != isShared {
      try checkpoint(store, transaction)
    }
  }

  /// Decides the journal's part in a transaction. Also sets how LMDB commits the transaction, and
  /// sets the flag in the header if the store becomes journaled.
  func decidePart(
    _ header: inout HeaderRecord, _ redo: Redo, _ store: StoreEngine,
    _ transaction: borrowing WriteTransaction
  ) -> Part {
    if header.isJournaled {
      transaction.setDurability(.none)
      if mode == .recovers { return .none }
      switch redo {
      case .none:
        // Others see the transaction before the checkpoint that follows.
        attachment?.file.demandCheckpoint()
        return .bypass
      case .commits: return .entry
      case .sharedLog:
        // Counted even if LMDB doesn't commit it.
        attachment?.commits += 1
        noteTransaction(isDue: attachment?.commits ?? 0 >= limits.commits)
        return .shared
      }
    }
    guard redo == .sharedLog || mode == .starts && store.sharedLog == nil && isWorthwhile(),
      mode != .recovers, !isUnavailable, StoreHeader.bootID != StoreHeader.unknownBoot,
      let path = store.path
    else { return .none }
    do throws(StoreError) { try JournalFile.create(of: path, size: usualSize(store)) } catch {
      // Commits are durable without a journal, too.
      isUnavailable = true
      return .none
    }
    header.isJournaled = true
    transaction.setDurability(.full)
    return .begins
  }

  /// Whether enough commits have followed one another to make up for creating and removing a journal.
  private func isWorthwhile() -> Bool {
    if let last = synced, ContinuousClock.now - last.end > .seconds(limits.idle) { synced = nil }
    return synced?.count ?? 0 >= limits.beginning
  }

  /// Writes the entry of a transaction, which LMDB commits next. The entry is on the medium at the
  /// latest when its flight has ended.
  ///
  /// - Throws: `diskFull`, `inputOutput`. The caller must then abort the transaction.
  func append(
    _ entry: JournalEntry, _ store: StoreEngine, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    guard var attached = attachment else { throw .closed }
    var (bytes, end) = entry.encoded(at: attached.position, epoch: attached.header.epoch)
    if end.offset > attached.file.size {
      try checkpoint(store, transaction)
      guard let fresh = attachment else { throw .closed }
      attached = fresh
      (bytes, end) = entry.encoded(at: attached.position, epoch: attached.header.epoch)
    }
    attached.pending = end
    attached.commits += 1
    attachment = attached
    let isInFlight =
      limits.omission == .entry
      ? false : try attached.flight.submit(bytes, at: attached.position.offset)
    if !isInFlight {
      try attached.file.append(bytes, at: attached.position, syncs: limits.omission != .entry)
    }
    noteTransaction(isDue: attached.commits >= limits.commits || end.offset >= limits.bytes)
  }

  private func noteTransaction(isDue: Bool) {
    activity.withLock { activity in
      activity.transactions += 1
      activity.isCheckpointDue = isDue
    }
  }

  /// Returns the size of a new journal. The journal of a store that shares a log has no entries.
  private func usualSize(_ store: StoreEngine) -> Int {
    let least = JournalHeader.firstEntry
    guard store.sharedLog == nil else { return least }
    return max(limits.size, least + JournalEntry.room(for: limits.entry))
  }

  /// Waits until the entry of a transaction has landed, after LMDB has committed or aborted it.
  ///
  /// - Returns: Whether the entry, if there is one, is on the medium.
  func land(_ flight: JournalFlight) -> Bool { flight.end(waits: limits.omission != .landing) }

  /// Completes a transaction, after LMDB has committed or aborted it and its entry has landed.
  ///
  /// - Throws: `inputOutput` if the transaction is committed but may not survive a power failure.
  func finish(
    _ part: Part, _ store: StoreEngine, isCommitted: Bool, hasLanded: Bool
  ) throws(StoreError) {
    switch (part, isCommitted) {
    case (.entry, true) where !hasLanded: try checkpointNow(store)
    case (.none, true): synced = ((synced?.count ?? 0) + 1, .now)
    case (.none, false), (.begins, false), (.shared, false): return
    // LMDB has synced the transaction. If there is no checkpoint, the next one makes it.
    case (.begins, true): try? checkpointNow(store)
    case (.bypass, true): try checkpointNow(store)
    // The entry must not be replayed, and nobody needs to wait for the checkpoint that was demanded.
    case (.entry, false), (.bypass, false): try? checkpointNow(store)
    case (.entry, true), (.shared, true): checkpointIfDue(store)
    }
  }

  // MARK: Beginning and ending

  private func attach(
    _ store: StoreEngine, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Attachment {
    guard let path = store.path else { throw .closed }
    let least = usualSize(store)
    let found = try JournalFile.existing(of: path)
    // One without a header was left by a process that died before its first checkpoint.
    let isUsable = try found.map { (file) throws(StoreError) in
      try file.newestHeader() != nil || file.size >= least
    }
    if isUsable != true { try JournalFile.create(of: path, size: least) }
    guard let file = try JournalFile.existing(of: path) else { throw .inUse(path: path) }
    try file.lockShared()
    let flight = JournalFlight(file, overlaps: limits.overlaps, patience: limits.patience)
    // If this fails, the lock ends with the file.
    try flight.begin()
    let header = try file.newestHeader()
    guard file.size >= header?.fileSize ?? least else {
      throw JournalRecovery.truncated(file.path)
    }
    if let header, header.storeID != store.id { throw JournalRecovery.foreign(file.path) }
    if header?.hasFailedSync == true { throw JournalRecovery.unsynced(file.path) }
    // The process that wrote the header may have died before it was on the medium.
    if let header { try file.write(header) }
    if let header, !header.isEnded, !header.isIncomplete,
      header.root.transactionID == transaction.id - 1,
      header.isShared == (store.sharedLog != nil),
      try file.entry(at: header.start, epoch: header.epoch) == nil
    {
      let pin = try storing(path: path, store.environment.pinNewest())
      return Attachment(flight: flight, header: header, position: header.start, pin: pin)
    }
    return try checkpoint(store, flight, (header?.number ?? 0) + 1, transaction)
  }

  private func detach(_ store: StoreEngine) {
    guard let attached = attachment else { return }
    store.environment.release(attached.pin)
    attachment = nil
  }

  /// Ends journaling, unless another process writes to the store. In that case, that process ends
  /// it.
  func settle(_ store: StoreEngine) throws(StoreError) {
    // Other stores are not slowed down by a transaction, which costs more than the rest of closing.
    guard mode != .recovers, activity.withLock({ $0.isUsed }) else { return }
    try end(store)
    // A checkpoint that has begun finds the store settled.
    store.whileWaiting { queue.sync {} }
  }

  private func end(_ store: StoreEngine) throws(StoreError) {
    guard let path = store.path else { return }
    try store.environment.write(path: path) { (transaction) throws(StoreError) in
      guard let attached = attachment, activity.withLock({ $0.failure == nil }) else {
        return false
      }
      defer { detach(store) }
      // What is written while the store is being closed, such as the progress of a scrub, does not
      // begin it again.
      synced = nil
      try attached.flight.begin()
      defer { attached.flight.end() }
      guard attached.file.lockExclusively() else { return false }
      return try Self.end(attached.file, path, store.environment, transaction)
    }
    try Self.removeEnded(path, store.environment)
  }

  /// Ends journaling that a dead process has left, if no other process writes to the store.
  ///
  /// - Parameter isRecovered: Whether the store has just been recovered from the journal, so that an
  ///   earlier failed sync doesn't matter.
  /// - Returns: Whether the store is no longer journaled.
  static func endLeft(
    by environment: Environment, isRecovered: Bool = false
  ) throws(StoreError) -> Bool {
    let path = environment.path
    let file = try JournalFile.existing(of: path)
    // Another process may keep the write lock for long.
    guard file?.isUnused ?? true else { return false }
    var isEnded = false
    try environment.write(path: path) { (transaction) throws(StoreError) in
      guard file?.lockExclusively() ?? true else { return false }
      isEnded = try end(file, path, environment, transaction, isRecovered: isRecovered)
      return isEnded
    }
    if isEnded { try removeEnded(path, environment) }
    return isEnded
  }

  /// Ends journaling even if other processes write to the store. Their next transactions find that,
  /// and they may begin journaling again.
  ///
  /// - Throws: `journal` if the system has failed to sync the file.
  static func endForAll(_ environment: Environment) throws(StoreError) {
    let path = environment.path
    try environment.write(path: path) { (transaction) throws(StoreError) in
      let file = try JournalFile.existing(of: path)
      // A process may have died with an entry in flight.
      if let file {
        try file.lockFlight(exclusively: true, patience: JournalLimits().patience)
        file.unlockFlight()
        if try file.newestHeader()?.hasFailedSync == true {
          throw JournalRecovery.unsynced(file.path)
        }
      }
      return try end(file, path, environment, transaction)
    }
    try removeEnded(path, environment)
  }

  /// Runs `body` in a write transaction of a store that is not journaled. Ends journaling first, if
  /// necessary.
  static func writeUnjournaled(
    _ environment: Environment, path: String?,
    _ body: (borrowing WriteTransaction) throws(StoreError) -> Bool
  ) throws(StoreError) {
    while true {
      var isJournaled = false
      try environment.write(path: path) { (transaction) throws(StoreError) in
        isJournaled = try StoreHeader.read(transaction.reader, path: path).isJournaled
        return isJournaled ? false : try body(transaction)
      }
      guard isJournaled else { return }
      try endForAll(environment)
    }
  }

  /// Syncs the file, notes in the journal that the file is complete, and clears the flag, in this
  /// order: a file with the flag has a journal, so that a missing one is noticed.
  private static func end(
    _ file: JournalFile?, _ path: String, _ environment: Environment,
    _ transaction: borrowing WriteTransaction, isRecovered: Bool = false
  ) throws(StoreError) -> Bool {
    var header = try StoreHeader.read(transaction.reader, path: path)
    guard header.isJournaled else { return false }
    if !isRecovered, try file?.newestHeader()?.hasFailedSync == true { return false }
    do throws(LMDBError) { try environment.flush() } catch {
      file?.noteFailedSync()
      throw StoreError(error, path: path)
    }
    if let file {
      let root = try storing(path: path, environment.newestRoot(before: transaction))
      try file.write(
        JournalHeader(
          fileSize: file.size, storeID: header.storeID,
          number: (file.newestHeader()?.number ?? 0) + 1,
          root: root, isShared: false, isEnded: true))
    }
    header.isJournaled = false
    header.sign(transaction)
    transaction.setDurability(.full)
    try StoreHeader.write(header, in: transaction)
    return true
  }

  /// Removes the journal of a store that is not journaled any more.
  private static func removeEnded(_ path: String, _ environment: Environment) throws(StoreError) {
    // Within a transaction, so that no process begins journaling meanwhile.
    try environment.write(path: path) { (transaction) throws(StoreError) in
      if try !StoreHeader.read(transaction.reader, path: path).isJournaled {
        try JournalFile.remove(of: path)
      }
      return false
    }
  }
}

// MARK: - Checkpoints

extension StoreJournal {
  /// Makes the newest state the checkpoint and begins an epoch. The transaction may have written
  /// new pages, but no pages of a committed state.
  private func checkpoint(
    _ store: StoreEngine, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    guard let attached = attachment else { return }
    attachment = try checkpoint(store, attached.flight, attached.header.number + 1, transaction)
    store.environment.release(attached.pin)
  }

  private func checkpoint(
    _ store: StoreEngine, _ flight: JournalFlight, _ number: UInt64,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Attachment {
    let environment = store.environment
    let pin = try storing(path: store.path, environment.pinNewest())
    do throws(StoreError) {
      try flush(store, flight.file)
      let root = try storing(path: store.path, environment.newestRoot(before: transaction))
      let header = JournalHeader(
        fileSize: flight.file.size, storeID: store.id, number: number, root: root,
        isShared: store.sharedLog != nil, overlaps: flight.overlaps)
      try flight.file.eraseFirstEntry(after: root.transactionID)
      try flight.file.write(header)
      flight.noteCheckpoint()
      if limits.omission == .pin { environment.release(pin) }
      return Attachment(flight: flight, header: header, position: header.start, pin: pin)
    } catch {
      environment.release(pin)
      throw error
    }
  }

  /// Syncs the store's file, within a write transaction. If that fails, the system may have dropped
  /// pages of commits that are now only in the journal, so no later checkpoint, of any process, may
  /// replace its entries.
  private func flush(_ store: StoreEngine, _ file: JournalFile) throws(StoreError) {
    if limits.omission == .flush { return }
    do throws(LMDBError) { try store.environment.flush() } catch {
      file.noteFailedSync()
      throw note(error, store)
    }
  }

  /// Notes that the system failed to sync the store's file. Returns the error of every further
  /// transaction of this process.
  private func note(_ error: LMDBError, _ store: StoreEngine) -> StoreError {
    let failure = StoreError(error, path: store.path)
    activity.withLock { $0.failure = failure }
    return failure
  }

  /// Begins a transaction only to prepare the journal for the next one, which includes a checkpoint if
  /// a transaction is not on the medium.
  ///
  /// - Parameter body: Called when the journal is prepared.
  func checkpointNow(
    _ store: StoreEngine,
    _ body: (borrowing WriteTransaction) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    try store.environment.write(path: store.path) { (transaction) throws(StoreError) in
      let header = try StoreHeader.read(transaction.reader, path: store.path)
      let flight = try begin(store, header, transaction)
      defer { flight?.end() }
      try body(transaction)
      return false
    }
  }

  private func checkpointIfDue(_ store: StoreEngine) {
    let begins = activity.withLock { activity in
      let begins = activity.isCheckpointDue && !activity.isCheckpointRunning
      if begins { activity.isCheckpointRunning = true }
      return begins
    }
    guard begins else { return }
    queue.async { [weak self, weak store] in
      guard let self, let store, !store.hasEnded else { return }
      try? self.checkpointInAdvance(store)
      self.activity.withLock { $0.isCheckpointRunning = false }
    }
  }

  /// Makes a checkpoint. Syncs the file first, while others commit, so that the checkpoint has
  /// little left to sync. If that fails, the next commit reports the error.
  private func checkpointInAdvance(_ store: StoreEngine) throws(StoreError) {
    try flushInAdvance(store)
    try checkpointNow(store) { (transaction) throws(StoreError) in
      if attachment?.commits ?? 0 > 0 { try checkpoint(store, transaction) }
    }
  }

  private func flushInAdvance(_ store: StoreEngine) throws(StoreError) {
    if limits.omission == .flush { return }
    do throws(LMDBError) { try store.environment.flush() } catch {
      // The system reports it only once.
      let failure = note(error, store)
      try store.environment.write(path: store.path) { (_) throws(StoreError) in
        attachment?.file.noteFailedSync()
        return false
      }
      throw failure
    }
  }

  /// Starts a timer that ends journaling once nothing has been written for a while, so that the
  /// file of an idle store is complete. If other processes write, or the store shares a log, the
  /// process only detaches from the journal, so that it doesn't prevent pages from being reused.
  private func watch(_ store: StoreEngine) {
    let isFirst = activity.withLock { activity in
      defer { activity.isWatched = true }
      return !activity.isWatched
    }
    if isFirst { watch(store, since: activity.withLock { $0.transactions }) }
  }

  private func watch(_ store: StoreEngine, since transactions: UInt64) {
    queue.asyncAfter(deadline: .now() + limits.idle) { [weak self, weak store] in
      guard let self, let store, !store.hasEnded else { return }
      let current = self.activity.withLock { activity in
        activity.isWatched = activity.transactions != transactions
        return activity.transactions
      }
      if current == transactions { self.rest(store) } else { self.watch(store, since: current) }
    }
  }

  private func rest(_ store: StoreEngine) {
    guard store.sharedLog != nil else {
      try? flushInAdvance(store)
      try? end(store)
      return
    }
    try? checkpointInAdvance(store)
    try? store.environment.write(path: store.path) { (_) throws(StoreError) in
      detach(store)
      return false
    }
  }
}
