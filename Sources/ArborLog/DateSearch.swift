internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// A search for the last commit of a log at or before a date.
///
/// It visits the commits of all snapshots in order, because a clock may have been set back
/// anywhere, including between two snapshots. Damage and gaps only matter if the date is in them.
struct DateSearch {
  private let date: Date
  private let folder: String
  private let limit = WorkLimit()
  /// The first date in the log.
  private var first: Date?
  private var found: (base: LogBase, sequence: UInt64)?
  /// The first commit dated after the date.
  private var firstLater: UInt64?
  /// The last commit that follows `firstLater` but isn't dated after the date.
  private var lastEarlier: UInt64?
  /// The reason why the commits after `found` are unknown, or `nil` if they are known.
  private var unknown: Unknown?
  private var end: DatedEnd?

  private enum Unknown {
    case damage(ArborError)
    /// Commits are missing between the end of one snapshot's commits and the next snapshot.
    case gap(DatedEnd, LogBase)
  }

  init(_ date: Date, _ folder: String) {
    self.date = date
    self.folder = folder
  }

  /// Visits the next snapshot and its commits.
  ///
  /// - Throws: ``ArborError`` `inputOutput`, `cancelled`.
  mutating func add(_ base: Result<LogBase, ArborError>) throws(ArborError) {
    do throws(ArborError) {
      try add(try base.get())
    } catch {
      guard error.code == .corrupted else { throw error }
      note(.damage(error))
      end = nil
    }
  }

  private mutating func add(_ base: LogBase) throws(ArborError) {
    if let end {
      do throws(ArborError) {
        try base.checkContinues(end.end, in: end.folder)
        let continues = base.manifest.previous != nil && base.manifest.sequence == end.end.sequence
        if !continues { note(.gap(end, base)) }
      } catch {
        note(.damage(error))
      }
    }
    let date = base.firstDate(after: end)
    first = first ?? date
    take(base.manifest.sequence, of: date, in: base)
    end = try base.datedEnd { (sequence, date) throws(ArborError) in
      try limit.checkLog()
      take(sequence, of: date, in: base)
    }
  }

  private mutating func note(_ what: Unknown) {
    if firstLater == nil, unknown == nil { unknown = what }
  }

  private mutating func take(_ sequence: UInt64, of date: Date, in base: LogBase) {
    if date > self.date {
      firstLater = firstLater ?? sequence
    } else if firstLater == nil {
      found = (base, sequence)
      unknown = nil
    } else {
      lastEarlier = sequence
    }
  }

  /// Returns the snapshot to start from, and the sequence of the commit.
  ///
  /// - Throws: ``ArborError`` `objectNotFound` if the log doesn't extend to the date, or has a gap
  ///   there; `corrupted` if required data is damaged; `invalidArgument` if a clock was set back,
  ///   so that commits from before the date follow commits from after it.
  func result() throws(ArborError) -> (LogBase, UInt64) {
    if case .damage(let error) = unknown { throw error }
    let text = date.formatted(.iso8601)
    guard let found else {
      let first = first.map { "it begins at \(Self.roundedUp($0))" }
      throw FolderLog.missing(text, folder, first ?? "it is empty")
    }
    if let firstLater, let lastEarlier {
      throw ArborError(
        .invalidArgument,
        "A clock was set back at \(text): commit \(firstLater) has a later date than commit "
          + "\(lastEarlier), which follows it. Choose the commit by its sequence number.")
    }
    guard case .gap(let end, let next) = unknown else { return found }
    if let first = try next.date(ofCommitAfter: end), first > date { return found }
    let last = Self.roundedUp(next.firstDate(after: end))
    throw FolderLog.missing(
      text, folder,
      "it has a gap between \(end.date.formatted(.iso8601)), commit "
        + "\(end.end.sequence), and \(last), commit \(next.manifest.sequence)")
  }

  /// Returns a date as text that can be passed back. The text has no fractional seconds, so the
  /// date is rounded up.
  private static func roundedUp(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.up)
    return Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
  }
}

/// The end of the commits after a snapshot, and the date of the last one.
struct DatedEnd {
  let end: LogEnd
  /// The folder of the snapshot.
  let folder: String
  let date: Date
}

extension LogBase {
  /// Returns the date from which the store had the state of the snapshot.
  ///
  /// - Parameter end: The end of the commits after the previous snapshot, if there is one.
  func firstDate(after end: DatedEnd?) -> Date {
    guard let end, manifest.previous == nil, manifest.sequence <= end.end.sequence,
      (manifest.sequence, manifest.commitDate) != (end.end.sequence, end.date)
    else { return manifest.commitDate }
    // The store was reverted to an earlier state, whose commits have earlier dates.
    return max(manifest.date, manifest.commitDate)
  }

  /// Calls `body` with each commit after the snapshot and its date, and returns the end of the
  /// commits.
  func datedEnd(
    _ body: (UInt64, Date) throws(ArborError) -> Void
  ) throws(ArborError) -> DatedEnd {
    try datedEnd(onlyLastSegment: false, body)
  }

  func datedEnd() throws(ArborError) -> DatedEnd { try datedEnd(onlyLastSegment: true) { _, _ in } }

  private func datedEnd(
    onlyLastSegment: Bool, _ body: (UInt64, Date) throws(ArborError) -> Void
  ) throws(ArborError) -> DatedEnd {
    var date = manifest.commitDate
    let end = try forEachEntry(after: 0, onlyLastSegment: onlyLastSegment) {
      (entry) throws(ArborError) in
      let summary = entry.body.withUnsafeBytes {
        LoggedCommitCodec.summary($0, sequence: entry.sequence)
      }
      if let summary {
        date = summary.date
        try body(entry.sequence, date)
      }
      return true
    }
    return DatedEnd(end: end, folder: folder, date: date)
  }

  /// Returns the date of the commit that follows an earlier end, according to the history in the
  /// snapshot.
  ///
  /// - Returns: `nil` if the history doesn't reach back that far, or if it has a different commit
  ///   at that end.
  /// - Throws: ``ArborError`` `corrupted`, `inputOutput`, `cancelled`.
  func date(ofCommitAfter end: DatedEnd) throws(ArborError) -> Date? {
    let sequence = end.end.sequence
    guard sequence > 0, manifest.sequence > sequence else { return nil }
    let limit = WorkLimit()
    try forEachBlock { (_) throws(ArborError) in try limit.checkLog() }
    var opening = StoreOpening(.file(snapshotPath), model: nil)
    opening.isImmutable = true
    opening.looksForDamage = false
    do throws(StoreError) {
      let copy = try StoreEngine.open(opening)
      defer { copy.close() }
      let snapshot = try copy.snapshot()
      defer { snapshot.close() }
      guard case .entry(let last) = try snapshot.nextEntry(after: sequence - 1),
        last.date == end.date, case .entry(let next) = try snapshot.nextEntry(after: sequence)
      else { return nil }
      return next.date
    } catch {
      // For example, the engine doesn't support the file system, or the format is newer.
      return nil
    }
  }
}
