import ArborLog
import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborObjects

/// Reading the changes of a store from a saved position on.
@Suite struct HistoryTokenTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ name: String = "a") throws -> PersistentStore {
    try PersistentStore(
      for: Office.classes, at: .path(folder.path("\(name).arbor")),
      options: StoreOptions(durability: .relaxed))
  }

  private func insert(
    _ name: String, _ store: PersistentStore, author: String? = nil
  ) throws {
    let context = store.makeContext()
    context.author = author
    context.insert(Company.self).name = name
    try context.commit()
  }

  private func close(_ store: PersistentStore) throws {
    try store.check()
    store.close()
  }

  @Test("The commits after a token are returned after the store was closed and reopened")
  func restart() async throws {
    var store = try open()
    let start = try store.currentHistoryToken()
    try insert("Ada", store, author: "one")
    let saved = try JSONEncoder().encode(try store.currentHistoryToken())
    try insert("Grace", store, author: "two")
    try close(store)
    store = try open()
    try insert("Barbara", store, author: "three")
    let token = try JSONDecoder().decode(HistoryToken.self, from: saved)
    #expect(try store.commits(after: token).map(\.author) == ["two", "three"])
    #expect(try store.commits(after: token, limit: 1).map(\.author) == ["two"])
    #expect(try store.commits(after: token, limit: 0).isEmpty)
    #expect(try store.commits(after: start) == store.commits(after: nil))
    #expect(try store.commits(after: nil).map(\.commitSequence) == [1, 2, 3])
    #expect(try store.commits(after: store.currentHistoryToken()).isEmpty)
    var iterator = try store.changes(since: token).makeAsyncIterator()
    let second = try await iterator.next()
    #expect(second?.author == "two")
    let third = try #require(await iterator.next())
    #expect(third.author == "three")
    try insert("Hedy", store, author: "four")
    let fourth = try await iterator.next()
    #expect(fourth?.author == "four")
    #expect(try store.commits(after: third.token).map(\.author) == ["four"])
    let error = #expect(throws: ArborError.self) { try store.commits(after: nil, limit: -1) }
    #expect(error?.message == "The limit of -1 commits is negative. Use at least 0.")
    try close(store)
  }

  @Test("A token whose next commit has been trimmed is refused with the oldest commit kept")
  func trimmed() throws {
    let store = try open()
    let start = try store.currentHistoryToken()
    for number in 0..<1200 { try insert("\(number)", store) }
    let kept = try store.commits(after: nil)
    let oldest = try #require(kept.first?.commitSequence)
    #expect(kept.map(\.commitSequence) == Array(oldest...1200) && kept.count >= 1000)
    #expect(oldest > 1)
    let message =
      "The history no longer contains commit 1, which follows the token. The oldest commit in it is "
      + "\(oldest). Read all data again, and continue with a new token."
    for reads in [false, true] {
      let error = #expect(throws: ArborError.self) {
        if reads {
          _ = try store.commits(after: start)
        } else {
          _ = try store.changes(since: start)
        }
      }
      #expect(error?.code == .historyTrimmed && error?.message == message)
      #expect(error?.oldestSequence == oldest)
    }
    // The last token that still works is that of the commit before the oldest one.
    let last = HistoryToken(storeID: store.id, sequence: oldest - 1, checksum: 1)
    #expect(try store.commits(after: last) == kept)
    try close(store)
  }

  @Test("A token of another store, or of commits that a restored store doesn't have, is refused")
  func otherHistories() throws {
    let log = FolderLog(folder.url.appending(path: "log"))
    let store = try open()
    try insert("Ada", store)
    try store.backUp(to: log)
    let common = try store.currentHistoryToken()
    try insert("Grace", store)
    let token = try store.currentHistoryToken()
    let url = folder.url.appending(path: "restored.arbor")
    try PersistentStore.restore(from: log, to: url)
    let restored = try open("restored")
    let message =
      "The store doesn't have commit 2 of the history token, or has a different commit with that "
      + "number, because it was restored or replaced. Read all data again, and continue with a new "
      + "token."
    let ahead = #expect(throws: ArborError.self) { try restored.commits(after: token) }
    #expect(ahead?.code == .forked && ahead?.message == message)
    try insert("Barbara", restored)
    let differs = #expect(throws: ArborError.self) { try restored.changes(since: token) }
    #expect(differs?.code == .forked && differs?.message == message)
    #expect(try restored.commits(after: common).count == 1)
    let other = try open("other")
    let foreign = #expect(throws: ArborError.self) { try other.commits(after: token) }
    #expect(foreign?.code == .invalidArgument)
    #expect(
      foreign?.message == "The history token is from the store \(store.id.uuidString), but this is "
        + "the store \(other.id.uuidString). Use a token of this store.")
    for store in [store, restored, other] { try close(store) }
    let closed = #expect(throws: ArborError.self) { try store.commits(after: token) }
    #expect(closed?.code == .closed)
  }

  @Test("The text of a token is read back, and other text is refused")
  func text() throws {
    let store = try open()
    try insert("Ada", store)
    let token = try store.currentHistoryToken()
    #expect(HistoryToken(token.description) == token)
    for text in [
      "", "1", "\(store.id)/1", "\(store.id)/-1/0", "\(store.id)/1/0/0", "\(store.id)/01/0",
      "\(token.description) ", token.description.lowercased() + "G",
    ] { #expect(HistoryToken(text) == nil, "\(text)") }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([HistoryToken].self, from: Data(#"["x"]"#.utf8))
    }
    try close(store)
  }

  /// Reads the changes of a store in sessions of random length, each of which continues with the
  /// token that the previous one has saved.
  private struct Feed {
    enum Defect: CaseIterable {
      case none, skipsWhatWasMissed, repeatsTheLast
    }

    let defect: Defect
    private var saved: Data?
    private(set) var commits: [CommittedChanges] = []

    init(_ store: PersistentStore, _ defect: Defect = .none) throws {
      self.defect = defect
      saved = try JSONEncoder().encode(try store.currentHistoryToken())
    }

    mutating func read(_ store: PersistentStore, _ count: Int) async throws {
      let decoded = try saved.map { try JSONDecoder().decode(HistoryToken.self, from: $0) }
      let token = defect == .skipsWhatWasMissed ? try store.currentHistoryToken() : decoded
      guard let token else { return }
      let available = try store.commits(after: token)
      var iterator = try store.changes(since: token).makeAsyncIterator()
      for expected in available.prefix(count) {
        let changes = try await iterator.next()
        #expect(changes == expected)
        guard let changes else { return }
        commits.append(changes)
        if defect == .repeatsTheLast, changes == available.last { return }
        saved = try JSONEncoder().encode(changes.token)
      }
    }
  }

  /// Commits at random, and closes, compacts and reopens the store; the readers are restarted at
  /// random. Returns the commits as read by each, and all commits.
  private func run(
    _ random: inout SeededRandom, _ defects: [Feed.Defect], file: String
  ) async throws -> (read: [[String]], all: [String]) {
    var store = try open(file)
    var feeds = try defects.map { try Feed(store, $0) }
    var all: [String] = []
    for step in 0..<60 {
      switch Int.random(in: 0..<10, using: &random) {
      case ..<6:
        let context = store.makeContext()
        context.author = "step \(step)"
        let companies = try context.fetch(FetchRequest<Company>())
        if let company = companies.randomElement(using: &random), Bool.random(using: &random) {
          if Bool.random(using: &random) {
            context.delete(company)
          } else {
            company.name = "\(step)"
          }
        }
        context.insert(Company.self).name = "new \(step)"
        try context.commit()
        all.append("\(store.sequence) step \(step)")
      case 6:
        store.close()
        store = try open(file)
      case 7: try store.compact()
      default:
        for index in feeds.indices {
          try await feeds[index].read(store, .random(in: 0...5, using: &random))
        }
      }
    }
    for index in feeds.indices { try await feeds[index].read(store, .max) }
    try close(store)
    let read = feeds.map { $0.commits.map { "\($0.commitSequence) \($0.author ?? "")" } }
    return (read, all)
  }

  @Test("A reader that is restarted at random receives every commit once, in order")
  func restartsAtRandom() async throws {
    var random = SeededRandom()
    let seed = random.seed
    for round in 0..<TestLength.of(25, long: 2500) {
      let (read, all) = try await run(&random, [.none, .none], file: "round-\(round)")
      for commits in read { #expect(commits == all, "round \(round), seed \(seed)") }
      for suffix in ["", "-lock"] {
        try? FileManager.default.removeItem(atPath: folder.path("round-\(round).arbor\(suffix)"))
      }
    }
  }

  @Test("The comparison detects a reader that skips or repeats commits")
  func defects() async throws {
    var random = SeededRandom(seed: 4)
    let (read, all) = try await run(&random, Feed.Defect.allCases, file: "defects")
    #expect(read[0] == all)
    #expect(read[1] != all)
    #expect(read[2] != all)
  }
}
