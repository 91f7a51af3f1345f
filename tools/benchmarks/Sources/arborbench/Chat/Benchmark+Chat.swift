import Foundation

/// A chat compared with SQLite: questions about rooms, authors and unread messages, and posting.
extension Benchmark {
  /// Compares N messages in FILE.arbor and FILE.sqlite, which are generated if they don't exist. In
  /// memory, messages are posted to a tenth of them, and in SQLite without waiting for the disk.
  func compareChats(rounds: Int) throws {
    let data = ChatData(count: count)
    let (own, other) = (path + ".arbor", path + ".sqlite")
    let isNew = [own, other].map { !FileManager.default.fileExists(atPath: $0) }
    let arbor = try ArborChat(at: .path(own))
    let sqlite = try SQLiteChat(path: other)
    if isNew[0] { try Self.fill("chat_load_arbor", data, arbor.load) }
    if isNew[1] { try Self.fill("chat_load_sqlite", data, sqlite.load) }
    // Each run posts further messages.
    let present = try arbor.count()
    guard present >= count, try sqlite.count() == present else {
      throw BenchmarkError("\(own) or \(other) is incomplete; delete both")
    }

    let comparison = Comparison(rounds: rounds)
    comparison.printHead()
    try comparison.inTurn("newest message of each room", arbor.newest, sqlite.newest)
    try comparison.inTurn("max(sent) by room", arbor.newestDates, sqlite.newestDates)
    try comparison.inTurn(
      "searches for max(sent) by room", arbor.newestDates, sqlite.newestDatesOfRooms)
    try comparison.inTurn("count by room", arbor.counts, sqlite.counts)
    try comparison.inTurn("unread counts", arbor.unreadCounts, sqlite.unreadCounts)
    try comparison.inTurn("top ten authors", arbor.busiestAuthors, sqlite.busiestAuthors)
    try comparison.inTurn("top ten names", arbor.busiestNames, sqlite.busiestNames)
    try comparison.inTurn(
      "room list", repetitions: 20, { try arbor.roomLists(of: 1...20) },
      { try sqlite.roomLists(of: 1...20) })
    try comparePosts("post durably", to: (arbor, sqlite), data, from: present, comparison)
    try compareInMemory(comparison)
  }

  private static func fill(
    _ name: String, _ data: ChatData, _ load: (ChatData, Int) throws -> Void
  ) throws {
    let meter = Meter()
    try load(data, 20_000)
    meter.report(name, count: data.count, checksum: 0)
  }

  private func compareInMemory(_ comparison: Comparison) throws {
    let name = "post in memory"
    guard Meter.isSelected(name) else { return }
    let other = path + "-memory.sqlite"
    let remove = {
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: other + suffix)
      }
    }
    remove()
    defer { remove() }
    let data = ChatData(count: max(100, count / 10))
    let chats = (try ArborChat(at: .inMemory), try SQLiteChat(path: other, isDurable: false))
    try chats.0.load(data, batch: 20_000)
    try chats.1.load(data, batch: 20_000)
    try comparePosts(name, to: chats, data, from: data.count, comparison)
  }

  /// Posts a hundred messages to each chat in every round, from a number on.
  private func comparePosts(
    _ name: String, to chats: (arbor: ArborChat, sqlite: SQLiteChat), _ data: ChatData,
    from start: Int, _ comparison: Comparison
  ) throws {
    let block = 100
    let rows = Array(data.messages(from: start, count: block * (max(1, comparison.rounds) + 1)))
    var (own, other) = (rows[...], rows[...])
    try comparison.inTurn(
      name, repetitions: block,
      {
        defer { own = own.dropFirst(block) }
        return try chats.arbor.post(own.prefix(block))
      },
      {
        defer { other = other.dropFirst(block) }
        return try chats.sqlite.post(other.prefix(block))
      })
    guard try chats.arbor.storedAggregates() == chats.sqlite.storedAggregates() else {
      throw BenchmarkError("\(name): the aggregates of a room differ")
    }
  }
}
