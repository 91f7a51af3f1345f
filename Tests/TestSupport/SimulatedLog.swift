internal import ArborLocks
package import ArborStore

/// A log in memory that answers as badly as a network may: answers are lost before or after the
/// group was added, readers see the log late, and the server may lose its end.
package final class SimulatedLog: SharedLog {
  /// How often, in a thousand times, something goes wrong.
  package struct Faults: Sendable {
    /// The answer is lost, and the group was added.
    package var lostAnswers = 0
    /// The answer is lost, and the group was not added.
    package var lostRequests = 0
    /// A reader gets only some of the groups that there are.
    package var lateReads = 0
    /// The server cannot be reached.
    package var outages = 0

    package init() {}
  }

  private struct State {
    var groups: [CommitGroup] = []
    var start: UInt64
    var counters: [String: UInt64] = [:]
    var random: SeededRandom

    var last: UInt64 { groups.last?.last ?? start }

    mutating func happens(_ rate: Int) -> Bool {
      rate > 0 && Int.random(in: 0..<1000, using: &random) < rate
    }
  }

  private let state: Lock<State>
  private let faults: Faults

  /// - Parameter start: The sequence of the copies that share the log.
  package init(start: UInt64, seed: UInt64, faults: Faults = Faults()) {
    state = Lock(State(start: start, random: SeededRandom(seed: seed)))
    self.faults = faults
  }

  /// Everything that was added.
  package var groups: [CommitGroup] { state.withLock { $0.groups } }

  package func append(_ group: CommitGroup) throws(StoreError) -> Appending {
    try state.withLock { (state) throws(StoreError) in
      if state.happens(faults.outages) { throw Self.outage }
      if state.happens(faults.lostRequests) { return .unknown }
      guard group.first == state.last + 1 else {
        let newer = state.groups.filter { $0.last >= group.first }
        return newer.contains { $0.batch == group.batch } && newer.count == 1
          ? .written : .behind(newer)
      }
      if let last = state.groups.last, last.chain != group.before { return .forked }
      state.groups.append(group)
      return state.happens(faults.lostAnswers) ? .unknown : .written
    }
  }

  package func groups(after sequence: UInt64) throws(StoreError) -> [CommitGroup] {
    try state.withLock { (state) throws(StoreError) in
      if state.happens(faults.outages) { throw Self.outage }
      let newer = state.groups.filter { $0.last > sequence }
      guard newer.count > 1, state.happens(faults.lateReads) else { return newer }
      return Array(newer.prefix(Int.random(in: 1..<newer.count, using: &state.random)))
    }
  }

  package func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(StoreError) -> Range<UInt64> {
    try state.withLock { (state) throws(StoreError) in
      if state.happens(faults.outages) { throw Self.outage }
      let first = max(state.counters[counter] ?? 0, least)
      state.counters[counter] = first + count
      return first..<(first + count)
    }
  }

  /// Loses the last groups, as a server does that was not the one to fail over to.
  package func lose(_ count: Int) { state.withLock { $0.groups.removeLast(count) } }

  private static let outage = StoreError.inputOutput(operation: "connect", path: nil, errno: 111)
}
