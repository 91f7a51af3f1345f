internal import ArborLocks
package import ArborLog
package import ArborModel
package import Foundation

/// An in-memory log with the faults of an unreliable network: responses are lost before or after an
/// entry was appended, entries arrive late, readers see stale state, and the server is unreachable
/// or loses its newest entries.
package final class SimulatedLog: CommitLog {
  /// The rates of faults, per thousand calls.
  package struct Faults: Sendable {
    /// The entry is appended, but the response is lost.
    package var lostAnswers = 0
    /// The request is lost, and the entry isn't appended.
    package var lostRequests = 0
    /// The response is lost, and the entry is appended before the next call if it still follows the
    /// last entry by then.
    package var lateRequests = 0
    /// A reader receives only some of the available entries.
    package var lateReads = 0
    /// The server is unreachable.
    package var outages = 0

    package init() {}
  }

  /// Defects of a log or a store that tests must detect.
  package enum Defect: Sendable, CaseIterable {
    /// Entries are appended regardless of their predecessor.
    case addsAnything
    /// An entry is acknowledged, but dropped.
    case forgetsEntries
    /// Reserved numbers are handed out more than once.
    case repeatsNumbers
    /// A retried entry is appended twice.
    case addsTwice
    /// Readers receive entries out of order.
    case readsOutOfOrder
  }

  private struct State {
    var begun: CommitLogSnapshot?
    var entries: [CommitLogEntry] = []
    var late: [CommitLogEntry] = []
    var snapshots: [(snapshot: CommitLogSnapshot, bytes: Data)] = []
    var counters: [String: UInt64] = [:]
    var random: SeededRandom
    var isOut = false
    var beginning: (@Sendable () -> Void)?
    var appends = 0

    var end: (sequence: UInt64, digest: CommitLogDigest)? {
      entries.last.map { ($0.last, $0.digest) } ?? begun.map { ($0.sequence, $0.digest) }
    }

    mutating func happens(_ rate: Int) -> Bool {
      rate > 0 && Int.random(in: 0..<1000, using: &random) < rate
    }

    /// Appends the entries that are still in flight, if they follow the last one.
    mutating func deliver() {
      for entry in late where end?.sequence == entry.first - 1 && end?.digest == entry.previous {
        entries.append(entry)
      }
      late = []
    }

    /// Whether the predecessor of an entry is, or was, in the log.
    func isKnown(_ entry: CommitLogEntry) -> Bool {
      guard let first = entries.first, first.first < entry.first else {
        return entries.first?.first == entry.first
          ? entries.first?.previous == entry.previous
          : entries.isEmpty ? end?.digest == entry.previous : true
      }
      return entries.contains { $0.last == entry.first - 1 && $0.digest == entry.previous }
    }

    func counts(_ snapshot: CommitLogSnapshot) -> Bool {
      snapshot == begun
        || entries.contains { $0.last == snapshot.sequence && $0.digest == snapshot.digest }
    }
  }

  private let state: Lock<State>
  private let faults: Faults
  private let defect: Defect?
  private let bells = Lock<[UUID: AsyncStream<Void>.Continuation]>([:])

  package init(seed: UInt64 = 1, faults: Faults = Faults(), defect: Defect? = nil) {
    state = Lock(State(random: SeededRandom(seed: seed)))
    self.faults = faults
    self.defect = defect
  }

  package let name = "simulated"
  package let waitLimit = Duration.microseconds(20)

  // MARK: Access for tests

  /// The entries that were appended and not trimmed.
  package var entries: [CommitLogEntry] { state.withLock { $0.entries } }

  /// The number of calls of `append`.
  package var appends: Int { state.withLock(\.appends) }

  /// Loses the newest entries, as in a failover to a standby that lagged.
  package func lose(_ count: Int) { state.withLock { $0.entries.removeLast(count) } }

  /// Whether the server is unreachable.
  package var isOut: Bool {
    get { state.withLock(\.isOut) }
    set { state.withLock { $0.isOut = newValue } }
  }

  private func reached<R>(_ body: (inout State) throws(ArborError) -> R) throws(ArborError) -> R {
    try state.withLock { (state) throws(ArborError) in
      state.deliver()
      if state.isOut || state.happens(faults.outages) {
        throw ArborError(
          .logUnavailable, "The log simulated cannot be reached; commits wait until it can.")
      }
      return try body(&state)
    }
  }

  // MARK: CommitLog

  package func head() throws(ArborError) -> CommitLogHead? {
    try reached { (state) in
      guard let begun = state.begun, let end = state.end else { return nil }
      return CommitLogHead(store: begun.store, sequence: end.sequence, digest: end.digest)
    }
  }

  /// Sets a closure that runs when the log is started.
  package func whileBeginning(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.beginning = body }
  }

  package func begin(
    with snapshot: CommitLogSnapshot, then entries: [CommitLogEntry]
  ) throws(ArborError) -> Bool {
    state.withLock { $0.beginning }?()
    return try reached { (state) in
      guard state.begun == nil else { return state.begun == snapshot }
      state.begun = snapshot
      state.entries = entries
      return true
    }
  }

  package func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    defer { for bell in bells.withLock({ Array($0.values) }) { bell.yield() } }
    return try reached { (state) in
      state.appends += 1
      if state.happens(faults.lostRequests) { return .unknown }
      if state.entries.contains(where: { $0.batch == entry.batch }), defect != .addsTwice {
        return .written
      }
      guard let end = state.end else { return .forked }
      if defect != .addsAnything, defect != .addsTwice || end.sequence < entry.first - 1 {
        if end.sequence < entry.first - 1 { return .forked }
        if !state.isKnown(entry) { return .forked }
        if end.sequence > entry.first - 1 {
          return .behind(state.entries.filter { $0.first >= entry.first })
        }
      }
      if state.happens(faults.lateRequests) {
        state.late.append(entry)
        return .unknown
      }
      if defect == .forgetsEntries, state.appends % 16 == 0 { return .written }
      state.entries.append(entry)
      return state.happens(faults.lostAnswers) ? .unknown : .written
    }
  }

  package func entries(
    after sequence: UInt64, limit: Int
  ) throws(ArborError) -> [CommitLogEntry] {
    try reached { (state) in
      let newer = Array(state.entries.filter { $0.last > sequence }.prefix(limit))
      guard newer.count > 1 else { return newer }
      if defect == .readsOutOfOrder { return newer.reversed() }
      guard state.happens(faults.lateReads) else { return newer }
      return Array(newer.prefix(Int.random(in: 1..<newer.count, using: &state.random)))
    }
  }

  package func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(ArborError) -> Range<UInt64> {
    try reached { (state) in
      let first = defect == .repeatsNumbers ? least : max(state.counters[counter] ?? 0, least)
      state.counters[counter] = first + count
      return first..<(first + count)
    }
  }

  package func counters() throws(ArborError) -> [String: UInt64] {
    try reached { (state) in state.counters }
  }

  package func publish(_ snapshot: CommitLogSnapshot, in file: URL) throws(ArborError) {
    let bytes: Data
    do { bytes = try Data(contentsOf: file) } catch {
      throw ArborError(.fileUnreadable, "\(error)")
    }
    try reached { (state) in state.snapshots.append((snapshot, bytes)) }
  }

  package func newestSnapshot() throws(ArborError) -> CommitLogSnapshot? {
    try reached { (state) in
      state.snapshots.map(\.snapshot).filter { state.counts($0) }
        .max { $0.sequence < $1.sequence }
    }
  }

  package func fetch(_ snapshot: CommitLogSnapshot, to file: URL) throws(ArborError) {
    let bytes = try reached { (state) in
      state.snapshots.first { $0.snapshot == snapshot }?.bytes
    }
    guard let bytes else { throw ArborError(.corrupted, "The snapshot is not there.") }
    do { try bytes.write(to: file) } catch { throw ArborError(.inputOutput, "\(error)") }
  }

  package func trim(through sequence: UInt64) throws(ArborError) {
    try reached { (state) in
      let valid = state.snapshots.map(\.snapshot).filter { state.counts($0) }
      guard let newest = valid.max(by: { $0.sequence < $1.sequence }) else { return }
      state.snapshots.removeAll { $0.snapshot != newest }
      // Keeps the entry that the newest snapshot is verified against.
      let last = min(sequence, newest.sequence)
      state.entries.removeAll { $0.last <= last && $0.last != newest.sequence }
    }
  }

  package func news() -> AsyncStream<Void>? {
    let id = UUID()
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      bells.withLock { $0[id] = continuation }
      continuation.onTermination = { [weak self] _ in
        _ = self?.bells.withLock { $0.removeValue(forKey: id) }
      }
    }
  }
}
