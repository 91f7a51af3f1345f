import ArborData
import Foundation

/// The chat in a store.
final class ArborChat {
  private let store: PersistentStore
  /// The context of the application, in which messages are posted.
  private let context: ManagedObjectContext

  init(at location: StoreLocation) throws {
    // Without a scrub in the background, which would be measured, too.
    store = try PersistentStore(
      for: [Author.self, Room.self, Membership.self, Message.self], at: location,
      options: StoreOptions(verification: .quick))
    context = store.makeContext()
  }

  private func id(_ entity: String, _ number: Int) -> ObjectID {
    ObjectID(storeID: store.id, entityName: entity, number: UInt64(number))
  }

  private func room(_ number: Int, _ context: ManagedObjectContext) throws -> Room? {
    try context.object(with: id("Room", number)) as? Room
  }

  private func author(_ number: Int, _ context: ManagedObjectContext) throws -> Author? {
    try context.object(with: id("Author", number)) as? Author
  }

  func load(_ data: ChatData, batch: Int) throws {
    let context = store.makeContext()
    for name in data.roomNames { context.insert(Room.self).fill(name: name) }
    for name in data.authorNames { context.insert(Author.self).fill(name: name) }
    try context.commit()
    for row in data.memberships {
      context.insert(Membership.self).fill(
        lastRead: Date(timeIntervalSinceReferenceDate: Double(row.lastRead)),
        room: try room(row.room, context), author: try author(row.author, context))
    }
    try context.commit()
    for start in stride(from: 0, to: data.count, by: batch) {
      for row in data.messages(from: start, count: min(batch, data.count - start)) {
        try insert(row, context)
      }
      try context.commit()
      context.reset()
    }
  }

  private func insert(_ row: ChatData.MessageRow, _ context: ManagedObjectContext) throws {
    context.insert(Message.self).fill(
      from: row, room: try room(row.room, context), author: try author(row.author, context))
  }

  func count() throws -> Int { try context.objects(Message.self).count() }

  func newest() throws -> Answer {
    let query = store.makeContext().objects(Message.self).top(1, per: "room", by: "-sent")
    var answer = Answer()
    for message in try query.fetch() {
      answer.add(
        Int64(message.roomID?.number ?? 0), message.sent.wholeSeconds, text: message.text)
    }
    return answer
  }

  func newestDates() throws -> Answer {
    let rows = try store.makeContext().objects(Message.self)
      .rows("room", "max(sent) AS last", groupedBy: ["room"])
    var answer = Answer()
    for row in rows { answer.add(row.number("room"), row["last"]?.date?.wholeSeconds ?? 0) }
    return answer
  }

  func counts() throws -> Answer {
    let rows = try store.makeContext().objects(Message.self)
      .rows("room", "@count AS messages", groupedBy: ["room"])
    var answer = Answer()
    for row in rows { answer.add(row.number("room"), row["messages"]?.int64 ?? 0) }
    return answer
  }

  func unreadCounts() throws -> Answer {
    let rows = try store.makeContext().objects(Membership.self).order(by: [])
      .rows("SUBQUERY(room.messages, $m, $m.sent > SELF.lastRead).@count AS unread")
    var answer = Answer()
    for (index, row) in rows.enumerated() { answer.add(Int64(index), row["unread"]?.int64 ?? -1) }
    return answer
  }

  func busiestAuthors() throws -> Answer {
    let rows = try store.makeContext().objects(Message.self)
      .order(by: "-messages", "author").limit(10)
      .rows("author", "@count AS messages", groupedBy: ["author"])
    var answer = Answer()
    for (index, row) in rows.enumerated() {
      answer.add(Int64(index), row.number("author"), row["messages"]?.int64 ?? 0)
    }
    return answer
  }

  func busiestNames() throws -> Answer {
    let rows = try store.makeContext().objects(Message.self)
      .order(by: "-messages", "name").limit(10)
      .rows("author.name AS name", "@count AS messages", groupedBy: ["author.name"])
    var answer = Answer()
    for (index, row) in rows.enumerated() {
      answer.add(Int64(index), row["messages"]?.int64 ?? 0, text: row["name"]?.string ?? "")
    }
    return answer
  }

  /// The rooms of each member, the one with the newest message first.
  func roomLists(of members: ClosedRange<Int>) throws -> Answer {
    var answer = Answer()
    for member in members {
      let context = store.makeContext()
      let memberships = context.objects(Membership.self)
        .filter("author == \(id("Author", member))").order(by: "room")
      let rooms = try memberships.prefetching("room").fetch().compactMap(\.room)
      let messages = try context.objects(Message.self).filter("room IN \(rooms)")
        .top(1, per: "room", by: "-sent").fetch()
      let newest = Dictionary(uniqueKeysWithValues: messages.map { ($0.roomID, $0) })
      let unread = try memberships.rows(
        "SUBQUERY(room.messages, $m, $m.sent > SELF.lastRead).@count AS unread")
      let rows = zip(rooms, unread).map { room, counts in
        (
          room: room.name, newest: newest[room.objectID],
          unread: counts["unread"]?.int64 ?? 0
        )
      }
      let sorted = rows.sorted {
        ($1.newest?.sent ?? .distantPast, $0.room) < ($0.newest?.sent ?? .distantPast, $1.room)
      }
      for (index, row) in sorted.enumerated() {
        answer.add(
          Int64(index), row.newest?.sent.wholeSeconds ?? 0, row.unread,
          text: row.room + (row.newest?.text ?? ""))
      }
    }
    return answer
  }

  /// Posts each message in a commit of its own.
  func post(_ rows: some Sequence<ChatData.MessageRow>) throws -> Answer {
    var answer = Answer()
    for row in rows {
      try insert(row, context)
      try context.commit()
      answer.count += 1
    }
    return answer
  }

  /// The aggregates that rooms store.
  func storedAggregates() throws -> Answer {
    var answer = Answer()
    for room in try store.makeContext().objects(Room.self).fetch() {
      answer.add(
        Int64(room.objectID.number), room.messageCount, room.lastSent?.wholeSeconds ?? 0)
    }
    return answer
  }
}

extension Date {
  fileprivate var wholeSeconds: Int64 { Int64(timeIntervalSinceReferenceDate) }
}

extension [String: PropertyValue] {
  /// Returns the number of the object in a column, or 0 for none.
  fileprivate func number(_ column: String) -> Int64 { Int64(self[column]?.objectID?.number ?? 0) }
}
