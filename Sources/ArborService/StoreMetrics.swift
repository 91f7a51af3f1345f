internal import ArborData
internal import ArborLocks
internal import Metrics

/// The metrics of a store, which are reported to swift-metrics.
final class StoreMetrics: Sendable {
  /// The maximum number of entities with labels of their own. The others are counted together.
  static let maximumEntities = 200
  static let otherEntities = "other"
  /// The value of the label `outcome` for successful operations.
  static let success = "ok"

  private struct FetchLabels: Hashable {
    let entity: String
    let kind: FetchKind
    let outcome: String?
  }

  private let commits: MeterTable<String, Counter>
  private let commitDuration: Timer
  private let conflicts: Counter
  private let fetches: MeterTable<FetchLabels, Counter>
  private let fetchDurations: MeterTable<FetchLabels, Timer>
  private let backUps: MeterTable<String, Counter>
  private let backUpDuration: Timer
  private let gauges: MeterTable<String, Meter>
  private let totals: MeterTable<String, Counter>
  /// The values up to which the totals have been incremented, keyed by counter name.
  private let counted = Lock<[String: UInt64]>([:])
  private let entities = Lock<Set<String>>([])

  /// - Parameters:
  ///   - store: The value of the label `store`.
  ///   - factory: The metrics factory; `nil` for the one that the program has bootstrapped.
  init(of store: String, _ factory: (any MetricsFactory)?) {
    let factory = factory ?? MetricsSystem.factory
    let store = ("store", store)
    @Sendable func counter(_ name: String, _ labels: (String, String)...) -> Counter {
      Counter(label: name, dimensions: [store] + labels, factory: factory)
    }
    @Sendable func timer(_ name: String, _ labels: (String, String)...) -> Timer {
      Timer(label: name, dimensions: [store] + labels, factory: factory)
    }
    commits = MeterTable { counter("arbor_commits_total", ("outcome", $0)) }
    commitDuration = timer("arbor_commit_duration")
    conflicts = counter("arbor_commit_conflicts_total")
    fetches = MeterTable { labels in
      counter(
        "arbor_fetches_total", ("entity", labels.entity), ("kind", labels.kind.rawValue),
        ("outcome", labels.outcome ?? Self.success))
    }
    fetchDurations = MeterTable { labels in
      timer("arbor_fetch_duration", ("entity", labels.entity), ("kind", labels.kind.rawValue))
    }
    backUps = MeterTable { counter("arbor_backups_total", ("outcome", $0)) }
    backUpDuration = timer("arbor_backup_duration")
    totals = MeterTable { counter($0) }
    gauges = MeterTable { Meter(label: $0, dimensions: [store], factory: factory) }
  }

  /// The instrument that receives the store's commits and fetches.
  var instrument: StoreInstrument {
    StoreInstrument(
      onCommit: { [self] _ in { [self] outcome in note(outcome) } },
      onFetch: { [self] fetch in { [self] outcome in note(fetch, outcome) } })
  }

  private func note(_ commit: StoreInstrument.CommitOutcome) {
    commits[commit.error?.code.rawValue ?? Self.success].increment()
    commitDuration.record(duration: commit.duration)
    if commit.conflicts > 0 { conflicts.increment(by: commit.conflicts) }
  }

  private func note(_ fetch: StoreInstrument.Fetch, _ outcome: StoreInstrument.FetchOutcome) {
    let entity = label(of: fetch.entityName)
    fetches[
      FetchLabels(entity: entity, kind: fetch.kind, outcome: outcome.error?.code.rawValue)
    ].increment()
    fetchDurations[FetchLabels(entity: entity, kind: fetch.kind, outcome: nil)]
      .record(duration: outcome.duration)
  }

  /// Returns the name of an entity, or ``otherEntities`` beyond the maximum number.
  private func label(of entity: String) -> String {
    entities.withLock { entities in
      if entities.contains(entity) { return entity }
      guard entities.count < Self.maximumEntities else { return Self.otherEntities }
      entities.insert(entity)
      return entity
    }
  }

  /// Counts a backup by the kind of its addition, or by the code of its error.
  func noteBackUp(_ outcome: String, _ duration: Duration) {
    backUps[outcome].increment()
    backUpDuration.record(duration: duration)
  }

  /// Samples the gauges and totals of a store.
  ///
  /// - Throws: `closed`, `modelChanged`, `inputOutput`.
  func sample(_ store: PersistentStore) throws(ArborError) {
    let readers = try store.readers()
    gauges["arbor_readers"].set(readers.count)
    gauges["arbor_pinned_bytes"].set(readers.map(\.pinnedBytes).max() ?? 0)
    let space = try store.spaceUsage()
    gauges["arbor_file_bytes"].set(space.file)
    gauges["arbor_free_bytes"].set(space.free)
    if let following = store.following { sampleLog(following.lag, following.problem) }
    if let sharing = store.sharing {
      sampleLog(sharing.lag, sharing.problem)
      count("arbor_log_appends_total", sharing.appends)
      count("arbor_log_lost_races_total", sharing.lostRaces)
      count("arbor_log_catch_ups_total", sharing.takenOver)
      count("arbor_log_unknown_outcomes_total", sharing.unknownOutcomes)
    }
  }

  private func sampleLog(_ lag: UInt64, _ problem: ArborError?) {
    gauges["arbor_log_lag"].set(lag)
    gauges["arbor_log_problem"].set(problem == nil ? 0 : 1)
  }

  /// Increments a counter to the total that the store has counted since it was opened.
  private func count(_ name: String, _ total: UInt64) {
    let growth = counted.withLock { counted in
      defer { counted[name] = total }
      return total - min(counted[name] ?? 0, total)
    }
    totals[name].increment(by: growth)
  }
}

/// Meters of one kind, keyed by their labels or names and created on demand.
final class MeterTable<Labels: Hashable & Sendable, Meter: Sendable>: Sendable {
  private let meters = Lock<[Labels: Meter]>([:])
  private let make: @Sendable (Labels) -> Meter

  init(_ make: @escaping @Sendable (Labels) -> Meter) { self.make = make }

  subscript(labels: Labels) -> Meter {
    meters.withLock { meters in
      if let meter = meters[labels] { return meter }
      let meter = make(labels)
      meters[labels] = meter
      return meter
    }
  }
}
