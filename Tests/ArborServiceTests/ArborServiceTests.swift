import ArborData
import ArborLocks
import ArborService
import Dispatch
import Foundation
import Logging
import MetricsTestKit
import ServiceLifecycle
import TestSupport
import Testing

/// A store that runs as a service.
@Suite struct ArborServiceTests {
  /// A log handler that keeps the messages.
  private final class Pages: Sendable {
    private let lines = Lock<[String]>([])
    var texts: [String] { lines.withLock { $0 } }

    struct Handler: LogHandler {
      let pages: Pages
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.info

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let details = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        pages.lines.withLock {
          $0.append("\(event.level) \(event.message) \(details.joined(separator: " "))")
        }
      }
    }

    var logger: Logger { Logger(label: "test") { _ in Handler(pages: self) } }
  }

  private struct Setting {
    let folder: TemporaryFolder
    let pages = Pages()
    let metrics = TestMetrics()

    init() throws { folder = try TemporaryFolder() }

    var location: StoreLocation { .path(folder.path("parts.arbor")) }
    var log: FolderLog { FolderLog(folder.url.appending(path: "log")) }

    func service(
      _ adjust: (inout ArborService.Configuration) -> Void = { _ in }
    ) throws -> ArborService {
      var configuration = ArborService.Configuration()
      configuration.logger = pages.logger
      configuration.metrics = metrics
      adjust(&configuration)
      return try ArborService(
        "parts", model: .parts, at: location, configuration: configuration)
    }

    /// Runs services until `body` returns, then shuts them down.
    func run(
      _ services: [any Service], until body: @escaping @Sendable () async throws -> Void
    ) async throws {
      var configuration = ServiceGroupConfiguration(
        services: services.map { .init(service: $0) }, logger: pages.logger)
      // Only a guard against a hang: on a busy machine, a task may wait for minutes.
      configuration.maximumGracefulShutdownDuration = .seconds(3600)
      let group = ServiceGroup(configuration: configuration)
      async let running: Void = group.run()
      do { try await body() } catch {
        await group.triggerGracefulShutdown()
        try await running
        throw error
      }
      await group.triggerGracefulShutdown()
      try await running
    }

    func codes() throws -> [Int] {
      let store = try PersistentStore(at: location)
      defer { store.close() }
      try store.check()
      return try store.makeContext().fetch("Part").map { $0["code"] as Int }.sorted()
    }

    /// The messages that the service has logged.
    var lines: [String] { pages.texts.filter { $0.contains("store=parts") } }
  }

  private static func insert(_ code: Int, _ store: PersistentStore) async throws {
    try await store.perform { try $0.insert("Part")["code"] = code }
  }

  @Test("The store is open before the service runs and closed afterward")
  func theStoreIsThereBeforeTheServiceRunsAndClosedBehind() async throws {
    let setting = try Setting()
    let service = try setting.service()
    try await Self.insert(1, service.store)
    try await setting.run([service]) { try await Self.insert(2, service.store) }
    #expect(service.store.isClosed)
    #expect(try setting.codes() == [1, 2])
    #expect(
      setting.lines == [
        "info The store is open. store=parts", "info The store is closed. store=parts",
      ])
    #expect(setting.metrics.counterTotal(label: "arbor_commits_total") == 2)
    let file = try setting.metrics.expectMeter("arbor_file_bytes", [("store", "parts")])
    #expect((file.lastValue ?? 0) > 0)
  }

  @Test("A service runs only once")
  func aServiceRunsOnce() async throws {
    let setting = try Setting()
    let service = try setting.service()
    try await setting.run([service]) {}
    let error = await #expect(throws: ArborError.self) { try await service.run() }
    #expect(
      error.map { "\($0.code): \($0)" }
        == "closed: The store of the service parts is closed. Create another service to continue.")
  }

  @Test("Creating a service throws the error of opening the store")
  func openingThatFailsThrowsWhatTheStoreDoes() async throws {
    let setting = try Setting()
    try Data("no store".utf8).write(to: URL(filePath: setting.folder.path("parts.arbor")))
    let error = #expect(throws: ArborError.self) { _ = try setting.service() }
    #expect(error?.code == .notAStore)
  }

  @Test("The store's own instruments are notified, too")
  func ownInstrumentsAreToldToo() async throws {
    let setting = try Setting()
    let commits = Lock(0)
    var options = StoreOptions()
    options.instrument = StoreInstrument(onCommit: { _ in { _ in commits.withLock { $0 += 1 } } })
    var configuration = ArborService.Configuration()
    configuration.metrics = setting.metrics
    let service = try ArborService(
      "parts", model: .parts, at: .inMemory, options: options,
      configuration: configuration)
    defer { service.store.close() }
    try await Self.insert(1, service.store)
    #expect(commits.withLock { $0 } == 1)
    #expect(setting.metrics.counterTotal(label: "arbor_commits_total") == 1)
  }

  /// A service that uses a store until it is shut down, like a request handler.
  private struct User: Service {
    let store: PersistentStore
    let state = State()

    final class State: Sendable {
      let entered = DispatchSemaphore(value: 0)
      let goes = DispatchSemaphore(value: 0)
      let outcome = Lock("")

      func waitUntilEntered() async {
        while entered.wait(timeout: .now()) == .timedOut { await Task.yield() }
      }
    }

    func run() async throws {
      do {
        try await store.perform { [state] context in
          state.entered.signal()
          state.goes.wait()
          try context.insert("Part")["code"] = 7
        }
        state.outcome.withLock { $0 = "committed" }
      } catch let error as ArborError {
        state.outcome.withLock { $0 = "\(error.code)" }
      }
      try await gracefulShutdown()
    }
  }

  @Test("Shutting down waits for running bodies")
  func bodiesThatRunAreWaitedFor() async throws {
    let setting = try Setting()
    // Longer than a task may have to wait on a busy machine.
    let service = try setting.service { $0.shutdownLimit = .seconds(3600) }
    let user = User(store: service.store)
    let unstructured = Task {
      // Not a child of the group, so that only the store waits for it.
      try? await user.run()
    }
    try await setting.run([service]) { [state = user.state] in
      await state.waitUntilEntered()
      Task {
        while (try? await service.store.perform { _ in }) != nil { await Task.yield() }
        // The store rejects new bodies, so it is being closed.
        state.goes.signal()
      }
    }
    unstructured.cancel()
    await unstructured.value
    #expect(user.state.outcome.withLock { $0 } == "committed")
    #expect(try setting.codes() == [7])
  }

  @Test("Bodies that run too long are cancelled")
  func bodiesThatRunForTooLongAreCutShort() async throws {
    let setting = try Setting()
    let service = try setting.service { $0.shutdownLimit = .milliseconds(5) }
    let user = User(store: service.store)
    let unstructured = Task { try? await user.run() }
    try await setting.run([service]) { [state = user.state] in await state.waitUntilEntered() }
    #expect(service.store.isClosed)
    user.state.goes.signal()
    unstructured.cancel()
    await unstructured.value
    #expect(user.state.outcome.withLock { $0 } == "closed")
    #expect(
      setting.lines.contains(
        "warning Work that is still running is cancelled, because the store is being closed. "
          + "bodies=1 store=parts"))
    #expect(try setting.codes() == [])
  }

  @Test("Services that use the store are shut down before it")
  func servicesBehindTheStoreAreShutDownBeforeIt() async throws {
    let setting = try Setting()
    let service = try setting.service()
    let user = User(store: service.store)
    user.state.goes.signal()
    try await setting.run([service, user]) { [state = user.state] in
      await state.waitUntilEntered()
      while state.outcome.withLock({ $0.isEmpty }) { await Task.yield() }
    }
    #expect(try setting.codes() == [7])
  }

  @Test("Cancellation closes the store immediately")
  func cancellationClosesAtOnce() async throws {
    let setting = try Setting()
    let service = try setting.service {
      $0.backUps = .init(to: setting.log, every: .seconds(3600))
      $0.shutdownLimit = .seconds(3600)
    }
    let user = User(store: service.store)
    let unstructured = Task { try? await user.run() }
    await user.state.waitUntilEntered()
    let running = Task { try await service.run() }
    running.cancel()
    try await running.value
    #expect(service.store.isClosed)
    user.state.goes.signal()
    unstructured.cancel()
    await unstructured.value
    #expect(user.state.outcome.withLock { $0 } == "closed")
  }

  @Test("Backups are made periodically and at the end")
  func backUpsAreMadeAgainAndAgainAndAtTheEnd() async throws {
    let setting = try Setting()
    let service = try setting.service {
      $0.backUps = .init(to: setting.log, every: .milliseconds(10))
    }
    let (store, metrics) = (service.store, setting.metrics)
    @Sendable func total(_ outcome: String) -> Int64 {
      metrics.counterTotal(
        label: "arbor_backups_total", dimensions: [("store", "parts"), ("outcome", outcome)])
    }
    try await setting.run([service]) {
      while total("snapshot") == 0 { await Task.yield() }
      let before = total("commits")
      while total("commits") < before + 2 { await Task.yield() }
      try await Self.insert(1, store)
    }
    #expect(total("snapshot") == 1)
    #expect(
      try setting.metrics.expectTimer("arbor_backup_duration", [("store", "parts")]).values.count
        > 2)
    // The last backup contains what was committed before the shutdown.
    let copy = URL(filePath: setting.folder.path("copy.arbor"))
    try PersistentStore.restore(from: setting.log, to: copy)
    let restored = try PersistentStore(at: .file(copy))
    defer { restored.close() }
    #expect(try restored.makeContext().fetch("Part").count == 1)
  }

  @Test("A failed backup is reported, and the service continues")
  func aBackUpThatFailsIsToldAndTheServiceGoesOn() async throws {
    let setting = try Setting()
    let folder = setting.folder.url.appending(path: "log")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("a letter".utf8).write(to: folder.appending(path: "letter.txt"))
    let service = try setting.service {
      $0.backUps = .init(to: setting.log, every: .milliseconds(10))
    }
    let (store, metrics) = (service.store, setting.metrics)
    try await setting.run([service]) {
      while metrics.counterTotal(label: "arbor_backups_total") < 2 { await Task.yield() }
      try await Self.insert(1, store)
    }
    #expect(
      metrics.counterTotal(
        label: "arbor_backups_total",
        dimensions: [("store", "parts"), ("outcome", "fileUnreadable")])
        >= 2)
    let line = try #require(setting.lines.first { $0.hasPrefix("error") })
    #expect(
      line.hasPrefix(
        "error The store could not be backed up. The next backup adds what is missing. error="))
    #expect(try setting.codes() == [1])
  }

  @Test("A follower reports its lag")
  func aFollowerTellsHowFarItIs() async throws {
    let setting = try Setting()
    let original = try PersistentStore(
      model: .parts, at: .path(setting.folder.path("original.arbor")))
    defer { original.close() }
    try await Self.insert(1, original)
    try original.backUp(to: setting.log)
    var configuration = ArborService.Configuration()
    configuration.metrics = setting.metrics
    configuration.logger = setting.pages.logger
    let service = try ArborService("parts", configuration: configuration) {
      instrument throws(ArborError) in
      var options = StoreOptions()
      options.instrument = instrument
      return try PersistentStore(following: setting.log, at: setting.location, options: options)
    }
    try service.store.catchUp()
    #expect(try service.store.makeContext().fetch("Part").count == 1)
    try await setting.run([service]) {}
    #expect(try setting.metrics.expectMeter("arbor_log_lag", [("store", "parts")]).lastValue == 0)
    #expect(setting.metrics.counterTotal(label: "arbor_fetches_total") == 1)
  }

  @Test("Stores that share a log report its metrics")
  func storesThatShareALogTellWhatItCosts() async throws {
    let setting = try Setting()
    let log = SimulatedLog()
    func service(_ name: String) throws -> ArborService {
      var configuration = ArborService.Configuration()
      configuration.metrics = setting.metrics
      configuration.logger = setting.pages.logger
      configuration.sampling = .milliseconds(10)
      return try ArborService(
        name, model: .parts, at: .path(setting.folder.path("\(name).arbor")), following: log,
        configuration: configuration)
    }
    let (one, two) = (try service("one"), try service("two"))
    @Sendable func total(_ label: String, _ name: String) -> Int64 {
      setting.metrics.counterTotal(label: label, dimensions: [("store", name)])
    }
    try await setting.run([one, two]) {
      for code in 1...3 { try await Self.insert(code, one.store) }
      try two.store.catchUp()
      try await Self.insert(4, two.store)
      // Each sample adds the increase since the previous one.
      while total("arbor_log_appends_total", "two") == 0 { await Task.yield() }
    }
    #expect(total("arbor_log_appends_total", "one") == 3)
    #expect(total("arbor_log_appends_total", "two") == 1)
    #expect(total("arbor_log_catch_ups_total", "two") == 3)
    #expect(total("arbor_log_lost_races_total", "one") == 0)
    #expect(total("arbor_log_unknown_outcomes_total", "one") == 0)
    for name in ["one", "two"] {
      let labels = [("store", name)]
      #expect(try setting.metrics.expectMeter("arbor_log_lag", labels).lastValue != nil)
      #expect(try setting.metrics.expectMeter("arbor_log_problem", labels).lastValue == 0)
      #expect(
        setting.metrics.counterTotal(
          label: "arbor_commits_total", dimensions: labels + [("outcome", "ok")])
          == (name == "one" ? 3 : 1))
    }
  }
}
