internal import ArborLocks
package import ArborLog
package import ArborModel
package import Foundation

/// A log in memory that answers as badly as a network may: answers are lost before or after an
/// entry was added, an added entry arrives late, readers see the log late, the server may be out or
/// lose its end.
package final class SimulatedLog: CommitLog {
  /// How often, in a thousand times, something goes wrong.
  package struct Faults: Sendable {
    /// The answer is lost, and the entry was added.
    package var lostAnswers = 0
    /// The answer is lost, and the entry was not added.
    package var lostRequests = 0
    /// The answer is lost, and the entry is added before somebody else's next call, where it still
    /// follows then.
    package var lateRequests = 0
    /// A reader gets only some of the entries that there are.
    package var lateReads = 0
    /// The server cannot be reached.
    package var outages = 0

    package init() {}
  }

  /// Defects that a log or a store could have, for tests that have to find them.
  package enum Defect: Sendable, CaseIterable {
    /// Entries are added whatever they follow.
    case addsAnything
    /// An entry that was answered as written is dropped.
    case forgetsEntries
    /// Numbers are given out again.
    case repeatsNumbers
    /// An entry is added again when it is asked for.
    case addsTwice
    /// Readers get entries in another order.
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

    /// What was on its way arrives.
    mutating func deliver() {
      for entry in late where end?.sequence == entry.first - 1 && end?.digest == entry.previous {
        entries.append(entry)
      }
      late = []
    }

    /// Whether what an entry would follow is here, or was.
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

  // MARK: What tests look at and do

  /// Everything that was added and not removed.
  package var entries: [CommitLogEntry] { state.withLock { $0.entries } }

  /// How often somebody tried to add something.
  package var appends: Int { state.withLock(\.appends) }

  /// Loses the last entries, as a server does that was not the one to fail over to.
  package func lose(_ count: Int) { state.withLock { $0.entries.removeLast(count) } }

  /// Whether the server can be reached.
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

  /// Sets what happens while the log begins.
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
      // What the newest snapshot counts by stays.
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
